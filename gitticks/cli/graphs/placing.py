"""Where the boxes of a drawn graph stand: layers from left to right, ordered so that few lines cross.

A line that leads further than to the next layer takes up a place in each layer between, or it would pass behind boxes
and seem to begin there. All lines from one task share theirs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from gitticks.model.ids import TaskId

Stop = tuple[TaskId, int]
Link = tuple[TaskId, TaskId]
Point = tuple[int, int]


BOX_WIDTH, BOX_HEIGHT = 232, 48
_LINE_HEIGHT = 8
_GAP_BETWEEN_LAYERS, _GAP_IN_A_LAYER, _MARGIN = 72, 16, 16
_SWEEPS = 4
_MOST_LINES_BETWEEN = 20_000


class Places(NamedTuple):
    """The upper left corner of each task's box, the points that each link goes through, and the size of the whole.

    A link bends between its first two points, goes straight on to the third, bends to the fourth, and so on. Pixels.
    """

    corners: dict[TaskId, Point]
    ways: dict[Link, list[Point]]
    width: int
    height: int


def place(layers: Sequence[Sequence[TaskId]], links: Collection[Link]) -> Places:
    """Returns where tasks stand that are linked so (from, to), each from a layer to a later one."""
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
    boxes, height = _stack(columns, depths)
    ways = {(source, target): _way(source, target, boxes, depths, reach) for source, target in links}
    corners = {task_id: boxes[task_id, number] for task_id, number in depths.items()}
    width = len(columns) * (BOX_WIDTH + _GAP_BETWEEN_LAYERS) - _GAP_BETWEEN_LAYERS
    return Places(corners, ways, max(0, width) + 2 * _MARGIN, height + 2 * _MARGIN)  # fmt: skip


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


def _stack(columns: Sequence[Sequence[Stop]], depths: Mapping[TaskId, int]) -> tuple[dict[Stop, Point], int]:
    """Returns the upper left corner of each stop, and the height of the tallest layer."""

    def height_of(stop: Stop) -> int:
        return (BOX_HEIGHT if depths[stop[0]] == stop[1] else _LINE_HEIGHT) + _GAP_IN_A_LAYER

    heights = [sum(map(height_of, column)) - _GAP_IN_A_LAYER for column in columns]
    tallest = max(heights, default=0)
    corners: dict[Stop, Point] = {}
    for number, column in enumerate(columns):
        top = _MARGIN + (tallest - heights[number]) // 2
        for stop in column:
            corners[stop] = (_MARGIN + number * (BOX_WIDTH + _GAP_BETWEEN_LAYERS), top)
            top += height_of(stop)
    return corners, max(0, tallest)


def _way(
    source: TaskId,
    target: TaskId,
    corners: Mapping[Stop, Point],
    depths: Mapping[TaskId, int],
    reach: Mapping[TaskId, int],
) -> list[Point]:
    left, top = corners[source, depths[source]]
    points = [(left + BOX_WIDTH, top + BOX_HEIGHT // 2)]
    for number in range(depths[source] + 1, _last_stop(source, target, depths, reach) + 1):
        left, top = corners[source, number]
        points += [(left, top + _LINE_HEIGHT // 2), (left + BOX_WIDTH, top + _LINE_HEIGHT // 2)]
    left, top = corners[target, depths[target]]
    return [*points, (left, top + BOX_HEIGHT // 2)]
