"""Builders of real git repositories, and git itself for tests to arrange and to look."""

from __future__ import annotations

import hashlib
import os
import subprocess
from collections.abc import Mapping
from pathlib import Path

from tests.support import prepared
from tests.support.waiting import LONGEST_SECONDS

FIXED_DATE = "2026-01-02T03:04:05+00:00"


def git(
    *arguments: str,
    at: Path,
    input: str | None = None,  # noqa: A002
    environment: Mapping[str, str] | None = None,
) -> str:
    """Runs git in `at` and returns its stdout without the last newline; a failure fails the test."""
    done = run_git_command(*arguments, at=at, input=input, environment=environment)
    assert done.returncode == 0, f"git {' '.join(arguments)}: {done.stderr}"
    return done.stdout.removesuffix("\n")


def run_git_command(
    *arguments: str,
    at: Path,
    input: str | None = None,  # noqa: A002
    environment: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Runs git in `at` with fixed dates and returns whatever came of it."""
    dates = {"GIT_AUTHOR_DATE": FIXED_DATE, "GIT_COMMITTER_DATE": FIXED_DATE}
    return subprocess.run(
        ["git", *arguments],
        cwd=at,
        input=input,
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="surrogateescape",
        env={**os.environ, **dates, **(environment or {})},
        check=False,
        timeout=LONGEST_SECONDS,
    )


def make_repository(path: Path, *, commits: int = 1, bare: bool = False, branch: str = "main") -> Path:
    """Makes a repository at `path`, with `commits` commits on `branch`, and returns `path`."""
    is_usual = (commits, bare, branch) == (1, False, "main")
    if is_usual and prepared.copied(prepared.REPOSITORY, path):
        return path
    path.mkdir(parents=True, exist_ok=True)
    git("init", "--quiet", f"--initial-branch={branch}", *(["--bare"] if bare else []), at=path)
    if bare:
        add_plumbing_commits(path, branch, commits)
    else:
        for number in range(1, commits + 1):
            commit_file(path, "README.md", f"version {number}\n", f"commit {number}")
    return path


def add_plumbing_commits(path: Path, branch: str, count: int) -> None:
    """Adds `count` empty commits to `branch` without a checkout."""
    tree = git("mktree", at=path, input="")
    parent: list[str] = []
    for number in range(1, count + 1):
        parent = ["-p", git("commit-tree", tree, *parent, "-m", f"commit {number}", at=path)]
    if parent:
        git("update-ref", f"refs/heads/{branch}", parent[1], at=path)


def commit_file(path: Path, name: str, text: str, message: str = "change") -> str:
    """Writes `name`, commits it in the checkout at `path` and returns the commit's id."""
    file = path / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8", newline="")
    git("add", "--", name, at=path)
    git("commit", "--quiet", "-m", message, at=path)
    return git("rev-parse", "HEAD", at=path)


def add_linked_worktree(repository: Path, path: Path, branch: str) -> Path:
    """Adds a linked worktree on the new branch `branch` and returns its path."""
    git("worktree", "add", "--quiet", "-b", branch, str(path), at=repository)
    return path


def clone(source: Path, path: Path, *options: str) -> Path:
    """Clones `source` to `path` over the file protocol and returns `path`."""
    git("clone", "--quiet", *options, f"file://{source}", str(path), at=source)
    return path


def blob_id(content: bytes) -> str:
    """Returns the id of a blob in a SHA-1 repository."""
    return hashlib.sha1(b"blob %d\0%s" % (len(content), content), usedforsecurity=False).hexdigest()


def loose_file(git_dir: Path, object_id: str) -> Path:
    """Returns where a loose object lies."""
    return git_dir / "objects" / object_id[:2] / object_id[2:]


def fsck_problems(repository: Path) -> str:
    """Returns what `git fsck --strict` complains about: empty for a sound repository."""
    done = run_git_command("fsck", "--strict", "--no-dangling", "--no-progress", at=repository)
    return "" if done.returncode == 0 else done.stdout + done.stderr
