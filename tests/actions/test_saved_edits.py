"""What a person saved on the board is theirs before a command changes the same task."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitticks.model.status import Awaiting, Status
from tests.support.projects import SESSION, Project, make_project
from tests.support.repositories import git
from tests.support.stores import write_task_file


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = make_project(tmp_path)
    project.make("k7f2", awaiting=Awaiting.WORK, body="Text.\n\n## Context\n\nold\n")
    return project


def _save(project: Project, old: str, new: str) -> None:
    file = project.board_file("k7f2")
    file.write_text(file.read_text().replace(old, new, 1))


def test_a_saved_edit_is_committed_as_its_own_before_the_command(project: Project) -> None:
    _save(project, "old", "new")
    project.ok("update", "k7f2", "-p", "0")
    log = git("log", "-2", "--format=%s", "gitticks/state", at=project.path).splitlines()
    assert log == ["k7f2: priority", "k7f2: ## Context"]
    assert project.file("k7f2").section("Context") == "new"
    assert project.board_status() == ""


def test_a_saved_status_is_carried_out(project: Project) -> None:
    _save(project, "status: pending\nawaiting: work", "status: cancelled")
    ran = project.gt("note", "k7f2", "still")
    assert ran.code == 0
    assert project.task("k7f2").status is Status.CANCELLED
    assert project.board_status() == ""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("awaiting: work", "awaiting: work\nverdict: approved"),
        ("status: pending", "status: done"),
        ("status: pending", "status: ["),
        ("status: pending", "status: pending\nreview_round: 3"),
    ],
)
def test_what_does_not_count_or_is_refused_stays_where_it_is(project: Project, old: str, new: str) -> None:
    _save(project, old, new)
    ran = project.gt("note", "k7f2", "hello")
    assert ran.code == 0
    assert ran.err.startswith("warning: `.gitticks/tasks/f2/k7f2/TASK.md` is edited, ")
    task = project.task("k7f2")
    assert (task.status, task.awaiting, task.verdict, task.review_round) == (
        Status.PENDING,
        Awaiting.WORK,
        None,
        0,
    )
    assert project.notes("k7f2") == ["hello"]
    text = project.board_file("k7f2").read_text()
    assert new in text


def test_an_agents_command_takes_up_nothing(project: Project) -> None:
    project.change("k7f2", awaiting=None)
    _save(project, "old", "new")
    project.ok("note", "k7f2", "mine", environment=SESSION)
    assert project.file("k7f2").section("Context") == "old"
    assert "new" in project.board_file("k7f2").read_text()


def test_a_broken_file_is_named_with_its_line_and_can_be_mended_by_saving(project: Project) -> None:
    text = project.board_file("k7f2").read_text()
    write_task_file(project.store, "k7f2", text.replace("status: pending", "status: reddy"))
    project.make("m3xq")
    ran = project.gt("update", "k7f2", "-p", "0")
    assert ran.code == 1
    assert ran.err.startswith("error: .gitticks/tasks/f2/k7f2/TASK.md:4:9: `status` is not one of ")
    assert ran.err.endswith("\nhint: `gt edit k7f2` opens it at that line; the other task is fine\n")
    project.board_file("k7f2").write_text(text)
    project.ok("update", "k7f2", "-p", "0")
    assert project.task("k7f2").priority == 0


def test_conflict_markers_that_were_saved_are_not_taken_up(project: Project) -> None:
    _save(project, "old", "<<<<<<< ours\nold\n=======\nnew\n>>>>>>> theirs")
    assert "not taken up: line 15: holds conflict markers" in project.gt("note", "k7f2", "hello").err
    assert project.file("k7f2").section("Context") == "old"
