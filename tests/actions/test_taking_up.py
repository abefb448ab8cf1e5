"""Bringing the board in step and taking up what was saved there are one step for whoever needs it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from gitticks.actions.context import Context
from gitticks.actions.taking_up import take_up
from gitticks.board.checkout_state import TakenUp
from tests.support.projects import Project, make_project
from tests.support.repositories import git


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = make_project(tmp_path)
    project.make("k7f2")
    return project


def test_what_is_saved_is_taken_up(project: Project) -> None:
    with project.board_file("k7f2").open("a") as end:
        end.write("\nmore\n")
    assert take_up(Context(directory=project.path)).paths == ("tasks/f2/k7f2/TASK.md",)
    assert project.file("k7f2").summary.endswith("more")


@pytest.mark.damages
def test_a_damaged_board_is_a_warning_and_none_is_nothing(project: Project) -> None:
    (project.path / ".git/worktrees/-gitticks/index").write_bytes(b"garbage")
    context = Context(directory=project.path)
    assert take_up(context) == TakenUp()
    assert "it cannot be determined what was saved on the board" in context.warnings[0]
    shutil.rmtree(project.board)
    assert take_up(Context(directory=project.path)) == TakenUp()


@pytest.mark.parametrize("place", [("--create", "mine"), ("--detach",)])
def test_a_file_of_another_branch_is_left_as_it_was_saved(project: Project, place: tuple[str, ...]) -> None:
    git("switch", "--quiet", *place, at=project.board)
    project.ok("update", "k7f2", "-p", "0")
    file = project.board_file("k7f2")
    file.write_text(file.read_text() + "\nmore\n")
    saved = file.read_text()
    for command in (("status",), ("update", "k7f2", "-p", "1"), ("watch", "--once")):
        project.ok(*command)
        assert file.read_text() == saved
    assert project.task("k7f2").priority == 1
