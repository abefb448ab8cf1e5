"""The tasks that a run leaves alone because something failed that only a person or another program can put right."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime
from typing import TYPE_CHECKING

from gitticks.errors import GitticksError, RefusedError
from gitticks.model.ids import TaskId
from gitticks.model.task import Task
from gitticks.runner.events import Warned

if TYPE_CHECKING:
    from gitticks.runner.context import RunContext


class LeftAlone:
    """The tasks of one run that are not tried again until somebody changes them."""

    def __init__(self, run: RunContext) -> None:
        self._run = run
        self._updated: dict[TaskId, datetime | None] = {}
        self._refused: set[TaskId] = set()

    @property
    def ids(self) -> Collection[TaskId]:
        """The tasks that are left alone just now."""
        return self._updated.keys()

    def forget_changed(self, tasks: Mapping[TaskId, Task]) -> None:
        """Lets those be tried again that were changed since, or are gone."""
        self._updated = {
            task_id: updated
            for task_id, updated in self._updated.items()
            if task_id in tasks and tasks[task_id].updated == updated
        }

    def note_failure(self, task_id: TaskId, error: GitticksError) -> None:
        """Leaves a task alone whose job failed; one that was refused is looked at once more.

        Somebody may have moved it between the pick and the start.
        """
        if isinstance(error, RefusedError) and task_id not in self._refused:
            self._refused.add(task_id)
        else:
            self.add(task_id, error)

    def note_end(self, task_id: TaskId) -> None:
        """Forgets that a task was refused."""
        self._refused.discard(task_id)

    def add(self, task_id: TaskId, error: GitticksError) -> None:
        """Leaves a task alone until somebody changes it, and says why."""
        found = self._run.open_store().snapshot().all_tasks().get(task_id)
        self._updated[task_id] = None if found is None else found.updated
        hint = f" ({error.hint})" if error.hint else ""
        self._run.emit(Warned(task_id, f"left out of this run: {error.message}{hint}"))
