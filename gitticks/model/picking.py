"""Finds the task that would be picked first without looking at all of them.

Candidates come in streams that are sorted by priority and age already, so each is read only as far as it takes to
know that nothing better can follow. Whether a task is ready, and which group it is in, is the graph's to say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Generic, TypeVar

from gitticks.model.ids import TaskId
from gitticks.model.queries import Group

if TYPE_CHECKING:
    from gitticks.model.queries import Graph, Surroundings
    from gitticks.model.queued import Queued

T = TypeVar("T", bound="Queued")


class Candidates(Generic[T]):
    """Where workable tasks are found, each stream by priority and age.

    `below` gives those below some epics, at any depth; `children` all that have a parent, `single` all without.
    """

    def __init__(
        self, below: Callable[[Iterable[TaskId]], Iterable[T]], children: Iterable[T], single: Iterable[T]
    ) -> None:
        self.below = below
        self.children = children
        self.single = single


def first_ready(
    graph: Graph[T],
    candidates: Candidates[T],
    around: Surroundings,
    is_wanted: Callable[[T], bool] = lambda _: True,
) -> T | None:
    """Returns the first of `graph.ready` that is wanted, or None."""

    def first(tasks: Iterable[T], best: int) -> T | None:
        """Returns the first by picking order; `best` is a group that none of the tasks comes before."""
        found: dict[int, T] = {}
        for task in tasks:
            if graph.is_ready(task, around) and is_wanted(task):
                group = graph.group(task)
                found.setdefault(group, task)
                if group <= best:
                    break
        return found[min(found)] if found else None

    busy = graph.epics_in_progress()
    begun = first(candidates.below(busy), Group.EPIC_IN_PROGRESS) if busy else None
    if begun is not None and graph.group(begun) == Group.EPIC_IN_PROGRESS:
        return begun
    child = first(candidates.children, Group.EPIC)
    if child is not None and graph.group(child) == Group.EPIC:
        return child
    both = [task for task in (child, first(candidates.single, Group.STANDALONE)) if task is not None]
    return min(both, key=graph.pick_key, default=None)
