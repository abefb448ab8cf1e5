"""What is saved once more, and by another editor that was open meanwhile, is told apart, and taken up with all it asks."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from gitticks.actions.context import Context
from gitticks.actions.saved_edits import take_up_all
from gitticks.board.checkout_state import TakenUp
from gitticks.model.ids import TaskId, task_path
from gitticks.model.status import Awaiting
from tests.support.boards import write_to_branch
from tests.support.projects import Project, make_project
from tests.support.repositories import git


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = make_project(tmp_path)
    project.make("k7f2", awaiting=Awaiting.WORK, body="Text.\n\n## Context\n\nold\n")
    return project


@pytest.mark.parametrize(
    ("first", "then", "gone"),
    [
        ("labels: [bug]", "labels: [bugs]", "bug,"),
        ("reviewer: Ada", "agent: claude", "reviewer"),
        ("blocked_by: [m3xq]", "labels: [bug]", "m3xq"),
    ],
)
def test_a_line_that_was_saved_and_is_saved_otherwise_stays_as_it_is_then(
    project: Project, first: str, then: str, gone: str
) -> None:
    project.make("m3xq")
    project.save("k7f2", "awaiting: work", f"awaiting: work\n{first}")
    project.ok("status")
    project.save("k7f2", first, then)
    project.ok("status")
    text = project.file("k7f2").data.decode()
    assert f"\n{then}\n" in text
    assert gone not in text
    assert project.board_file("k7f2").read_text() == text


def test_what_another_editor_saved_stays_when_an_old_buffer_is_saved(project: Project) -> None:
    buffer = project.board_file("k7f2").read_text()
    project.save("k7f2", "awaiting: work", "awaiting: work\nlabels: [bug]")
    project.ok("status")
    project.board_file("k7f2").write_text(buffer.replace("old", "new"))
    project.ok("status")
    assert project.task("k7f2").labels == ("bug",)
    assert project.file("k7f2").section("Context") == "new"


def _take_up(project: Project) -> TakenUp:
    return take_up_all(Context(directory=project.path))


def _add(project: Project, *words: str) -> None:
    """Saves the file with more paragraphs in its summary, as an editor that shows all that it saved before."""
    project.save("k7f2", "\n\n## Context", "".join(f"\n\n{word}" for word in words) + "\n\n## Context")


def test_what_is_saved_again_and_again_while_the_board_cannot_follow_is_no_conflict(project: Project) -> None:
    """Every take-up is committed, and every save holds it; only the board does not learn of them in between."""
    lock = project.path / ".git/worktrees/-gitticks/index.lock"
    lock.touch()
    os.utime(lock, (0, 0))  # an editor of `git commit` has it for long
    for number in range(3):
        _add(project, f"Words {number}.")
        project.ok("status")
        project.ok("update", "k7f2", "-p", str(number))
    lock.unlink()
    _add(project, "The last words.")
    project.ok("status")
    assert project.board_status() == ""
    task = project.file("k7f2")
    assert task.task.priority == 2
    assert task.summary.split("\n\n")[1:] == ["Words 0.", "Words 1.", "Words 2.", "The last words."]


def test_a_save_that_holds_both_texts_ends_a_conflict(project: Project) -> None:
    text = project.file("k7f2").data.decode()
    project.save("k7f2", "old", "mine")
    os.utime(project.board_file("k7f2"), (0, 0))
    write_to_branch(project.store, {task_path(TaskId("k7f2")): text.replace("old", "theirs")})
    assert project.board_status().startswith("UU")
    text = project.file("k7f2").data.decode()
    project.board_file("k7f2").write_text(text.replace("theirs", "theirs\nand mine"))
    project.ok("status")
    assert project.board_status() == ""
    assert project.file("k7f2").section("Context") == "theirs\nand mine"


def test_what_is_saved_all_the_time_waits_for_a_pause(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody takes up half of a file, nor a text without noting that the next save begins from it."""
    file = project.board_file("k7f2")
    text = file.read_text()

    def save_again(_seconds: float) -> None:
        file.write_text(text.replace("old", "half"))

    with monkeypatch.context() as patched:
        patched.setattr(time, "sleep", save_again)
        patched.setattr("gitticks.board.edits.QUIET_SECONDS", 600.0)
        save_again(0)
        left = _take_up(project).left
    assert left == {task_path(TaskId("k7f2")): "left alone: somebody keeps saving it; it is checked again"}
    assert project.file("k7f2").section("Context") == "old"
    file.write_text(text.replace("old", "whole"))
    project.ok("status")
    assert project.file("k7f2").section("Context") == "whole"


def test_what_is_saved_and_what_comes_of_it_are_one_move_of_the_branch(project: Project) -> None:
    """So that nobody, and no kill, comes between a status that was asked for and its event."""
    moves = git("reflog", "gitticks/state", at=project.path).count("\n")
    project.save("k7f2", "status: pending\nawaiting: work", "status: cancelled")
    assert _take_up(project).paths
    assert git("reflog", "gitticks/state", at=project.path).count("\n") == moves + 1
    assert project.task("k7f2").closed is not None
    assert project.board_status() == ""


def test_a_verdict_that_nobody_asked_for_is_refused_when_it_is_saved(project: Project) -> None:
    project.change("k7f2", awaiting=None)
    project.save("k7f2", "status: pending", "status: pending\nverdict: approved")
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
    project.save("k7f2", "Seen.\n", "Seen.\n\n## Notes\n\nHurry.\n")
    lines = project.board_file("k7f2").read_text().splitlines()
    first, second = (number for number, line in enumerate(lines, 1) if line == "## Notes")
    warning = f"warning: .gitticks/tasks/f2/k7f2/TASK.md: `## Notes` is on lines {first} and {second}:"
    assert f"{warning} only the last one counts\n" in project.gt("status").err
    project.save("k7f2", "awaiting: work", "awaiting: work\npriority: 0")
    assert warning not in project.gt("status").err
    assert project.task("k7f2").priority == 0
