"""The commits of a branch as they were made."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitticks.git.process import GitError
from gitticks.git.repository import discover
from gitticks.git.trail import TrailCommit, read_trail
from tests.support.repositories import commit_file, git, make_repository


def test_parents_come_before_children(tmp_path: Path) -> None:
    top = make_repository(tmp_path)
    first = git("rev-parse", "HEAD", at=top)
    git("switch", "--quiet", "--create", "side", at=top)
    side = commit_file(
        top, "side.txt", "s\n", "k7f2: x\n\nTask: k7f2\nActor: human Ada\nActor: engine gitticks"
    )
    git("switch", "--quiet", "main", at=top)
    main = commit_file(top, "main.txt", "m\n", "no trailer")
    git("merge", "--quiet", "--no-edit", "side", at=top)
    merge = git("rev-parse", "HEAD", at=top)
    found = list(read_trail(discover(top), merge))
    assert found[0] == TrailCommit(first, (), "ada@example.org", ())
    assert {one.commit for one in found[1:3]} == {main, side}
    assert next(one for one in found if one.commit == side).actors == ("human Ada", "engine gitticks")
    assert found[3] == TrailCommit(merge, (main, side), "ada@example.org", ())


def test_what_git_made_of_another_commit_is_known_by_its_times(tmp_path: Path) -> None:
    top = make_repository(tmp_path)
    later = {"GIT_COMMITTER_DATE": "2026-02-03T04:05:06+00:00"}
    git("commit", "--quiet", "--allow-empty", "-m", "picked", at=top, environment=later)
    found = read_trail(discover(top), git("rev-parse", "HEAD", at=top))
    assert [one.is_replayed for one in found] == [False, True]


def test_a_part_of_them(tmp_path: Path) -> None:
    top = make_repository(tmp_path, commits=5)
    newest, middle = git("rev-parse", "HEAD", "HEAD~2", at=top).split()
    assert len(list(read_trail(discover(top), newest, middle))) == 2
    assert [one.commit for one in read_trail(discover(top), newest, count=1)] == [newest]
    assert list(read_trail(discover(top), middle, newest)) == []


def test_a_commit_that_is_not_there(tmp_path: Path) -> None:
    top = make_repository(tmp_path)
    with pytest.raises(GitError):
        list(read_trail(discover(top), "1" * 40))
