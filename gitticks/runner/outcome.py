"""How a run ends: its exit codes, and which one a set of tasks asks for."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum

from gitticks.model.status import Awaiting, Status
from gitticks.model.task import Task


class RunExit(IntEnum):
    """Exit codes of `gt run`; where several apply the order of `judge` decides."""

    DONE = 0
    LIMIT = 1
    WORK = 2
    WAITS = 3
    STUCK = 4
    USAGE = 64
    INTERRUPTED = 130


def judge(tasks: Iterable[Task], *, interrupted: bool, limit_reached: bool) -> RunExit:
    """Returns the exit code for the tasks of a run's scope as they stand at its end."""
    if interrupted:
        return RunExit.INTERRUPTED
    if limit_reached:
        return RunExit.LIMIT
    left = [task for task in tasks if task.is_open]
    if any(task.status is Status.STUCK for task in left):
        return RunExit.STUCK
    if any(task.awaiting is Awaiting.WORK for task in left):
        return RunExit.WORK
    if any(task.awaiting is not None for task in left):
        return RunExit.WAITS
    return RunExit.DONE
