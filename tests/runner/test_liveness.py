"""Which tasks are in work or held in a clone."""

from __future__ import annotations

from pathlib import Path

from gitticks.model.ids import TaskId
from gitticks.runner.liveness import held_tasks, is_session_alive, live_tasks
from gitticks.runner.records import Sessions
from tests.support.records import make_record


def test_a_session_is_alive_while_its_lock_is_held(tmp_path: Path) -> None:
    assert live_tasks(str(tmp_path)) == frozenset()
    with Sessions(tmp_path).hold(make_record("k7f2")):
        assert live_tasks(str(tmp_path)) == {"k7f2"}
        assert is_session_alive(str(tmp_path / "sessions"), "k7f2")
        assert live_tasks(str(tmp_path)) == Sessions(tmp_path).live().keys()
    assert live_tasks(str(tmp_path)) == frozenset()


def test_a_record_that_nobody_holds_and_foreign_files_are_no_sessions(tmp_path: Path) -> None:
    folder = tmp_path / "sessions"
    folder.mkdir()
    for name in ("k7f2.json", "NO ID.json", "k7f2.lock", "notes.txt"):
        (folder / name).write_text("{}")
    assert live_tasks(str(tmp_path)) == frozenset()


def test_what_lies_in_place_of_the_folders_holds_nothing(tmp_path: Path) -> None:
    for name in ("sessions", "held"):
        (tmp_path / name).write_text("no folder")
    assert live_tasks(str(tmp_path)) == held_tasks(str(tmp_path)) == frozenset()


def test_held_tasks_are_files_with_their_ids(tmp_path: Path) -> None:
    (tmp_path / "held").mkdir()
    for name in ("k7f2", ".DS_Store"):
        (tmp_path / "held" / name).touch()
    assert held_tasks(str(tmp_path)) == {TaskId("k7f2")}
