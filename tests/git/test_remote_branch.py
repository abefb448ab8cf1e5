from __future__ import annotations

from pathlib import Path

from gitticks.git.remote_branch import Fetched, fetch_branch
from gitticks.git.repository import discover
from tests.support.repositories import clone, git, make_repository


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
