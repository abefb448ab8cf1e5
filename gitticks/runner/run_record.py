"""What a run records in the clone, most of it for `gt status` and `gt inbox`.

Why the last run ended stays until the next one begins; what has to hold over runs is in the histories. Conflicts that it foresaw count only as long as the commits on both sides are where they were.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

from gitticks.git.refs import read_ref
from gitticks.model.ids import TaskId, is_valid_id
from gitticks.model.spending import Metric, Reading, Scope
from gitticks.runner.liveness import (
    MERGING_FILE,
    OVERLAPS_FILE,
    RESTING_FILE,
    SKIPPED_FILE,
    SPENDING_FILE,
)
from gitticks.safe_read import read_json

if TYPE_CHECKING:
    from pathlib import Path


def write_json(file: Path, body: object) -> None:
    """Replaces a record whole, whatever else is in its place.

    Raises:
        OSError: it cannot be written, or the other thing cannot be replaced.
    """
    aside = file.with_suffix(".new")
    file.parent.mkdir(parents=True, exist_ok=True)
    aside.unlink(missing_ok=True)
    aside.write_text(json.dumps(body), encoding="utf-8")
    aside.replace(file)


def _keep(file: Path, rows: list[Any] | dict[Any, Any]) -> None:
    with contextlib.suppress(OSError):
        if rows:
            write_json(file, rows)
        else:
            file.unlink(missing_ok=True)


class BudgetState(NamedTuple):
    """How much of one limit is spent, and of whose: a task's, an epic's, or with None the run's."""

    scope: Scope
    task: TaskId | None
    metric: Metric
    spent: float
    limit: float
    percent: int

    @classmethod
    def of(cls, reading: Reading, task: TaskId | None = None) -> BudgetState:
        """Returns a reading with whose it is."""
        return cls(reading.scope, task, reading.metric, reading.spent, reading.limit, reading.percent)

    @property
    def words(self) -> str:
        """Returns `$2.40 of $3.00`."""
        return Reading(self.scope, self.metric, self.spent, self.limit).words


class LastRun(NamedTuple):
    """A run from its beginning to its end, and what it came to; one without an end lives or was killed.

    `reason` is why it ended, or what a living one waits for.
    """

    began: datetime
    ended: datetime | None = None
    reason: str = ""
    done: int = 0
    iterations: int = 0
    cost: float = 0.0


class SpendingRecord(NamedTuple):
    """The budgets of the run that lives, or the limit that `ended` the last one; `run` is either."""

    budgets: tuple[BudgetState, ...] = ()
    ended: str | None = None
    run: LastRun | None = None


def write_spending(
    own_dir: Path, run: LastRun, states: Iterable[BudgetState] = (), ended: str | None = None
) -> None:
    """Replaces what is known; a clone where nothing can be written goes without."""
    budgets = [[one.scope.value, one.task, one.metric.value, one.spent, one.limit] for one in states]
    times = {"began": run.began.isoformat(), "ended": run.ended.isoformat() if run.ended else None}
    body = {"budgets": budgets, "ended": ended, "run": run._asdict() | times}
    with contextlib.suppress(OSError):
        write_json(own_dir / SPENDING_FILE, body)


def read_spending(own_place: str, now: datetime, *, is_run_alive: bool) -> SpendingRecord:
    """Returns what is known, the time of a living run till now; what cannot be read is nothing.

    The budgets of a run that was killed are left out.
    """

    def make(body: Any) -> SpendingRecord:
        run = _run(**body["run"])
        if not is_run_alive:
            return SpendingRecord((), body["ended"], run)
        lasted = max(0.0, (now - run.began).total_seconds())
        return SpendingRecord(tuple(_budget(*one, lasted=lasted) for one in body["budgets"]), None, run)

    return read_json(f"{own_place}/{SPENDING_FILE}", make, SpendingRecord())


def _run(*, began: str, ended: str | None, reason: str, done: int, iterations: int, cost: float) -> LastRun:
    begun, over = _time(began), None if ended is None else _time(ended)
    return LastRun(begun, over, str(reason), int(done), int(iterations), float(cost))


