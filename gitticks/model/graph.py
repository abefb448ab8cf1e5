"""Tasks as a graph: dependency cycles, the code that work needs, topological layers and their columns."""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from gitticks.model.ids import TaskId
from gitticks.model.queries import Graph

if TYPE_CHECKING:
    from gitticks.model.task import Task
    from gitticks.model.task_row import AnyTask


_SHOWN = 8
_SWEEPS = 4
_MOST_LINES_BETWEEN = 20_000

T = TypeVar("T", bound="AnyTask")
N = TypeVar("N", bound=Hashable)
Stop = tuple[TaskId, int]
"""A task in its own layer, or the line that leads from it through a later one."""
Link = tuple[TaskId, TaskId]


def shown(cycle: Sequence[TaskId]) -> str:
    """Returns a cycle in words; a long one is abbreviated."""
    if len(cycle) <= _SHOWN + 2:
        return " → ".join(cycle)
    return " → ".join((*cycle[:_SHOWN], f"… {len(cycle) - 1 - _SHOWN} more …", cycle[-1]))


class _Stop(NamedTuple):
    """A node of the dependency graph: a task or, with `for_children`, only what its children inherit."""

    task_id: TaskId
    for_children: bool = False


def find_cycle(graph: Graph[Any], start: TaskId) -> tuple[TaskId, ...]:
    """Returns a cycle through `start`, as ids from `start` back to it; empty if there is none."""
    first = _Stop(start)
    ways = _depth_first(first, lambda stop: _following(graph, stop), {})
    return min((_ids(way) for way in ways if way[0] == first), key=len, default=())


def find_cycles(graph: Graph[Any], starts: Iterable[TaskId] | None = None) -> tuple[tuple[TaskId, ...], ...]:
    """Returns cycles, each as ids from one task back to it: at least one of each group of tasks that are in any.

    With `starts` only where these lead to.
    """
    left: dict[_Stop, None] = {}
    cycles: list[tuple[TaskId, ...]] = []
    for task_id in sorted(graph.tasks if starts is None else starts):
        for way in _depth_first(_Stop(task_id), lambda stop: _following(graph, stop), left):
            cycles += filter(None, [_ids(way)])
    return tuple(cycles)


def _depth_first(start: N, following: Callable[[N], Iterator[N]], left: dict[N, None]) -> Iterator[list[N]]:
    """Yields the way around from each node to itself that a search from `start` comes upon.

    `left` are the nodes that were searched already, in the order in which they were left.
    """
    way: list[N] = []
    places: dict[N, int] = {}
    choices = [iter((start,) if start not in left else ())]
    while choices:
        node = next(choices[-1], None)
        if node is None:
            choices.pop()
            if way:
                left[way[-1]] = None
                del places[way.pop()]
        elif node in places:
            yield way[places[node] :]
        elif node not in left:
            places[node] = len(way)
            way.append(node)
            choices.append(following(node))


def _following(graph: Graph[Any], here: _Stop) -> Iterator[_Stop]:
    task = graph.tasks.get(here.task_id)
    if task is None or not (task.is_open or here.for_children):
        return
    for blocker in graph.waits_for(task):
        yield _Stop(blocker)
    if task.parent is not None:
        yield _Stop(task.parent, for_children=True)
    if not here.for_children:
        for child in graph.children(here.task_id):
            if child.is_open:
                yield _Stop(child.id)


def _ids(way: Iterable[_Stop]) -> tuple[TaskId, ...]:
    """Returns the tasks of a cycle, with the first one again at its end; none for one of parents alone."""
    ids = [stop.task_id for stop in way if not stop.for_children]
    return (*ids, ids[0]) if ids else ()


def blockers_in_words(graph: Graph[T], task: T) -> list[str]:
    """Returns what a task waits for, each with the reason where the task does not name it itself."""
    carried = {
        graph.carrier_of(blocker): blocker
        for owner in graph.waiting_owners(task)
        for blocker in owner.blocked_by
        if not graph.is_open_id(blocker)
    }
    return [
        f"`{one}` (its branch has the code of `{carried[one]}`)" if one in carried else f"`{one}`"
        for one in graph.open_blockers(task)
    ]


class NeededCode(NamedTuple):
    """A commit that work has to have: with the code of `task`, for which `owner` is blocked by `blocker`."""

    owner: TaskId
    blocker: TaskId
    task: Task
    commit: str


