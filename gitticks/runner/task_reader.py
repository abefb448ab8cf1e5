"""All tasks as they stand, for a loop that looks several times a second and mostly finds nothing new."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from gitticks.git.refs import read_ref
from gitticks.model.ids import TaskId
from gitticks.model.queries import TaskGraph
from gitticks.model.task import Task
from gitticks.runner.scope import in_scope
from gitticks.store.index import open_index
from gitticks.store.layout import STATE_REF

if TYPE_CHECKING:
    from gitticks.runner.context import RunContext


class TaskReader:
    """Reads the tasks of one run again only when the state branch has moved; for one thread.

    Attributes:
        conflicted: the tasks with a conflict that nobody has settled, as of the last look.
    """

    def __init__(self, run: RunContext) -> None:
        self._run = run
        self._tip: str | None = None
        self._graph = TaskGraph({})
        self._scope: dict[TaskId, Task] | None = None
        self.conflicted: Mapping[TaskId, int] = {}

    def graph(self) -> TaskGraph:
        """Returns all tasks at the state branch's tip."""
        tip = read_ref(self._run.repository.common_dir, STATE_REF)
        if tip is None or tip != self._tip:
            store = self._run.open_store()
            self._tip = store.tip()
            snapshot = store.snapshot(self._tip)
            with open_index(self._run.repository) as index:
                self.conflicted = index.conflicts()
            self._graph = TaskGraph.of(snapshot.all_tasks().values(), snapshot.unreadable_ids())
            self._scope = None
        return self._graph

    def in_scope(self) -> dict[TaskId, Task]:
        """Returns the tasks that the run is for, the same object as long as the state branch does not move."""
        graph = self.graph()
        if self._scope is None:
            self._scope = in_scope(graph, self._run.options)
        return self._scope
