"""A real editor that was opened before a task moved on and is saved after: its words stay, and nothing of ours goes back."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import pytest

from gitticks.model.status import Status
from tests.support.open_editors import Ed, OpenEditor, Vim
from tests.support.projects import Project, make_project
from tests.support.repositories import fsck_problems

Open = Callable[[Path], OpenEditor]

editors = pytest.mark.parametrize(
    "editor",
    [
        pytest.param(Ed, id="ed", marks=pytest.mark.debian("ed")),
        pytest.param(partial(Vim, renames=True), id="vim-renames", marks=pytest.mark.debian("vim")),
        pytest.param(partial(Vim, renames=False), id="vim-in-place", marks=pytest.mark.debian("vim")),
    ],
)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = make_project(tmp_path / "project")
    project.make("k7f2", body="Text.\n\n## Context\n\nThe old context.\n")
    return project


@contextmanager
def _opened(project: Project, editor: Open) -> Iterator[OpenEditor]:
    opened = editor(project.board_file("k7f2"))
    try:
        yield opened
    finally:
        opened.quit()


def _text(project: Project) -> str:
    return project.file("k7f2").data.decode()


def _is_settled(project: Project) -> bool:
    """True if the board holds what the branch has, and neither git nor we have more to say of it."""
    said = project.ok("status")
    same = project.board_file("k7f2").read_bytes() == project.file("k7f2").data
    is_quiet = "k7f2/TASK.md" not in said and project.board_status() in ("", "?? tasks/f2/k7f2/.TASK.md.swp")
    return same and is_quiet and fsck_problems(project.path) == ""


@editors
def test_words_are_added_to_a_task_that_has_moved_on(project: Project, editor: Open) -> None:
    with _opened(project, editor) as opened:
        project.ok("start", "k7f2")
        project.ok("update", "k7f2", "-p", "0", "-l", "login")
        project.ok("note", "k7f2", "a note of ours")
        moved = project.task("k7f2")
        opened.add("", "My words.")
        opened.save()
        project.ok("status")
        task = project.task("k7f2")
        assert (task.status, task.priority, task.labels) == (Status.WORKING, 0, ("login",))
        assert (task.branch, task.start_sha, task.claim) == (moved.branch, moved.start_sha, moved.claim)
        assert project.notes("k7f2") == ["a note of ours"]
        assert "My words." in _text(project)
        assert _is_settled(project)


@editors
def test_a_buffer_is_saved_again_and_again_while_the_task_moves(project: Project, editor: Open) -> None:
    words = [f"Words {number}." for number in range(3)]
    with _opened(project, editor) as opened:
        for number, added in enumerate(words):
            project.ok("note", "k7f2", f"note {number}")
            project.ok("update", "k7f2", "-p", str(number))
            opened.add("", added)
            opened.save()
            if number != 1:
                project.ok("status")
        project.ok("status")
        assert project.notes("k7f2") == ["note 0", "note 1", "note 2"]
        assert project.task("k7f2").priority == 2
        assert [added for added in words if added not in _text(project)] == []
        assert [_text(project).count(added) for added in words] == [1, 1, 1]


@editors
def test_a_status_that_the_buffer_still_shows_is_no_request(project: Project, editor: Open) -> None:
    with _opened(project, editor) as opened:
        project.ok("update", "k7f2", "--status", "working")
        project.ok("update", "k7f2", "--status", "clarification")
        opened.replace("old", "new")
        opened.save()
        project.ok("status")
        assert project.task("k7f2").status is Status.CLARIFICATION
        assert project.file("k7f2").section("Context") == "The new context."
        assert _is_settled(project)


@editors
def test_what_both_wrote_stays_as_the_person_saved_it_and_is_named(project: Project, editor: Open) -> None:
    with _opened(project, editor) as opened:
        project.ok("update", "k7f2", "--title", "Theirs")
        opened.replace("^title: .*", "title: Mine")
        opened.save()
        said = project.ok("status")
        assert "k7f2/TASK.md  " in said
        assert project.task("k7f2").title in ("Theirs", "Mine")
        assert "title: Mine" in project.board_file("k7f2").read_text()


@editors
def test_a_save_into_the_file_that_was_cancelled_meanwhile_brings_it_not_back(
    project: Project, editor: Open
) -> None:
    with _opened(project, editor) as opened:
        project.ok("cancel", "k7f2")
        opened.add("", "Too late.")
        opened.save()
        project.ok("status")
        assert project.task("k7f2").status is Status.CANCELLED
        everywhere = _text(project) + project.board_file("k7f2").read_text()
        assert "Too late." in everywhere


def test_a_buffer_that_is_never_read_again_ends_in_no_conflict(project: Project) -> None:
    file = project.board_file("k7f2")
    text = file.read_text()
    for number in range(3):
        for step in ("taken up", "met by a writer"):
            word = f"Words {number}, {step}."
            text = text.replace("\n## Context", f"\n{word}\n\n## Context")
            file.write_text(text)
            os.utime(file, (0, 0))
            if step == "taken up":
                project.ok("note", "k7f2", f"note {number}")
                project.ok("status")
            else:
                project.change("k7f2", priority=number, updated=datetime.now(UTC))
        assert "UU" not in project.board_status()
        project.ok("status")
    assert [_text(project).count(f"Words {number}, taken up.") for number in range(3)] == [1, 1, 1]
    assert [_text(project).count(f"Words {number}, met by a writer.") for number in range(3)] == [1, 1, 1]
    assert project.notes("k7f2") == ["note 0", "note 1", "note 2"]
    assert _is_settled(project)
