"""Recognising work that came to a branch in other commits."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitticks.git.merges.patches import find_same_patch
from gitticks.git.repository import discover
from tests.support.repositories import commit_file, git, make_repository

LINES = [f"line {number}" for number in range(40)]


def text(**changed: str) -> str:
    return "".join(f"{changed.get(f'line{number}', line)}\n" for number, line in enumerate(LINES))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Returns a repository whose branch `work` changes a line near to one that `main` has changed since."""
    root = make_repository(tmp_path / "project")
    commit_file(root, "file", text())
    git("checkout", "-qb", "work", at=root)
    commit_file(root, "file", text(line20="work"))
    git("checkout", "-q", "main", at=root)
    commit_file(root, "file", text(line26="main"))
    return root


def same(root: Path) -> str | None:
    main, work = (git("rev-parse", name, at=root) for name in ("main", "work"))
    return find_same_patch(discover(root), main, work)


def test_a_change_that_was_picked_is_found(root: Path) -> None:
    assert same(root) is None
    git("cherry-pick", "work", at=root)
    picked = git("rev-parse", "main", at=root)
    commit_file(root, "other", "more\n")
    assert same(root) == picked


def test_changes_that_were_picked_one_by_one_are_found_at_the_last(root: Path) -> None:
    git("checkout", "-q", "work", at=root)
    commit_file(root, "more", "more\n")
    git("checkout", "-q", "main", at=root)
    git("cherry-pick", "work~1", at=root)
    assert same(root) is None
    commit_file(root, "between", "between\n")
    git("cherry-pick", "work", at=root)
    assert same(root) == git("rev-parse", "main", at=root)


@pytest.mark.parametrize("setting", ["diff.context=9", "diff.noprefix=true", "format.pretty=%s"])
def test_how_a_person_likes_to_see_changes_is_no_matter(root: Path, setting: str) -> None:
    git("cherry-pick", "work", at=root)
    git("config", *setting.split("="), at=root)
    assert same(root) == git("rev-parse", "main", at=root)


def test_changes_of_binary_files_are_told_apart(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "project")
    commit_file(root, "image", "\0one")
    git("checkout", "-qb", "work", at=root)
    commit_file(root, "image", "\0two")
    git("checkout", "-q", "main", at=root)
    commit_file(root, "image", "\0three")
    assert same(root) is None
    commit_file(root, "image", "\0one")
    git("cherry-pick", "work", at=root)
    assert same(root) == git("rev-parse", "main", at=root)
