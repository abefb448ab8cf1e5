"""Branches of a person's that stand where ours are to be, or on which ours is checked out: what is said of them works."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.support import gt
from tests.support.clones import make_two_clones
from tests.support.projects import Project, make_project
from tests.support.repositories import git, make_repository


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path / "r")


def test_a_branch_with_the_name_of_our_folder_is_named_and_can_be_renamed(tmp_path: Path) -> None:
    path = make_repository(tmp_path / "r", branch="gitticks")
    ran = gt("init", at=path)
    assert ran.code == 1
    assert "a branch is called `gitticks`" in ran.err
    assert "hint: `git branch -m gitticks NEW-NAME` renames it" in ran.err
    git("branch", "-m", "gitticks", "mine", at=path)
    assert gt("init", at=path).code == 0


def test_a_branch_of_the_remote_with_the_name_of_our_folder_is_named(tmp_path: Path) -> None:
    clone = make_two_clones(tmp_path)[0]
    git("push", "--quiet", "origin", "--delete", "gitticks/state", at=clone.path)
    git("push", "--quiet", "origin", "main:gitticks", at=clone.path)
    task = clone.create()
    ran = clone.gt("sync")
    assert ran.code == 3, ran.seen
    assert "it has a branch `gitticks`, which has to be renamed or deleted there first" in ran.err
    git("push", "--quiet", "origin", "--delete", "gitticks", at=clone.path)
    assert task in clone.ok("sync")


def test_a_branch_with_the_name_of_the_folder_of_work_is_named(project: Project) -> None:
    task = project.create()
    git("branch", "gitticks/work", at=project.path)
    ran = project.gt("start", task)
    assert ran.code == 1, ran.seen
    assert "hint: `git branch -m gitticks/work NEW-NAME` renames it" in ran.err
    git("branch", "-m", "gitticks/work", "mine", at=project.path)
    assert project.gt("start", task).code == 0


def test_nothing_is_written_while_the_main_checkout_is_on_the_state_branch(tmp_path: Path) -> None:
    first, other = make_two_clones(tmp_path)
    task = first.create()
    first.ok("sync")
    path = tmp_path / "third"
    git("clone", "--quiet", str(tmp_path / "remote.git"), str(path), at=other.path)
    git("switch", "--quiet", "gitticks/state", at=path)
    tip = git("rev-parse", "HEAD", at=path)
    for words in (["init"], ["create", "Lost?"], ["note", task, "seen"]):
        ran = gt(*words, at=path)
        assert ran.code == 1, ran.seen
        assert f"the branch `gitticks/state` is checked out at `{path}`" in ran.err
        assert f"hint: `git -C {path} switch main` leaves it" in ran.err
    assert task in gt("list", at=path).out
    assert git("status", "--porcelain", at=path) == ""
    assert git("rev-parse", "HEAD", at=path) == tip
    git("-C", str(path), "switch", "--quiet", "main", at=path)
    assert gt("init", at=path).code == 0
    assert gt("note", task, "seen", at=path).code == 0
