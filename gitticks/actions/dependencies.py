"""Finds dependencies in layers and their cycles, each with the command that breaks it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice, pairwise, takewhile
from operator import attrgetter
from typing import NamedTuple, TypeVar

from gitticks.actions.context import Context
from gitticks.actions.derived_state import Standing, by_closing, standings_of
from gitticks.model.graph import find_cycles, lay_out, shown
from gitticks.model.ids import TaskId
from gitticks.model.queries import Graph
from gitticks.model.task_row import AnyTask, TaskRow

Links = dict[TaskId, list[TaskId]]


_MOST_INHERITED = 20
"""How many blockers of epics above it are drawn for each task; more would only hide its own, and take forever."""

_MOST_EPICS = 6
"""How many epics above a task are shown."""

T = TypeVar("T", bound="AnyTask")


class Edge(NamedTuple):
    """`target` waits for `source`, which is a blocker of it or of an epic above it.

    `is_part`: it is the epic that waits for its child. `is_circular`: this link closes a cycle.
    """

    source: TaskId
    target: TaskId
    is_part: bool = False
    is_circular: bool = False


class Dependencies(NamedTuple):
    """The linked tasks in layers, each in picking order, with the links between them in the order of their targets.

    `epics` are the open epics that each task is part of, outermost first; an epic with a task here is part of itself.
    `left_out` is how many tasks were looked at that have no link here.
    """

    layers: tuple[tuple[Standing[TaskRow], ...], ...]
    edges: tuple[Edge, ...]
    epics: dict[TaskId, tuple[TaskRow, ...]]
    left_out: int

    @property
    def standings(self) -> list[Standing[TaskRow]]:
        """Returns all tasks, layer by layer."""
        return [one for layer in self.layers for one in layer]


def find_dependencies(
    context: Context, task: str | None = None, *, with_closed: bool = False
) -> Dependencies:
    """Returns what open tasks wait for, closed ones too where that is wanted or a closed task is named.

    With a task: what it and all below it wait for, however indirectly, and what waits for it.
    """
    index = context.index
    named = None if task is None else context.resolve(task)
    rows = index.listed(open_only=not with_closed, with_json=context.as_json)
    if named is not None and not with_closed and all(row.id != named for row in rows):
        with_closed, rows = True, index.listed(with_json=context.as_json)
    graph = index.graph(rows)
    if named is not None and named not in graph.tasks:
        index.task(named)  # says what is wrong with its file
    blockers = {row.id: _blockers(graph, row, with_closed=with_closed) for row in rows}
    parts = {row.id: [child.id for child in graph.children(row.id)] for row in rows if row.is_epic}
    if named is None:  # whatever waits for a blocker or is one, and what is below the epics among these
        touched = {one for task_id, found in blockers.items() if found for one in (task_id, *found)}
        members = _reached(touched, [parts])
    else:
        members = _around(named, graph, blockers, parts)
    ordered = graph.in_picking_order(row for row in rows if row.is_open and row.id in members)
    ordered += sorted((row for row in rows if not row.is_open and row.id in members), key=by_closing)
    sources = {row.id: _sources(row.id, members, blockers, parts) for row in ordered}
    layering = lay_out(sources)
    standings = {one.task.id: one for one in standings_of(context, ordered, graph)}
    return Dependencies(
        layers=tuple(tuple(standings[one] for one in layer) for layer in layering.layers),
        edges=tuple(
            Edge(source, target, source not in blockers[target], (source, target) in layering.circular)
            for target, found in sources.items()
            for source in found
        ),
        epics=_epics(graph, members),
        left_out=sum(row.is_open for row in rows) - sum(row.is_open for row in ordered),
    )


def _blockers(graph: Graph[TaskRow], task: TaskRow, *, with_closed: bool) -> list[TaskId]:
    """Returns what a task waits for: all blockers of its own, and the nearest of those that the epics above it have."""
    own = task.blocked_by if with_closed else graph.waits_for(task)
    inherited: Iterable[TaskId] = ()
    if task.is_open and task.parent is not None:
        owners = islice(graph.waiting_owners(task), 1, None)
        blockers = (one for owner in owners for one in graph.waits_for(owner))
        inherited = islice(blockers, _MOST_INHERITED)
    return [one for one in dict.fromkeys((*own, *inherited)) if one in graph.tasks and one != task.id]


def _epics(graph: Graph[TaskRow], members: Iterable[TaskId]) -> dict[TaskId, tuple[TaskRow, ...]]:
    """Returns the epics that each task is part of, outermost first."""
    found: dict[TaskId, list[TaskRow]] = {}
    for task_id in members:
        above = takewhile(attrgetter("is_epic"), graph.ancestors(graph.tasks[task_id]))
        found[task_id] = [*above][::-1]
    holding = {epic.id for epics in found.values() for epic in epics}
    for task_id, epics in found.items():
        if task_id in holding:
            epics.append(graph.tasks[task_id])
    return {task_id: tuple(epics[:_MOST_EPICS]) for task_id, epics in found.items()}


def _sources(task_id: TaskId, members: set[TaskId], blockers: Links, parts: Links) -> list[TaskId]:
    found = dict.fromkeys((*blockers[task_id], *parts.get(task_id, ())))
    return [one for one in found if one in members and one != task_id]


def _around(named: TaskId, graph: Graph[TaskRow], blockers: Links, parts: Links) -> set[TaskId]:
    """Returns a task, all below it, all that these wait for, and all that waits for the task."""
    waiting: Links = {}
    for links in (blockers, parts):
        for target, sources in links.items():
            for source in sources:
                waiting.setdefault(source, []).append(target)
    return _reached({named} | graph.below(named), [blockers, parts]) | _reached({named}, [waiting])


def _reached(starts: Iterable[TaskId], ways: Iterable[Links]) -> set[TaskId]:
    reached = set(starts)
    waiting = list(reached)
    while waiting:
        here = waiting.pop()
        for links in ways:
            for following in links.get(here, ()):
                if following not in reached:
                    reached.add(following)
                    waiting.append(following)
    return reached


class Cycle(NamedTuple):
    """Tasks from one back to itself, and what to type."""

    tasks: tuple[TaskId, ...]
    fix: str

    @property
    def words(self) -> str:
        """Returns the cycle in words; of a long one its beginning and its end."""
        return shown(self.tasks)


def cycles_of(graph: Graph[T]) -> Iterator[Cycle]:
    """Yields at least one cycle of each group of open tasks that are in any.

    Only what has a blocker, or a parent and children, can close one, so a repository without links costs nothing.
    """
    tasks = graph.tasks.values()
    starts = [one.id for one in tasks if one.blocked_by or (one.parent and graph.has_children(one.id))]
    if not starts:
        return

    for cycle in find_cycles(graph, starts):
        yield Cycle(cycle, _way_out(graph, cycle))


def _way_out(graph: Graph[T], cycle: tuple[TaskId, ...]) -> str:
    """Returns the command that takes one link out of a cycle: a blocker of a task in it, or of an ancestor."""
    links = [(graph.tasks[waiting], blocker) for waiting, blocker in pairwise(cycle)]
    for task, blocker in links:
        if blocker in task.blocked_by:
            return f"`gt unblock {task.id} {blocker}`"
    for task, blocker in links:
        # Asking each of ten thousand parents in a cycle for all of its ancestors would take minutes.
        if blocker == task.parent or graph.tasks[blocker].parent == task.id:
            continue
        for owner in graph.waiting_owners(task):
            if blocker in owner.blocked_by:
                return f"`gt unblock {owner.id} {blocker}`"
    return f"`gt update {cycle[0]} --parent=null`"
