"""The tree of epics: its tops, what is below them, and parents that run in a cycle."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from gitticks.model.ids import TaskId

if TYPE_CHECKING:
    from gitticks.model.queries import Graph
    from gitticks.model.task_row import AnyTask

T = TypeVar("T", bound="AnyTask")


class Place(NamedTuple, Generic[T]):
    """A task in the tree; `task` is None for the closed ones below one task, folded into one place, `closed` of them.

    `is_last` if nothing follows it below the same task. `is_again` where parents run in a cycle and the task was met
    before: what is below it is not told again. `has_below` if other places follow one level deeper.
    """

    task: T | None
    depth: int
    closed: int = 0
    is_last: bool = True
    is_again: bool = False
    has_below: bool = False


class Forest(NamedTuple, Generic[T]):
    """The tops of all trees, each group in its order.

    `epics` are tops with something below them, or meant to have; `orphans` are open tasks whose parent is closed or
    gone; `cycles` has one task of each cycle of parents, which no top leads to.
    """

    epics: list[T]
    standalone: list[T]
    orphans: list[T]
    cycles: list[T]


def forest_of(graph: Graph[T], has_children: Callable[[TaskId], bool]) -> Forest[T]:
    """Returns the tops among the tasks of a graph; a task whose parent is not in it is one."""
    tops = sorted(
        (task for task in graph.tasks.values() if task.parent not in graph.tasks), key=in_tree_order
    )
    epics: list[T] = []
    standalone: list[T] = []
    orphans: list[T] = []
    for task in tops:
        if task.parent is not None:
            orphans.append(task)
        elif task.is_epic or has_children(task.id):
            epics.append(task)
        else:
            standalone.append(task)
    return Forest(epics, standalone, orphans, _cycles(graph))


def _cycles(graph: Graph[T]) -> list[T]:
    """Returns one task of each cycle of parents, since no root leads to those."""
    tasks = graph.tasks
    cycles = cycles_of_parents(tasks, lambda one: tasks[one].parent if one in tasks else None)
    return sorted(
        (min((tasks[one] for one in cycle), key=in_tree_order) for cycle in cycles), key=in_tree_order
    )


def cycles_of_parents(
    tasks: Iterable[TaskId], parent_of: Callable[[TaskId], TaskId | None]
) -> Iterator[list[TaskId]]:
    """Yields each cycle of parents that some tasks lead to, from child to parent; each task is looked at once."""
    settled: set[TaskId] = set()
    for first in tasks:
        way: dict[TaskId, None] = {}
        here: TaskId | None = first
        while here is not None and here not in settled:
            settled.add(here)
            way[here] = None
            here = parent_of(here)
        if here in way:
            ids = list(way)
            yield ids[ids.index(here) :]


def walk(
    tops: Iterable[T],
    children: Callable[[TaskId], Sequence[T]],
    closed: Mapping[TaskId | None, int] | None = None,
) -> Iterator[Place[T]]:
    """Yields the places of some trees from their tops down, open children before closed ones."""
    folded: Mapping[Any, int] = closed or {}
    met: set[TaskId] = set()
    waiting = [Place(top, 0) for top in tops][::-1]
    while waiting:
        place = waiting.pop()
        task = place.task
        if task is None:
            yield place
            continue
        if task.id in met:
            yield place._replace(is_again=True)
            continue
        met.add(task.id)
        open_first = sorted(children(task.id), key=lambda one: not one.is_open)
        below = _below(place.depth + 1, open_first, folded.get(task.id, 0))
        yield place._replace(has_below=bool(below))
        waiting += reversed(below)


def _below(depth: int, children: Sequence[T], closed: int) -> list[Place[T]]:
    last = None if closed else len(children)
    below = [Place(child, depth, is_last=number == last) for number, child in enumerate(children, 1)]
    return [*below, Place(None, depth, closed)] if closed else below


def in_tree_order(task: AnyTask) -> tuple[bool, int, str, str]:
    """Returns the key that sorts open tasks before closed ones, and the most urgent and then the oldest first."""
    return (not task.is_open, task.priority, task.born, task.id)