def code_of_blockers(graph: Graph[Task], task: Task) -> Iterator[NeededCode]:
    """Yields the code of the blockers, of a task and of what it is part of, that are done.

    It came into the base by a merge, their own or their epic's, or is on the branch of an epic that is open, or was
    cancelled. Where a person keeps what was made in their own checkout, nobody knows.
    """
    for owner in (task, *graph.open_above(task)):
        for blocker in owner.blocked_by:
            for one in (blocker, *graph.below(blocker)):
                done = graph.tasks.get(one)
                if done is None or done.is_open or done.is_cancelled:
                    continue
                epic = None if done.carrier is None else graph.tasks.get(done.carrier)
                merged = done if epic is None or epic.is_open or epic.is_cancelled else epic
                commit = merged.merged_sha if epic is None or merged is epic else done.end_sha
                if commit is not None:
                    yield NeededCode(owner.id, blocker, merged, commit)


class Layering(NamedTuple):
    """The layers, the first waiting for nothing, and the links that had to be left out because they close a cycle.

    A link is (what is waited for, what waits).
    """

    layers: tuple[tuple[TaskId, ...], ...]
    circular: frozenset[tuple[TaskId, TaskId]]


def lay_out(waits_for: Mapping[TaskId, Iterable[TaskId]]) -> Layering:
    """Returns the tasks in topological layers; within a layer the mapping's order is kept."""
    left: dict[TaskId, None] = {}
    circular: set[tuple[TaskId, TaskId]] = set()
    for start in waits_for:
        ways = _depth_first(start, lambda task_id: iter(waits_for[task_id]), left)
        circular.update((way[0], way[-1]) for way in ways)
    depths: dict[TaskId, int] = {}
    for task_id in left:
        before = (source for source in waits_for[task_id] if (source, task_id) not in circular)
        depths[task_id] = max((depths[source] + 1 for source in before), default=0)
    layers: list[list[TaskId]] = [[] for _ in range(max(depths.values(), default=-1) + 1)]
    for task_id in waits_for:
        layers[depths[task_id]].append(task_id)
    return Layering(tuple(map(tuple, layers)), frozenset(circular))


class Columns(NamedTuple):
    """Each layer's stops from top to bottom, the layer of each task, and the last layer that a line from it leads to.

    `before` and `after` are the stops that each is linked with in the layers beside it.
    """

    stops: list[list[Stop]]
    depths: dict[TaskId, int]
    reach: dict[TaskId, int]
    before: dict[Stop, list[Stop]]
    after: dict[Stop, list[Stop]]

    def last_stop(self, source: TaskId, target: TaskId) -> int:
        """Returns the layer of the last stop of a line before its target."""
        depth = self.depths[target]
        return depth - 1 if self.reach[source] >= depth else self.depths[source]


def columns_of(layers: Sequence[Sequence[TaskId]], links: Collection[Link]) -> Columns:
    """Returns the columns of tasks that are linked so (from, to), each from a layer to a later one."""
    depths = {task_id: number for number, layer in enumerate(layers) for task_id in layer}
    reach = _reach(depths, links)
    columns: list[list[Stop]] = [
        [(task_id, number) for task_id in layer] for number, layer in enumerate(layers)
    ]
    found = Columns(columns, depths, reach, {}, {})

    def join(left: Stop, right: Stop) -> None:
        found.before.setdefault(right, []).append(left)
        found.after.setdefault(left, []).append(right)

    for source, last in reach.items():
        for number in range(depths[source] + 1, last):
            columns[number].append((source, number))
            join((source, number - 1), (source, number))
    for source, target in links:
        join((source, found.last_stop(source, target)), (target, depths[target]))
    _sort(found)
    return found


def _reach(depths: Mapping[TaskId, int], links: Iterable[Link]) -> dict[TaskId, int]:
    """Returns the last layer that a line from each task leads to; the next one for all where that is too much to draw."""
    reach: dict[TaskId, int] = {}
    for source, target in links:
        reach[source] = max(reach.get(source, 0), depths[target])
    if sum(last - depths[source] - 1 for source, last in reach.items()) > _MOST_LINES_BETWEEN:
        return {source: depths[source] + 1 for source in reach}
    return reach


def _sort(found: Columns) -> None:
    """Sorts each layer by where its neighbours stand on average, to and fro."""
    places: dict[Stop, float] = {}
    for column in found.stops:
        places.update(_middles(column))
    for sweep in range(_SWEEPS):
        neighbours = found.after if sweep % 2 else found.before
        for column in reversed(found.stops) if sweep % 2 else found.stops:

            def average(stop: Stop, neighbours: Mapping[Stop, Sequence[Stop]] = neighbours) -> float:
                beside = neighbours.get(stop)
                return sum(places[one] for one in beside) / len(beside) if beside else places[stop]

            column.sort(key=average)
            places.update(_middles(column))


def _middles(column: Sequence[Stop]) -> dict[Stop, float]:
    """Returns how far each stop is from the middle of its layer, which all layers share."""
    return {stop: row - len(column) / 2 for row, stop in enumerate(column)}