def _time(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


def _budget(
    scope: str, task: str | None, metric: str, spent: float, limit: float, *, lasted: float
) -> BudgetState:
    reading = Reading(Scope(scope), Metric(metric), float(spent), float(limit))
    if reading.scope is Scope.RUN and reading.metric is Metric.DURATION:
        reading = reading._replace(spent=lasted)
    return BudgetState.of(reading, TaskId(task) if task and is_valid_id(task) else None)


class Foreseen(NamedTuple):
    """Work on a branch named `name`, what it conflicts with (other work, or the branch `base`), and where."""

    name: str
    other: str | None
    base: str
    paths: tuple[str, ...]


def write_foreseen(
    own_dir: Path, found: Iterable[tuple[Foreseen, tuple[tuple[str, str | None], ...]]]
) -> None:
    """Replaces what is foreseen, each with the refs that it holds for and where these stand."""
    body = [[*one, refs] for one, refs in found]
    _keep(own_dir / OVERLAPS_FILE, body)


def read_foreseen(common_dir: Path) -> tuple[Foreseen, ...]:
    """Returns what still holds; what cannot be read is nothing."""

    def make(body: Any) -> tuple[Foreseen, ...]:
        return tuple(
            Foreseen(str(name), other if other is None else str(other), str(base), tuple(map(str, paths)))
            for name, other, base, paths, refs in body
            if all(read_ref(common_dir, str(ref)) == commit for ref, commit in refs)
        )

    return read_json(common_dir / "gitticks" / OVERLAPS_FILE, make, ())


class MergeState(StrEnum):
    """How far a merge has come in the queue of a run."""

    MERGING = "merging"
    AHEAD = "ahead"
    WAITING = "waiting"
    QUEUED = "queued"


class QueuedMerge(NamedTuple):
    """A task in the merge queue; `reason` says what a waiting one waits for."""

    task: TaskId
    state: MergeState = MergeState.QUEUED
    reason: str = ""


def write_merging(own_dir: Path, queue: Iterable[QueuedMerge]) -> None:
    """Replaces the merge queue, in its order."""
    _keep(own_dir / MERGING_FILE, [*queue])


def read_merging(own_place: str) -> tuple[QueuedMerge, ...]:
    """Returns the merge queue as it was left last; what cannot be read is nothing."""

    def make(body: Any) -> tuple[QueuedMerge, ...]:
        return tuple(
            QueuedMerge(TaskId(task), MergeState(state), str(reason)) for task, state, reason in body
        )

    return read_json(f"{own_place}/{MERGING_FILE}", make, ())


def keep_wait(own_dir: Path, task: TaskId, reason: str | None) -> None:
    """Keeps why a merge that no run made waits, or with None that it does not."""
    others = [one for one in read_merging(str(own_dir)) if one.task != task]
    mine = [] if reason is None else [QueuedMerge(task, MergeState.WAITING, reason)]
    write_merging(own_dir, [*others, *mine])


def write_skipped(own_dir: Path, skipped: dict[TaskId, tuple[str, str]]) -> None:
    """Replaces the tasks that cannot be started, each with when it was updated last and why; the run's end keeps them."""
    _keep(own_dir / SKIPPED_FILE, skipped)


def read_skipped(own_place: str) -> dict[TaskId, tuple[str, str]]:
    """Returns what the active or the last run could not start; what cannot be read is nothing."""

    def make(body: Any) -> dict[TaskId, tuple[str, str]]:
        return {TaskId(task): (str(updated), str(why)) for task, (updated, why) in body.items()}

    return read_json(f"{own_place}/{SKIPPED_FILE}", make, {})


class Resting(NamedTuple):
    """An agent that rests until a UTC time, and why.

    `is_named` says that the service named the time, so that it holds for other runs too.
    """

    agent: str
    until: datetime
    reason: str
    is_named: bool = True


def write_resting(own_dir: Path, agents: Iterable[Resting]) -> None:
    """Replaces the agents that rest; a clone where nothing can be written goes without."""
    body = {
        one.agent: {"until": one.until.isoformat(), "reason": one.reason, "is_named": one.is_named}
        for one in agents
    }
    _keep(own_dir / RESTING_FILE, body)


def read_resting(own_place: str, now: datetime, *, is_run_alive: bool) -> tuple[Resting, ...]:
    """Returns the agents that rest now, by name; what cannot be read is nothing."""

    def make(body: Any) -> list[Resting]:
        return [
            Resting(str(name), _time(one["until"]), str(one["reason"]), one["is_named"] is True)
            for name, one in sorted(body.items())
        ]

    known: list[Resting] = read_json(f"{own_place}/{RESTING_FILE}", make, [])
    return tuple(one for one in known if one.until > now and (is_run_alive or one.is_named))
