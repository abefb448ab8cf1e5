"""What is special about how a repository keeps its objects."""

from __future__ import annotations

from pathlib import Path

from gitticks.git.kinds import Kinds, kinds_of
from gitticks.git.repository import discover
from tests.support.repositories import clone, git, make_repository


def test_a_plain_repository_is_nothing_special(tmp_path: Path) -> None:
    assert kinds_of(discover(make_repository(tmp_path))) == Kinds(None, False, None, ())


def test_each_kind(tmp_path: Path) -> None:
    source = make_repository(tmp_path / "source", commits=2)
    git("config", "uploadpack.allowFilter", "true", at=source)
    assert kinds_of(discover(clone(source, tmp_path / "shallow", "--depth=1"))).is_shallow
    partial = clone(source, tmp_path / "partial", "--filter=blob:none")
    assert kinds_of(discover(partial)).promisor == "origin"
    git("clone", "--quiet", "--shared", str(source), str(tmp_path / "shared"), at=tmp_path)
    assert kinds_of(discover(tmp_path / "shared")).alternates == (source / ".git" / "objects",)
    git("submodule", "--quiet", "add", str(source), "sub", at=make_repository(tmp_path / "outer"))
    assert kinds_of(discover(tmp_path / "outer" / "sub")).superproject == tmp_path / "outer"


def test_a_partial_clone_of_the_old_kind(tmp_path: Path) -> None:
    top = make_repository(tmp_path)
    git("config", "core.repositoryFormatVersion", "1", at=top)
    git("config", "extensions.partialClone", "upstream", at=top)
    assert kinds_of(discover(top)).promisor == "upstream"
