"""Which approved task a run merges next, and which have to wait until something outside has changed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gitticks.errors import GitticksError, RefusedError
from gitticks.model.ids import TaskId
from gitticks.model.task import Task
from gitticks.runner.events import MergeWaits
from gitticks.runner.mergequeue import MergeQueue, in_order_of_approval

if TYPE_CHECKING:
    from gitticks.agents.stopping import StopRequest
    from gitticks.runner.context import RunContext

AGAIN_SECONDS = 5.0
"""How soon a merge is tried again that waits for something that no event tells of, such as a clean checkout."""


@dataclass(frozen=True, slots=True)
class _Wait:
    reason: str
    until: float


class MergeTurns:
    """The merges of one run, one at a time: `next` is not to be called while `merge` runs."""

    def __init__(self, run: RunContext) -> None:
        self._run = run
        self._waits: dict[TaskId, _Wait] = {}

    @property
    def is_waiting(self) -> bool:
        """True if a merge was tried that could not be made."""
        return bool(self._waits)

    def next(self, tasks: Iterable[Task]) -> Task | None:
        """Returns the approved task whose turn it is among these."""
        approved = in_order_of_approval(tasks)
        here = {task.id for task in approved}
        self._waits = {task_id: wait for task_id, wait in self._waits.items() if task_id in here}
        now = self._run.world.monotonic_seconds()
        return next(
            (task for task in approved if task.id not in self._waits or self._waits[task.id].until <= now),
            None,
        )

    def merge(self, task_id: TaskId, stop: StopRequest) -> None:
        """Merges a task, sends it back, or remembers why it waits, which is told once."""
        try:
            waits = MergeQueue(self._run, stop=stop).merge(task_id).waits
        except RefusedError:
            return  # a person took the approval back meanwhile
        except GitticksError as error:
            waits = error.message
        before = self._waits.pop(task_id, None)
        if waits is None:
            return
        self._waits[task_id] = _Wait(waits, self._run.world.monotonic_seconds() + AGAIN_SECONDS)
        if before is None or before.reason != waits:
            self._run.emit(MergeWaits(task_id, waits))
