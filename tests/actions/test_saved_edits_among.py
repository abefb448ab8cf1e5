"""A look at some files of the board takes them up without asking git for the others, unless more may matter."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

import pytest

from gitticks.actions.context import Context
from gitticks.actions.saved_edits import take_up_all
from gitticks.board import edits
from gitticks.board.checkout_state import TakenUp
from gitticks.board.judge_edit import NOTE_ENDING
from gitticks.git.checkouts import Changes, Checkout, changed_paths
from gitticks.model.ids import TaskId, task_path
from gitticks.model.status import Awaiting
from tests.support.projects import Project, make_project

ONE, OTHER = (task_path(TaskId(name)) for name in ("k7f2", "m3xq"))
VERDICT = "edited, its verdict counts once it is committed"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = make_project(tmp_path)
    for task in ("k7f2", "m3xq"):
        project.make(task, awaiting=Awaiting.WORK, body="Text.\n\n## Context\n\nold\n")
    return project


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Collection[str] | None]:
    """Returns which paths git is asked about, look by look; None for all."""
    asked: list[Collection[str] | None] = []

    def look(checkout: Checkout, among: Collection[str] | None = None) -> Changes:
        asked.append(among)
        return changed_paths(checkout, among)

    monkeypatch.setattr(edits, "changed_paths", look)
    return asked


def _save(project: Project, task: str, old: str, new: str) -> None:
    file = project.board_file(task)
    file.write_text(file.read_text().replace(old, new, 1))


def _take_up(project: Project, *paths: str) -> TakenUp:
    return take_up_all(Context(directory=project.path), paths)


def test_what_is_named_is_taken_up_and_nothing_else(
    project: Project, asked: list[Collection[str] | None]
) -> None:
    _save(project, "k7f2", "old", "new")
    _save(project, "m3xq", "old", "another")
    found = _take_up(project, ONE, "tasks/f2/k7f2/.TASK.md.swp", "tasks/f2")
    assert found == TakenUp((ONE,), is_whole=False)
    assert set(asked) == {(ONE, "tasks/f2/k7f2/.TASK.md.swp", "tasks/f2")}
    assert project.file("k7f2").section("Context") == "new"
    assert project.file("m3xq").section("Context") == "old"
    assert _take_up(project) == TakenUp((), is_whole=False)
    assert take_up_all(Context(directory=project.path)).paths == (OTHER,)


def test_what_an_editor_leaves_about_while_it_is_open_makes_it_no_look_at_all(
    project: Project, asked: list[Collection[str] | None]
) -> None:
    left_about = [project.board_file("k7f2").with_name(name) for name in (".TASK.md.swp", "TASK.md~")]
    for file in left_about:
        file.write_text("x")
    _save(project, "k7f2", "old", "new")
    paths = [str(file.relative_to(project.board)) for file in left_about]
    assert _take_up(project, ONE, *paths) == TakenUp((ONE,), is_whole=False)
    assert None not in asked


def test_a_new_task_is_taken_up_alone(project: Project, asked: list[Collection[str] | None]) -> None:
    file = project.board_file("aplan")
    file.parent.mkdir(parents=True)
    file.write_text("---\nid: aplan\ntitle: Plan\nstatus: pending\n---\nThe text.\n")
    path = task_path(TaskId("aplan"))
    assert _take_up(project, path) == TakenUp((path,), is_whole=False)
    assert None not in asked


def test_where_one_stays_all_are_looked_at(project: Project, asked: list[Collection[str] | None]) -> None:
    _save(project, "k7f2", "old", "new")
    _save(project, "m3xq", "awaiting: work", "awaiting: work\nverdict: approved")
    assert _take_up(project, ONE, OTHER) == TakenUp((ONE,), {OTHER: VERDICT})
    assert asked[-1] is None


def test_where_a_file_is_removed_all_are_looked_at(project: Project) -> None:
    project.board_file("k7f2").unlink()
    _save(project, "m3xq", "old", "new")
    found = _take_up(project, ONE)
    assert found.paths == (OTHER,)
    assert found.is_whole
    assert "tasks are cancelled, not deleted" in found.left[ONE]


def test_a_folder_that_was_renamed_is_named_also_where_half_of_it_was_seen(project: Project) -> None:
    folder = project.board_file("k7f2").parent
    folder.rename(folder.with_name("elsewhere"))
    found = _take_up(project, "tasks/f2/elsewhere/TASK.md")
    assert list(found.left) == ["tasks/f2/elsewhere/TASK.md"]
    assert "it is in the wrong folder" in found.left["tasks/f2/elsewhere/TASK.md"]


def test_what_is_beside_the_tasks_is_looked_at_with_all(project: Project) -> None:
    (project.board / "prompts").mkdir()
    (project.board / "prompts/worker.md").write_text("Do it.\n")
    assert _take_up(project, "prompts/worker.md").is_whole


def test_only_the_note_of_a_fixed_file_goes(project: Project) -> None:
    notes = [project.board_file(task).with_name(f"TASK.md{NOTE_ENDING}") for task in ("k7f2", "m3xq")]
    for task in ("k7f2", "m3xq"):
        _save(project, task, "status: pending", "status: done")
    assert _take_up(project, ONE, OTHER).paths == ()
    assert [note.exists() for note in notes] == [True, True]
    _save(project, "k7f2", "status: done", "priority: 0\nstatus: pending")
    assert _take_up(project, ONE) == TakenUp((ONE,), is_whole=False)
    assert [note.exists() for note in notes] == [False, True]
