"""What a run records in the clone, and how it is read."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from gitticks.model.spending import Metric, Scope
from gitticks.runner.run_record import BudgetState, LastRun, read_spending, write_spending

BEGAN = datetime(2026, 11, 22, 10, 0, tzinfo=UTC)


def test_the_time_of_a_living_run_goes_on_between_its_records(tmp_path: Path) -> None:
    run = BudgetState(Scope.RUN, None, Metric.DURATION, 60, 600, 10)
    task = BudgetState(Scope.TASK, None, Metric.DURATION, 60, 600, 10)
    write_spending(tmp_path, LastRun(BEGAN), [run, task])
    now = BEGAN + timedelta(minutes=5)
    assert read_spending(str(tmp_path), now, is_run_alive=True).budgets == (
        run._replace(spent=300, percent=50),
        task,
    )
    assert read_spending(str(tmp_path), now, is_run_alive=False).budgets == ()
