"""What a run has spent of which budgets, kept in the clone for `gt status` and `gt inbox`.

It stays after a run that its budget ended, until the next one begins; what has to hold over runs is in the histories.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from gitticks.model.ids import TaskId, is_valid_id
from gitticks.runner.liveness import SPENDING_FILE
from gitticks.safe_read import read_plain_file
from gitticks.workflow.budget import Metric, Reading, Scope

if TYPE_CHECKING:
    from pathlib import Path

    from gitticks.runner.events import BudgetState


class SpentBudget(NamedTuple):
    """How much of one limit is spent, and of whose: a task's, an epic's, or with None the run's."""

    scope: str
    task: TaskId | None
    metric: str
    spent: float
    limit: float
    percent: int
    words: str


class SpendingRecord(NamedTuple):
    """The budgets of the run that lives, or of the last one with the limit that `ended` it."""

    budgets: tuple[SpentBudget, ...] = ()
    ended: str | None = None


def write_spending(own_dir: Path, states: Iterable[BudgetState], ended: str | None = None) -> None:
    """Replaces what is known; a clone where nothing can be written goes without."""
    budgets = [[one.scope.value, one.task, one.metric.value, one.spent, one.limit] for one in states]
    with contextlib.suppress(OSError):
        own_dir.mkdir(parents=True, exist_ok=True)
        aside = own_dir / f"{SPENDING_FILE}.new"
        aside.write_text(json.dumps({"budgets": budgets, "ended": ended}), encoding="utf-8")
        aside.replace(own_dir / SPENDING_FILE)


def forget_spending(own_dir: Path) -> None:
    """Drops what is known of a run."""
    with contextlib.suppress(OSError):
        (own_dir / SPENDING_FILE).unlink(missing_ok=True)


def read_spending(own_place: str, *, is_run_alive: bool) -> SpendingRecord:
    """Returns what is known; what cannot be read, or was left by a run that was killed, is nothing."""
    try:
        body = json.loads(read_plain_file(f"{own_place}/{SPENDING_FILE}"))
        ended = body["ended"]
        budgets = tuple(_budget(*one) for one in body["budgets"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return SpendingRecord()
    if is_run_alive:
        return SpendingRecord(budgets)
    return SpendingRecord((), ended) if isinstance(ended, str) else SpendingRecord()


def _budget(scope: str, task: str | None, metric: str, spent: float, limit: float) -> SpentBudget:
    reading = Reading(Scope(scope), Metric(metric), float(spent), float(limit))
    name = None if task is None or not is_valid_id(task) else TaskId(task)
    return SpentBudget(scope, name, metric, reading.spent, reading.limit, reading.percent, reading.words)
