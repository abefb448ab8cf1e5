"""Tasks in the order of a tree: each epic, then what is below it, as deep as it goes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from gitticks.model.ids import TaskId

if TYPE_CHECKING:
    from gitticks.model.queries import Graph
    from gitticks.model.queued import Queued

T = TypeVar("T", bound="Queued")


class Place(Generic[T]):
    """A task in the tree; `task` is None for the closed ones below one task, folded into one place, `closed` of them.

    `is_last` if nothing follows it below the same task. `is_again` where parents run in a circle and the task was met
    before: what is below it is not told again. `has_below` if other places follow one level deeper.
    """

    __slots__ = ("closed", "depth", "has_below", "is_again", "is_last", "task")

    def __init__(
        self,
        task: T | None,
        depth: int,
        *,
        closed: int = 0,
        is_last: bool = True,
        is_again: bool = False,
        has_below: bool = False,
    ) -> None:
        self.task = task
        self.depth = depth
        self.closed = closed
        self.is_last = is_last
        self.is_again = is_again
        self.has_below = has_below


class Forest(Generic[T]):
    """The tops of all trees, each group in its order.

    `epics` are tops with something below them, or meant to have; `orphans` are open tasks whose parent is closed or
    gone; `circles` has one task of each circle of parents, which no top leads to.
    """

    __slots__ = ("circles", "epics", "orphans", "standalone")

    def __init__(self, epics: list[T], standalone: list[T], orphans: list[T], circles: list[T]) -> None:
        self.epics = epics
        self.standalone = standalone
        self.orphans = orphans
        self.circles = circles


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
    return Forest(epics, standalone, orphans, _circles(graph))


def _circles(graph: Graph[T]) -> list[T]:
    """Returns a first task of each circle of parents: what no top leads to hangs on one of these."""
    left = _without_top(graph)
    firsts: list[T] = []
    while left:
        inside = _inside_a_circle(graph, next(iter(left.values())))
        first = min(inside, key=in_tree_order)
        firsts.append(first)
        for place in walk([first], graph.children):
            if place.task is not None:
                left.pop(place.task.id, None)
    return sorted(firsts, key=in_tree_order)


def _without_top(graph: Graph[T]) -> dict[TaskId, T]:
    """Returns the tasks whose ancestors run in a circle, each looked at once."""
    tasks = graph.tasks
    found: dict[TaskId, T] = {}
    known: set[TaskId] = set()
    for task_id in tasks:
        way: dict[TaskId, T] = {}
        here: TaskId | None = task_id
        while here is not None and here in tasks and here not in known and here not in way:
            way[here] = tasks[here]
            here = tasks[here].parent
        known.update(way)
        if here in way or here in found:
            found |= way
    return found


def _inside_a_circle(graph: Graph[T], task: T) -> list[T]:
    """Returns the tasks of the circle that a task's ancestors run into."""
    way: dict[TaskId, T] = {}
    here = task
    while here.id not in way and here.parent is not None:
        way[here.id] = here
        here = graph.tasks[here.parent]
    ids = list(way)
    return [way[one] for one in ids[ids.index(here.id) :]]


def walk(
    tops: Iterable[T],
    children: Callable[[TaskId], Sequence[T]],
    closed: Mapping[TaskId | None, int] | None = None,
) -> Iterator[Place[T]]:
    """Yields the places of some trees from their tops down, open children before closed ones.

    Args:
        tops: where each tree begins.
        children: gives a task's children in their order.
        closed: how many more to fold in below each task.
    """
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
            place.is_again = True
            yield place
            continue
        met.add(task.id)
        below = _below(place, sorted(children(task.id), key=_is_closed), folded.get(task.id, 0))
        place.has_below = bool(below)
        yield place
        waiting += reversed(below)


def _below(place: Place[T], children: Sequence[T], closed: int) -> list[Place[T]]:
    depth = place.depth + 1
    below = [Place(child, depth, is_last=False) for child in children]
    if closed:
        below.append(Place(None, depth, closed=closed))
    if below:
        below[-1].is_last = True
    return below


def _is_closed(task: Queued) -> bool:
    return not task.is_open


def in_tree_order(task: Queued) -> tuple[bool, int, str, str]:
    """Returns the key that sorts open tasks before closed ones, and the most urgent and then the oldest first."""
    return (not task.is_open, task.priority, task.born, task.id)
