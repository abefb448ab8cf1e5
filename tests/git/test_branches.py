"""The branches of a clone."""

from __future__ import annotations

from pathlib import Path

from gitticks.git.branches import list_branches, list_local_branches
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
