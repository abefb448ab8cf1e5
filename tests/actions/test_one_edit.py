"""One saved edit is taken up with all that it asks for, or stays for a reason that helps."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitticks.actions.context import Context
from gitticks.actions.saved_edits import take_up_all
from gitticks.board.checkout_state import TakenUp
from gitticks.model.status import Awaiting
from tests.support.projects import Project, make_project
from tests.support.repositories import git


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = make_project(tmp_path)
    project.make("k7f2", awaiting=Awaiting.WORK)
    return project


def _save(project: Project, old: str, new: str) -> None:
    file = project.board_file("k7f2")
    file.write_text(file.read_text().replace(old, new, 1))


def _take_up(project: Project) -> TakenUp:
    return take_up_all(Context(directory=project.path))


def test_what_is_saved_and_what_comes_of_it_are_one_move_of_the_branch(project: Project) -> None:
    """So that nobody, and no kill, comes between a status that was asked for and its event."""
    moves = git("reflog", "gitticks/state", at=project.path).count("\n")
    _save(project, "status: pending\nawaiting: work", "status: cancelled")
    assert _take_up(project).paths
    assert git("reflog", "gitticks/state", at=project.path).count("\n") == moves + 1
    assert project.task("k7f2").closed is not None
    assert project.board_status() == ""


def test_a_verdict_that_nobody_asked_for_is_refused_when_it_is_saved(project: Project) -> None:
    project.change("k7f2", awaiting=None)
    _save(project, "status: pending", "status: pending\nverdict: approved")
    [words] = _take_up(project).left.values()
    assert words.startswith("edited, refused: `k7f2` is not waiting for anyone: it is pending")


def test_a_link_is_named_also_where_a_command_has_written_the_task(project: Project) -> None:
    project.ok("note", "k7f2", "Seen.")
    project.board_file("k7f2").unlink()
    project.board_file("k7f2").symlink_to("/etc/hostname")
    project.ok("note", "k7f2", "Again.")
    [words] = _take_up(project).left.values()
    assert "it is not a regular file" in words


def test_a_section_that_was_typed_once_more_is_warned_of_as_it_is_taken_up(project: Project) -> None:
    project.ok("note", "k7f2", "Seen.")
    _save(project, "Seen.\n", "Seen.\n\n## Notes\n\nHurry.\n")
    lines = project.board_file("k7f2").read_text().splitlines()
    first, second = (number for number, line in enumerate(lines, 1) if line == "## Notes")
    warning = f"warning: .gitticks/tasks/f2/k7f2/TASK.md: `## Notes` is on lines {first} and {second}:"
    assert f"{warning} only the last one counts\n" in project.gt("status").err
    _save(project, "awaiting: work", "awaiting: work\npriority: 0")
    assert warning not in project.gt("status").err
    assert project.task("k7f2").priority == 0
