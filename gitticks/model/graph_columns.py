"""Arranges layers of linked tasks in columns with few crossings."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from gitticks.model.ids import TaskId

Stop = tuple[TaskId, int]
"""A task in its own layer, or the line that leads from it through a later one."""
Link = tuple[TaskId, TaskId]

_SWEEPS = 4
_MOST_LINES_BETWEEN = 20_000


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
        return _last_stop(source, target, self.depths, self.reach)


def columns_of(layers: Sequence[Sequence[TaskId]], links: Collection[Link]) -> Columns:
    """Returns the columns of tasks that are linked so (from, to), each from a layer to a later one."""
    depths = {task_id: number for number, layer in enumerate(layers) for task_id in layer}
    reach = _reach(depths, links)
    columns: list[list[Stop]] = [
        [(task_id, number) for task_id in layer] for number, layer in enumerate(layers)
    ]
    before: dict[Stop, list[Stop]] = {}
    after: dict[Stop, list[Stop]] = {}

    def join(left: Stop, right: Stop) -> None:
        before.setdefault(right, []).append(left)
        after.setdefault(left, []).append(right)

    for source, last in reach.items():
        for number in range(depths[source] + 1, last):
            columns[number].append((source, number))
            join((source, number - 1), (source, number))
    for source, target in links:
        join((source, _last_stop(source, target, depths, reach)), (target, depths[target]))
    _sort(columns, before, after)
    return Columns(columns, depths, reach, before, after)


def _reach(depths: Mapping[TaskId, int], links: Iterable[Link]) -> dict[TaskId, int]:
    """Returns the last layer that a line from each task leads to; the next one for all where that is too much to draw."""
    reach: dict[TaskId, int] = {}
    for source, target in links:
        reach[source] = max(reach.get(source, 0), depths[target])
    if sum(last - depths[source] - 1 for source, last in reach.items()) > _MOST_LINES_BETWEEN:
        return {source: depths[source] + 1 for source in reach}
    return reach


def _last_stop(
    source: TaskId, target: TaskId, depths: Mapping[TaskId, int], reach: Mapping[TaskId, int]
) -> int:
    """Returns the layer of the last stop of a line before its target."""
    return depths[target] - 1 if reach[source] >= depths[target] else depths[source]


def _sort(
    columns: list[list[Stop]], before: Mapping[Stop, Sequence[Stop]], after: Mapping[Stop, Sequence[Stop]]
) -> None:
    """Sorts each layer by where its neighbours stand on average, to and fro."""
    places: dict[Stop, float] = {}
    for column in columns:
        places.update(_middles(column))
    for sweep in range(_SWEEPS):
        neighbours = after if sweep % 2 else before
        for column in reversed(columns) if sweep % 2 else columns:

            def average(stop: Stop, neighbours: Mapping[Stop, Sequence[Stop]] = neighbours) -> float:
                found = neighbours.get(stop)
                return sum(places[one] for one in found) / len(found) if found else places[stop]

            column.sort(key=average)
            places.update(_middles(column))


def _middles(column: Sequence[Stop]) -> dict[Stop, float]:
    """Returns how far each stop is from the middle of its layer, which all layers share."""
    return {stop: row - len(column) / 2 for row, stop in enumerate(column)}
