"""Held tasks and the request to stop, as another process sees them."""

from __future__ import annotations

from pathlib import Path

from gitticks.model.ids import TaskId
from gitticks.runner.liveness import Holds

K7F2 = TaskId("k7f2")


def test_a_task_is_held_until_it_is_released(tmp_path: Path) -> None:
    holds = Holds(tmp_path / "gitticks")
    assert holds.held() == frozenset()
    holds.hold(K7F2)
    holds.hold(K7F2)
    assert Holds(tmp_path / "gitticks").held() == {K7F2}
    holds.release(K7F2)
    holds.release(K7F2)
    assert holds.held() == frozenset()


def test_what_is_no_id_is_not_held(tmp_path: Path) -> None:
    holds = Holds(tmp_path)
    holds.hold(K7F2)
    (tmp_path / "held" / ".DS_Store").touch()
    assert holds.held() == {K7F2}


def test_a_run_is_asked_to_stop_until_that_is_forgotten(tmp_path: Path) -> None:
    holds = Holds(tmp_path / "gitticks")
    assert not holds.is_run_asked_to_stop()
    holds.ask_run_to_stop()
    assert Holds(tmp_path / "gitticks").is_run_asked_to_stop()
    holds.forget_run_stop()
    holds.forget_run_stop()
    assert not holds.is_run_asked_to_stop()
