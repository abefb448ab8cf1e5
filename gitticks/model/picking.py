"""Finds the task that would be picked first without looking at all of them.

Candidates come in streams that are sorted by priority and age already, so each is read only as far as it takes to
know that nothing better can follow. Whether a task is ready, and which group it is in, is the graph's to say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from gitticks.model.ids import TaskId
from gitticks.model.queries import Group, Surroundings, TaskGraph
from gitticks.model.task import Task


@dataclass(frozen=True, slots=True)
class Candidates:
    """Where workable tasks are found, each stream by priority and age.

    `below` gives those below some epics, at any depth; `children` all that have a parent, `single` all without.
    """

    below: Callable[[Iterable[TaskId]], Iterable[Task]]
    children: Iterable[Task]
    single: Iterable[Task]


def first_ready(
    graph: TaskGraph,
    candidates: Candidates,
    around: Surroundings,
    is_wanted: Callable[[Task], bool] = lambda _: True,
) -> Task | None:
    """Returns the first of `graph.ready` that is wanted, or None."""

    def first(tasks: Iterable[Task], best: Group) -> Task | None:
        """Returns the first by picking order; `best` is a group that none of the tasks comes before."""
        found: dict[Group, Task] = {}
        for task in tasks:
            if graph.is_ready(task, around) and is_wanted(task):
                group = graph.group(task)
                found.setdefault(group, task)
                if group <= best:
                    break
        return found[min(found)] if found else None

    busy = graph.epics_in_progress()
    begun = first(candidates.below(busy), Group.EPIC_IN_PROGRESS) if busy else None
    if begun is not None and graph.group(begun) is Group.EPIC_IN_PROGRESS:
        return begun
    child = first(candidates.children, Group.EPIC)
    if child is not None and graph.group(child) is Group.EPIC:
        return child
    both = [task for task in (child, first(candidates.single, Group.STANDALONE)) if task is not None]
    return min(both, key=graph.pick_key, default=None)
