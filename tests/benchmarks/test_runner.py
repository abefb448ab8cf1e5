"""The benchmark of the runner, on two tasks."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks import merging
from benchmarks.runner import measure_beside, render
from benchmarks.runs import Recovery, measure_recovery, measure_run, prepare
from tests.benchmarks.test_main import gt_on_path

__all__ = ["gt_on_path"]


@pytest.mark.usefixtures("gt_on_path")
def test_a_run_a_kill_and_an_idle_run_are_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(merging, "FILES", 50)
    run = measure_run(prepare(tmp_path / "two", 2, 0.1), 2, 2, 2)
    assert (run.done, run.agents) == (2, 2)
    assert 0 < run.share < 1
    assert run.overhead_seconds > 0
    recovery = measure_recovery(prepare(tmp_path / "kill", 2, 600.0), 1)
    assert isinstance(recovery, Recovery)
    beside = measure_beside(tmp_path, 2, 0.5)
    assert beside.merges_a_second > 0
    assert beside.forecast[0] > 0
    assert beside.screen > 0
    told = render([run], [recovery], beside, where="Here.")
    assert "not measured" not in told
    assert "| 2 | 2 | 2 |" in told
