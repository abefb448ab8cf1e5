"""Draws what waits for what on a terminal: layers from top to bottom, with the links as rails beside them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from gitticks.cli.render import Style
from gitticks.cli.table import Column, table_of
from gitticks.cli.views.tasks import waits_for
from gitticks.model.graph_columns import Columns, Link, Stop, columns_of
from gitticks.model.ids import TaskId

if TYPE_CHECKING:
    from gitticks.actions.dependencies import Dependencies
    from gitticks.cli.render import Screen


Point = tuple[int, int]


BOX_WIDTH, BOX_HEIGHT = 232, 48
_LINE_HEIGHT = 8
_GAP_BETWEEN_LAYERS, _GAP_IN_A_LAYER, _MARGIN = 72, 16, 16

_ENDS, _MEETS, _BEGINS = ("╰", "┴"), ("├", "┼"), ("╭", "┬")
"""A rail that ends, is met or begins at a task: as the leftmost one of its line, and as any other."""
_PASSES, _ALONG, _NOTHING = "│", "─", " "
_ASCII = str.maketrans("╰┴├┼╭┬│─", "++++++|-")
_PIPED_RAILS = 40
_SHARE_OF_RAILS = 3
_NARROW = 60
IN_A_CYCLE = "in a cycle"


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
    columns = columns_of(layers, links)
    depths = columns.depths
    boxes, height = _stack(columns.stops, depths)
    ways = {(source, target): _way(source, target, boxes, columns) for source, target in links}
    corners = {task_id: boxes[task_id, number] for task_id, number in depths.items()}
    width = len(columns.stops) * (BOX_WIDTH + _GAP_BETWEEN_LAYERS) - _GAP_BETWEEN_LAYERS
    return Places(corners, ways, max(0, width) + 2 * _MARGIN, height + 2 * _MARGIN)  # fmt: skip


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
    columns: Columns,
) -> list[Point]:
    depths = columns.depths
    left, top = corners[source, depths[source]]
    points = [(left + BOX_WIDTH, top + BOX_HEIGHT // 2)]
    for number in range(depths[source] + 1, columns.last_stop(source, target) + 1):
        left, top = corners[source, number]
        points += [(left, top + _LINE_HEIGHT // 2), (left + BOX_WIDTH, top + _LINE_HEIGHT // 2)]
    left, top = corners[target, depths[target]]
    return [*points, (left, top + BOX_HEIGHT // 2)]


def draw_rails(
    rows: Sequence[TaskId], waits_for: Mapping[TaskId, Collection[TaskId]], *, has_glyphs: bool, widest: int
) -> list[str]:
    """Returns what stands before each row, all equally wide; empty texts where that would be wider than `widest`.

    Each row's task stands below all that it waits for.
    """
    left: dict[TaskId, int] = dict.fromkeys(rows, 0)
    for row in rows:
        for source in waits_for[row]:
            left[source] += 1
    lines: list[str] = []
    rails: list[TaskId | None] = []
    for row in rows:
        lines.append(_line(row, rails, waits_for[row], left))
        if len(lines[-1]) > widest:
            return [""] * len(rows)
    columns = max(map(len, lines), default=0)
    filled = [line.ljust(columns, _ALONG if line and line[-1] == _ALONG else _NOTHING) for line in lines]
    return filled if has_glyphs else [line.translate(_ASCII) for line in filled]


def _line(
    row: TaskId, rails: list[TaskId | None], sources: Collection[TaskId], left: dict[TaskId, int]
) -> str:
    """Returns the rails of one row, and brings them to where they are below it."""
    met = {place for place, rail in enumerate(rails) if rail is not None and rail in sources}
    for source in sources:
        left[source] -= 1
    begins = None
    if left[row]:
        begins = rails.index(None) if None in rails else len(rails)
        rails[begins : begins + 1] = [row]
    first = min(met | ({begins} if begins is not None else set()), default=len(rails))
    line = ""
    for place, rail in enumerate(rails):
        is_later = place > first
        if place in met:
            sign = (_MEETS if rail is not None and left[rail] else _ENDS)[is_later]
        elif place == begins:
            sign = _BEGINS[is_later]
        elif rail is not None:
            sign = _PASSES
        else:
            sign = _ALONG if is_later else _NOTHING
        line += sign + (_ALONG if place >= first else _NOTHING)
    for place in met:
        rail = rails[place]
        if rail is not None and not left[rail]:
            rails[place] = None
    while rails and rails[-1] is None:
        rails.pop()
    return line


def graph_lines(on: Screen, found: Dependencies) -> list[str]:
    """Returns one line for each task, all that it waits for above it; none where nothing waits."""
    standings = found.standings
    sources: dict[TaskId, list[TaskId]] = {one.task.id: [] for one in standings}
    for edge in found.edges:
        if not edge.is_circular:
            sources[edge.target].append(edge.source)
    circling = {edge.target for edge in found.edges if edge.is_circular}
    widest = on.columns // _SHARE_OF_RAILS if on.is_terminal else _PIPED_RAILS
    rails = draw_rails(list(sources), sources, has_glyphs=on.has_glyphs, widest=widest)
    steps = [
        "" if place else str(step)
        for step, layer in enumerate(found.layers, start=1)
        for place in range(len(layer))
    ]
    reasons = [
        ", ".join(filter(None, (waits_for(one), IN_A_CYCLE if one.task.id in circling else "")))
        for one in standings
    ]
    columns = [
        Column("step", steps, Style.FAINT, ours=True),
        Column(
            f"{' ' * max(map(len, rails), default=0)}  id",
            [f"{rail}{on.glyph(one.task.status)} {one.task.id}" for rail, one in zip(rails, standings, strict=True)],
            ours=True,
        ),
        Column("title", [one.task.title for one in standings]),
    ]  # fmt: skip
    if not (on.is_terminal and on.columns < _NARROW and any(rails)):
        styles = [
            Style.BAD if one.task.id in circling else Style.WAITS if one.task.awaiting else Style.FAINT
            for one in standings
        ]
        columns.append(Column("waits", reasons, styles, ours=True))
    return list(table_of(on, columns, flexible="title"))
