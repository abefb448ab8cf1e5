"""Ancestors near and far, found although something below them is damaged."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gitticks.git.objects import Objects
from gitticks.git.repository import discover
from tests.support.repositories import commit_file, git, loose_file, make_repository


@pytest.fixture
def top(tmp_path: Path) -> Path:
    top = make_repository(tmp_path / "r")
    commit_file(top, "a.txt", "a\n")
    return top


def test_ancestors_are_found_above_damage(top: Path) -> None:
    root, old = git("rev-parse", "HEAD~1", at=top), git("rev-parse", "HEAD", at=top)
    above = commit_file(top, "a.txt", "above\n")
    aside = git("commit-tree", "HEAD^{tree}", "-p", old, "-m", "aside", at=top)
    new = git("commit-tree", "HEAD^{tree}", "-p", above, "-p", aside, "-m", "both", at=top)
    damaged = loose_file(top / ".git", root)
    damaged.chmod(0o644)
    os.truncate(damaged, damaged.stat().st_size // 2)
    objects = Objects.open(discover(top))
    assert objects.is_ancestor(above, new)
    assert objects.is_ancestor(aside, new)
    assert objects.is_ancestor(old, new)
    assert not objects.is_ancestor(above, aside)
    assert not objects.is_ancestor(new, above)
    assert not objects.is_ancestor("f" * 40, new)


def test_far_ancestors_are_git_s_to_find(top: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = git("rev-parse", "HEAD", at=top)
    for number in range(4):
        commit_file(top, "a.txt", f"{number}\n")
    monkeypatch.setattr("gitticks.git.ancestry._MOST_WALKED", 2)
    objects = Objects.open(discover(top))
    assert objects.is_ancestor(old, git("rev-parse", "HEAD", at=top))
    assert not objects.is_ancestor(git("rev-parse", "HEAD", at=top), git("rev-parse", "HEAD~1", at=top))
