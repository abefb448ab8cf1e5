from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from gitticks.errors import GitticksError, NotFoundError
from gitticks.git.repository import discover
from gitticks.store.layout import state_tip
from tests.cli.support import gt
from tests.support.projects import make_project
from tests.support.repositories import git, make_repository


def test_a_branch_that_never_was(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="no tasks yet"):
        state_tip(discover(make_repository(tmp_path)))


def test_a_fetched_branch_is_to_be_taken_over(tmp_path: Path) -> None:
    first = make_project(tmp_path / "first")
    task = first.create()
    git("clone", "--quiet", str(first.path), str(tmp_path / "clone"), at=tmp_path)
    ran = gt("list", at=tmp_path / "clone")
    assert ran.err.startswith("error: this clone does not have the tasks of `origin` yet\n\nhint: `gt init`")
    assert gt("init", at=tmp_path / "clone").code == 0
    assert task in gt("list", at=tmp_path / "clone").out


def test_a_branch_that_is_gone_is_brought_back_by_the_hint(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    task, tip = project.create(), project.tip()
    (tmp_path / ".git/refs/heads/gitticks/state").unlink()
    with pytest.raises(GitticksError, match="is missing, but it existed here") as caught:
        state_tip(discover(tmp_path))
    assert gt("init", at=tmp_path).code == 1
    assert caught.value.hint is not None
    subprocess.run(caught.value.hint.split("`")[1], shell=True, cwd=tmp_path, check=True)  # noqa: S602
    assert project.tip() == tip
    assert task in project.ok("list")


@pytest.mark.parametrize("has_board", [True, False])
def test_a_branch_that_was_deleted_with_its_log_is_brought_back_as_it_was(
    tmp_path: Path, has_board: bool
) -> None:
    project = make_project(tmp_path)
    for title in ("One", "Two"):
        project.create(title)
    tip = project.tip()
    if not has_board:
        git("worktree", "remove", "--force", ".gitticks", at=tmp_path)
    git("update-ref", "-d", "refs/heads/gitticks/state", at=tmp_path)
    assert not (tmp_path / ".git/logs/refs/heads/gitticks/state").exists()
    for command in ("list", "init"):
        ran = gt(command, at=tmp_path)
        assert ran.code == 1
        assert "the board has seen it" in ran.err
        assert f"`git update-ref refs/heads/gitticks/state {tip}` restores it" in ran.err


def test_a_branch_whose_making_was_killed_between_log_and_ref_is_begun_by_init(tmp_path: Path) -> None:
    made = make_project(tmp_path / "made")
    log = (made.path / ".git/logs/refs/heads/gitticks/state").read_text()
    killed = make_repository(tmp_path / "killed")
    git("fetch", "--quiet", str(made.path), "gitticks/state", at=killed)  # the commit itself was written
    (killed / ".git/logs/refs/heads/gitticks").mkdir(parents=True)
    (killed / ".git/logs/refs/heads/gitticks/state").write_text(log)
    with pytest.raises(NotFoundError, match="no tasks yet"):
        state_tip(discover(killed))
    assert gt("init", at=killed).code == 0
    assert gt("create", "Say hello", at=killed).code == 0
