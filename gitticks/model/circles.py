"""Finds tasks that wait for themselves by way of others, in time that grows with the number of links alone.

A task waits for its blockers and its ancestors' blockers, an epic for its children.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from gitticks.model.ids import TaskId
from gitticks.model.queries import Graph

_SHOWN = 8


def shown(circle: Sequence[TaskId]) -> str:
    """Returns a circle in words; of a long one its beginning, how many tasks it has, and its end."""
    if len(circle) <= _SHOWN + 2:
        return " → ".join(circle)
    return " → ".join((*circle[:_SHOWN], f"… {len(circle) - 1 - _SHOWN} more …", circle[-1]))


@dataclass(frozen=True, slots=True)
class _Stop:
    """A place on a way of waiting: a task, or, `for_children`, only what it hands down to those below it."""

    task_id: TaskId
    for_children: bool = False


def find_circle(graph: Graph[Any], start: TaskId) -> tuple[TaskId, ...]:
    """Returns a shortest circle that `start` is part of, as ids from `start` back to it; empty if there is none."""
    first = _Stop(start)
    came_from: dict[_Stop, _Stop] = {}
    waiting = deque([first])
    while waiting:
        here = waiting.popleft()
        for following in _following(graph, here):
            if following == first:
                return _ids(_way_to(here, came_from))
            if following not in came_from:
                came_from[following] = here
                waiting.append(following)
    return ()


def find_circles(graph: Graph[Any], starts: Iterable[TaskId] | None = None) -> tuple[tuple[TaskId, ...], ...]:
    """Returns circles, each as ids from one task back to it: at least one of each knot of tasks that are in any.

    Args:
        graph: the tasks.
        starts: look only where these lead to; None for everywhere.
    """
    left: set[_Stop] = set()
    circles: list[tuple[TaskId, ...]] = []
    for task_id in sorted(graph.tasks if starts is None else starts):
        if _Stop(task_id) not in left:
            circles += _circles_from(graph, _Stop(task_id), left)
    return tuple(circles)


def _circles_from(graph: Graph[Any], start: _Stop, left: set[_Stop]) -> Iterator[tuple[TaskId, ...]]:
    """Walks on from `start` in depth and yields a circle wherever the way meets itself; `left` were walked already."""
    way = [start]
    places = {start: 0}
    choices = [_following(graph, start)]
    while way:
        following = next(choices[-1], None)
        if following is None:
            left.add(way[-1])
            del places[way.pop()]
            choices.pop()
        elif following in places:
            circle = _ids(way[places[following] :])
            if circle:
                yield circle
        elif following not in left:
            places[following] = len(way)
            way.append(following)
            choices.append(_following(graph, following))


def _following(graph: Graph[Any], here: _Stop) -> Iterator[_Stop]:
    task = graph.tasks.get(here.task_id)
    if task is None or not (task.is_open or here.for_children):
        return
    for blocker in task.blocked_by:
        if graph.is_open_id(blocker):
            yield _Stop(blocker)
    if task.parent is not None:
        yield _Stop(task.parent, for_children=True)
    if not here.for_children:
        for child in graph.children(here.task_id):
            if child.is_open:
                yield _Stop(child.id)


def _way_to(end: _Stop, came_from: dict[_Stop, _Stop]) -> list[_Stop]:
    way = [end]
    while way[-1] in came_from:
        way.append(came_from[way[-1]])
    return way[::-1]


def _ids(way: Iterable[_Stop]) -> tuple[TaskId, ...]:
    """Returns the tasks of a circle, with the first one again at its end; none for one of parents alone."""
    ids = [stop.task_id for stop in way if not stop.for_children]
    return (*ids, ids[0]) if ids else ()
