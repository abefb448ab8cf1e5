"""How a run ends: its exit codes, and which one a set of tasks asks for."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

from gitticks.model.status import Awaiting, Status
from gitticks.model.task import Task
from gitticks.runner.events import RunEnded


class RunExit(IntEnum):
    """Exit codes of `gt run`; where several apply the order of `judge` decides."""

    DONE = 0
    LIMIT = 1
    WORK = 2
    WAITS = 3
    STUCK = 4
    USAGE = 64
    INTERRUPTED = 130


def judge(
    tasks: Iterable[Task], *, interrupted: bool, is_cut_short: bool, awaits_person: bool = False
) -> RunExit:
    """Returns the exit code for the tasks of a run's scope as they stand at its end.

    `is_cut_short` says that something was left that could be worked on: a limit was reached, or it cannot be started.
    An approved task that is not merged at the end waits for a person. `awaits_person` says that something else does,
    though no task says so itself: one that a person stopped, say.
    """
    if interrupted:
        return RunExit.INTERRUPTED
    if is_cut_short:
        return RunExit.LIMIT
    left = [task for task in tasks if task.is_open]
    if any(task.status is Status.STUCK for task in left):
        return RunExit.STUCK
    if any(task.awaiting is Awaiting.WORK for task in left):
        return RunExit.WORK
    if awaits_person or any(task.awaiting is not None or task.is_merging for task in left):
        return RunExit.WAITS
    return RunExit.DONE


def summarise(
    tasks: Iterable[Task],
    reason: str,
    code: RunExit,
    iterations: int,
    cost: float,
) -> RunEnded:
    """Returns the last event of a run, which counts the tasks of its scope; `cost` in dollars."""
    scope = list(tasks)
    return RunEnded(
        reason,
        int(code),
        iterations,
        waiting=sum(task.is_open and task.awaiting is not None for task in scope),
        stuck=sum(task.status is Status.STUCK for task in scope),
        done=sum(task.status is Status.DONE for task in scope),
        cost=round(cost, 4),
    )
