"""A repository whose base is about to move to a commit that changes, adds and removes files."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from gitticks.git.repository import Repository, discover
from tests.support.repositories import add_linked_worktree, commit_file, git, make_repository

LINES = "".join(f"line {number}\n" for number in range(1, 21))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = make_repository(tmp_path / "project")
    commit_file(root, "code.txt", LINES)
    commit_file(root, "other.txt", LINES)
    commit_file(root, "old.txt", "old\n")
    commit_file(root, ".gitignore", "*.log\n")
    return root


@pytest.fixture
def repository(root: Path) -> Repository:
    return discover(root)


@pytest.fixture
def old(root: Path) -> str:
    return git("rev-parse", "main", at=root)


@pytest.fixture
def new(root: Path, tmp_path: Path, old: str) -> str:
    """Returns a commit on `old` that changes a file, adds two and removes one."""
    work = add_linked_worktree(root, tmp_path / "work", "topic")
    (work / "code.txt").write_text(LINES.replace("line 2\n", "line two\n"))
    (work / "folder").mkdir()
    (work / "folder" / "new.txt").write_text("new\n")
    (work / "noise.log").write_text("noise\n")
    git("rm", "-q", "old.txt", at=work)
    git("add", "-A", "-f", ".", at=work)
    git("commit", "-qm", "work", at=work)
    return git("rev-parse", "HEAD", at=work)


@pytest.fixture
def filtered(root: Path, tmp_path: Path) -> str:
    """Returns a commit that adds files, one of them for a filter of the person's that fails until `stored` is there."""
    stored = tmp_path / "stored"
    for key, value in (("smudge", f"cat {shlex.quote(str(stored))}"), ("clean", "echo pointer")):
        git("config", "--global", f"filter.large.{key}", value, at=root)
    git("config", "--global", "filter.large.required", "true", at=root)
    work = add_linked_worktree(root, tmp_path / "work", "topic")
    (work / ".gitattributes").write_text("*.bin filter=large\n")
    (work / "data.bin").write_text("large\n")
    (work / "code.txt").write_text("code\n")
    git("add", "-A", at=work)
    git("commit", "-qm", "work", at=work)
    return git("rev-parse", "HEAD", at=work)


def status(root: Path) -> str:
    return git("status", "--porcelain", at=root)
