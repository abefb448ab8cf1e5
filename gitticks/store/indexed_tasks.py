"""The tasks of the index as a mapping that reads each when it is asked for, so that few questions read few tasks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from gitticks.model.ids import TaskId
from gitticks.model.picking import Candidates
from gitticks.model.queries import TaskGraph, by_priority_and_age, is_workable
from gitticks.model.task import Task
from gitticks.store.index import Index


class IndexedTasks(Mapping[TaskId, Task]):
    """Every readable task by id; `known` are tasks that need not be read again."""

    def __init__(self, index: Index, known: Iterable[Task] = ()) -> None:
        self._index = index
        self._read: dict[TaskId, Task | None] = {task.id: task for task in known}

    def __getitem__(self, task_id: TaskId) -> Task:
        """Returns one task."""
        if task_id not in self._read:
            self._read[task_id] = self._index.find_task(task_id)
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


def graph_over(index: Index) -> TaskGraph:
    """Returns the graph of all tasks of the index, of which it reads those that it is asked about."""
    begun = index.begun()
    return TaskGraph.over(IndexedTasks(index, begun), begun, index.unreadable())


def candidates_in(index: Index) -> Candidates:
    """Returns where the index finds workable tasks."""
    return Candidates(
        below=lambda epics: _workable_below(index, epics),
        children=index.workable(is_child=True),
        single=index.workable(is_child=False),
    )


def _workable_below(index: Index, epics: Iterable[TaskId]) -> list[Task]:
    found: dict[TaskId, Task] = {}
    waiting = list(epics)
    while waiting:
        for child in index.children(waiting.pop()):
            if child.id not in found:
                found[child.id] = child
                waiting.append(child.id)
    return sorted((task for task in found.values() if is_workable(task)), key=by_priority_and_age)
