"""The graph of all tasks, of which the index reads only those that a question comes to."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from gitticks.model.ids import TaskId
from gitticks.model.queries import Candidates, Graph, by_priority_and_age
from gitticks.store.task_row import TaskRow

if TYPE_CHECKING:
    from gitticks.store.index import Index


class IndexedTasks(Mapping[TaskId, TaskRow]):
    """Every readable task by id; `known` are tasks that need not be read again."""

    def __init__(self, index: Index, known: Iterable[TaskRow] = ()) -> None:
        self._index = index
        self._read: dict[TaskId, TaskRow | None] = {task.id: task for task in known}

    def __getitem__(self, task_id: TaskId) -> TaskRow:
        """Returns one task."""
        if task_id not in self._read:
            self._read[task_id] = self._index.find(task_id)
        task = self._read[task_id]
        if task is None:
            raise KeyError(task_id)
        return task

    def __iter__(self) -> Iterator[TaskId]:
        """Yields the ids in their order."""
        return iter(self._index.titles())

    def __len__(self) -> int:
        """Returns how many there are."""
        return len(self._index.titles())


def graph_over(index: Index) -> Graph[TaskRow]:
    """Returns the graph of all tasks of the index, of which it reads those that it is asked about."""
    begun = index.begun()
    return Graph.over(IndexedTasks(index, begun), begun, index.unreadable())


def candidates_in(index: Index) -> Candidates[TaskRow]:
    """Returns where the index finds workable tasks."""
    return Candidates(
        below=lambda epics: _workable_below(index, epics),
        children=index.workable(is_child=True),
        single=index.workable(is_child=False),
    )


def _workable_below(index: Index, epics: Iterable[TaskId]) -> list[TaskRow]:
    found = index.below(epics).values()
    return sorted((task for task in found if task.is_workable), key=by_priority_and_age)
