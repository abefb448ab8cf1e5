"""Puts tasks into layers, so that each stands below all that it waits for, in time that grows with the links alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from gitticks.model.ids import TaskId


@dataclass(frozen=True, slots=True)
class Layering:
    """The layers, the first waiting for nothing, and the links that had to be left out because they close a circle.

    A link is (what is waited for, what waits).
    """

    layers: tuple[tuple[TaskId, ...], ...]
    circular: frozenset[tuple[TaskId, TaskId]]


def lay_out(waits_for: Mapping[TaskId, Iterable[TaskId]]) -> Layering:
    """Returns the layers of tasks that wait for others among them; within a layer the mapping's order stays."""
    circular: set[tuple[TaskId, TaskId]] = set()
    depths: dict[TaskId, int] = {}
    for start in waits_for:
        if start not in depths:
            _walk(start, waits_for, depths, circular)
    layers: list[list[TaskId]] = [[] for _ in range(max(depths.values(), default=-1) + 1)]
    for task_id in waits_for:
        layers[depths[task_id]].append(task_id)
    return Layering(tuple(map(tuple, layers)), frozenset(circular))


def _walk(
    start: TaskId,
    waits_for: Mapping[TaskId, Iterable[TaskId]],
    depths: dict[TaskId, int],
    circular: set[tuple[TaskId, TaskId]],
) -> None:
    """Fills in the depth of a task and of all that it waits for; a way that meets itself is circular there."""
    way: list[TaskId] = []
    on_the_way: dict[TaskId, int] = {}
    choices: list[Iterator[TaskId]] = []

    def enter(task_id: TaskId) -> None:
        way.append(task_id)
        on_the_way[task_id] = 0
        choices.append(iter(waits_for[task_id]))

    enter(start)
    while way:
        here = way[-1]
        source = next(choices[-1], None)
        if source is None:
            choices.pop()
            depths[way.pop()] = depth = on_the_way.pop(here)
            if way:
                on_the_way[way[-1]] = max(on_the_way[way[-1]], depth + 1)
        elif source in on_the_way:
            circular.add((source, here))
        elif source in depths:
            on_the_way[here] = max(on_the_way[here], depths[source] + 1)
        else:
            enter(source)
