"""The branches of a clone."""

from __future__ import annotations

from pathlib import Path

from gitticks.git.branches import Fetched, fetch_branch, list_branches, list_local_branches, look_for_branch
from gitticks.git.repository import discover
from tests.support.repositories import clone, git, make_repository


def test_local_branches_and_those_of_origin(tmp_path: Path) -> None:
    source = make_repository(tmp_path / "source")
    git("branch", "topic/one", at=source)
    here = clone(source, tmp_path / "here")
    git("branch", "gitticks/work/k7f2", at=here)
    git("pack-refs", "--all", at=here)
    repository = discover(here)
    assert list_branches(repository) == ("gitticks/work/k7f2", "main", "topic/one")
    assert list_local_branches(repository) == ("gitticks/work/k7f2", "main")
    assert list_local_branches(repository, "gitticks/work/") == ("gitticks/work/k7f2",)
    assert list_branches(discover(make_repository(tmp_path / "empty", commits=0))) == ()


def test_what_comes_of_fetching(tmp_path: Path) -> None:
    origin = make_repository(tmp_path / "origin")
    repository = discover(clone(origin, tmp_path / "here", "--single-branch"))
    assert fetch_branch(repository, "origin", "other") is Fetched.MISSING
    git("branch", "other", at=origin)
    assert fetch_branch(repository, "origin", "other") is Fetched.HERE
    assert git("rev-parse", "origin/other", at=tmp_path / "here") == git("rev-parse", "main", at=origin)
    assert fetch_branch(repository, "elsewhere", "other") is Fetched.NO_REMOTE
    git("remote", "set-url", "origin", str(tmp_path / "gone"), at=tmp_path / "here")
    assert fetch_branch(repository, "origin", "other") is Fetched.UNREACHABLE


def test_the_others_are_asked_where_the_usual_remote_has_no_such_branch(tmp_path: Path) -> None:
    origin, other = (make_repository(tmp_path / name) for name in ("origin", "other"))
    repository = discover(clone(origin, tmp_path / "here"))
    git("remote", "add", "other", str(other), at=tmp_path / "here")
    git("remote", "add", "gone", str(tmp_path / "gone"), at=tmp_path / "here")
    git("branch", "tasks", at=other)
    asked = look_for_branch(repository, "tasks")
    assert [(one.name, one.outcome) for one in asked] == [
        ("origin", Fetched.MISSING),
        ("other", Fetched.HERE),
        ("gone", Fetched.UNREACHABLE),
    ]
    assert [one.commit for one in asked] == [None, git("rev-parse", "main", at=other), None]
    git("branch", "tasks", at=origin)
    assert [one.name for one in look_for_branch(repository, "tasks")] == ["origin"]
