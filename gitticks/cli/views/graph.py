"""Draws dependencies on a terminal: layers from top to bottom, links as rails next to them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from gitticks.actions.derived_state import Standing
from gitticks.cli.render import GAP, NARROWEST_TITLE, Screen, Style
from gitticks.cli.table import Cell, Column, table_of
from gitticks.cli.text import visible, wrap
from gitticks.cli.views.tasks import waits_for
from gitticks.model.graph_columns import Columns, Link, Stop, columns_of
from gitticks.model.ids import TaskId
from gitticks.model.status import Status
from gitticks.store.task_row import TaskRow

if TYPE_CHECKING:
    from gitticks.actions.dependencies import Dependencies


Point = tuple[int, int]


BOX_WIDTH, BOX_HEIGHT = 232, 48
_LINE_HEIGHT = 8
_GAP_BETWEEN_LAYERS, _GAP_IN_A_LAYER, _MARGIN = 72, 16, 16
_FRAME, _FRAME_TITLE = 8, 26

_ENDS, _MEETS, _BEGINS = ("╰", "┴"), ("├", "┼"), ("╭", "┬")
"""A rail that ends, is met or begins at a task: as the leftmost one of its line, and as any other."""
_PASSES, _ALONG, _NOTHING = "│", "─", " "
_ASCII = str.maketrans("╰┴├┼╭┬│─", "++++++|-")
_BELOW = str.maketrans("├┼╭┬╰┴─", "││││   ")
"""What is below a line of rails, where the title beside it continues."""
_PIPED_RAILS = 40
_SHARE_OF_RAILS = 3
_NARROW = 60
IN_A_CYCLE = "in a cycle"


class Frame(NamedTuple):
    """The frame of an epic: its left upper and its right lower corner."""

    epic: TaskId
    corner: Point
    opposite: Point


class Places(NamedTuple):
    """The upper left corner of each task's box, the points that each link goes through, and the size of the whole.

    A link bends between its first two points, goes straight on to the third, bends to the fourth, and so on. Pixels.
    `frames` are those of epics, each before those inside it.
    """

    corners: dict[TaskId, Point]
    ways: dict[Link, list[Point]]
    width: int
    height: int
    frames: tuple[Frame, ...] = ()


def place(
    layers: Sequence[Sequence[TaskId]],
    links: Collection[Link],
    *,
    epics: Mapping[TaskId, Sequence[TaskId]] | None = None,
    heights: Mapping[TaskId, int] | None = None,
) -> Places:
    """Returns where tasks stand."""
    columns = columns_of(layers, links)
    stack = _Stack(columns, heights or {}, epics or {})
    bottom = stack.height()
    ways = {(source, target): stack.way(source, target) for source, target in links}
    corners = {task_id: stack.corners[task_id, number] for task_id, number in columns.depths.items()}
    width = len(columns.stops) * (BOX_WIDTH + _GAP_BETWEEN_LAYERS) - _GAP_BETWEEN_LAYERS
    return Places(corners, ways, max(0, width) + 2 * stack.margin, bottom + _MARGIN, tuple(stack.frames))


class _Band:
    """What one frame holds: the stops that are in no frame inside it, column by column, and those frames."""

    def __init__(self, columns: int) -> None:
        self.own: list[list[Stop]] = [[] for _ in range(columns)]
        self.inner: dict[TaskId, _Band] = {}

    @property
    def depth(self) -> int:
        """Returns how many frames lie within one another."""
        return max((1 + band.depth for band in self.inner.values()), default=0)


class _Stack:
    """Stacks each layer from top to bottom, frames below what stands in none."""

    def __init__(
        self, columns: Columns, heights: Mapping[TaskId, int], epics: Mapping[TaskId, Sequence[TaskId]]
    ) -> None:
        self.corners: dict[Stop, Point] = {}
        self.frames: list[Frame] = []
        self._columns = columns
        self._heights = heights
        self._all = _Band(len(columns.stops))
        for number, column in enumerate(columns.stops):
            for stop in column:
                band = self._all
                for epic in epics.get(stop[0], ()):
                    band = band.inner.setdefault(epic, _Band(len(columns.stops)))
                band.own[number].append(stop)
        self.margin = _MARGIN + _FRAME * self._all.depth

    def height(self) -> int:
        """Places everything, and returns where it ends."""
        return self._place(self._all, _MARGIN)[0]

    def _place(self, band: _Band, top: int) -> tuple[int, int, int]:
        """Places a band and returns where it ends below, and where its boxes and frames begin and end."""
        sizes = [sum(map(self._height_of, column)) - _GAP_IN_A_LAYER for column in band.own]
        bottom = top + max(0, *sizes, 0)
        left, right = self.margin + len(sizes) * (BOX_WIDTH + _GAP_BETWEEN_LAYERS), 0
        for number, column in enumerate(band.own):
            x, y = (
                self.margin + number * (BOX_WIDTH + _GAP_BETWEEN_LAYERS),
                top + (bottom - top - sizes[number]) // 2,
            )
            for stop in column:
                self.corners[stop] = (x, y)
                y += self._height_of(stop)
                if self._is_box(stop):
                    left, right = min(left, x), max(right, x + BOX_WIDTH)
        for epic, inner in band.inner.items():
            begin = bottom + (_GAP_IN_A_LAYER if bottom > top else 0)
            place = len(self.frames)
            below, first, last = self._place(inner, begin + _FRAME_TITLE)
            bottom = below + _FRAME
            self.frames.insert(place, Frame(epic, (first - _FRAME, begin), (last + _FRAME, bottom)))
            left, right = min(left, first - _FRAME), max(right, last + _FRAME)
        return bottom, left, right

    def _is_box(self, stop: Stop) -> bool:
        return self._columns.depths[stop[0]] == stop[1]

    def _height_of(self, stop: Stop) -> int:
        height = self.box_height(stop[0]) if self._is_box(stop) else _LINE_HEIGHT
        return height + _GAP_IN_A_LAYER

    def box_height(self, task_id: TaskId) -> int:
        """Returns how high a task's box is."""
        return self._heights.get(task_id, BOX_HEIGHT)

    def way(self, source: TaskId, target: TaskId) -> list[Point]:
        """Returns the points that a link goes through."""
        depths = self._columns.depths
        left, top = self.corners[source, depths[source]]
        points = [(left + BOX_WIDTH, top + self.box_height(source) // 2)]
        for number in range(depths[source] + 1, self._columns.last_stop(source, target) + 1):
            left, top = self.corners[source, number]
            points += [(left, top + _LINE_HEIGHT // 2), (left + BOX_WIDTH, top + _LINE_HEIGHT // 2)]
        left, top = self.corners[target, depths[target]]
        return [*points, (left, top + self.box_height(target) // 2)]


def draw_rails(
    rows: Sequence[TaskId], waits_for: Mapping[TaskId, Collection[TaskId]], *, has_glyphs: bool, widest: int
) -> list[str]:
    """Returns what is before each row, all equally wide; empty texts where that would be wider than `widest`.

    Each row's task is below all that it waits for.
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
    """Returns the lines of each task, all that it waits for above it; none where nothing waits."""
    standings = found.standings
    sources: dict[TaskId, list[TaskId]] = {one.task.id: [] for one in standings}
    for edge in found.edges:
        if not edge.is_circular:
            sources[edge.target].append(edge.source)
    circling = {edge.target for edge in found.edges if edge.is_circular}
    widest = on.columns // _SHARE_OF_RAILS if on.is_terminal else _PIPED_RAILS
    rails = draw_rails(list(sources), sources, has_glyphs=True, widest=widest)
    shows_waits = not (on.is_terminal and on.columns < _NARROW and any(rails))
    steps = (
        "" if place else str(step)
        for step, layer in enumerate(found.layers, start=1)
        for place in range(len(layer))
    )
    rows = [
        (step, rail, f"{on.glyph(one.task.status)} {one.task.id}", one.task.title, _waits_of(one, circling))
        for step, rail, one in zip(steps, rails, standings, strict=True)
    ]
    heading = f"{' ' * max(map(len, rails), default=0)}  id"
    fixed = [
        len("step"),
        max(len(heading), *(len(rail) + len(name) for _, rail, name, *_ in rows)) if rows else 0,
        max((len(waits.text) for *_, waits in rows), default=0) if shows_waits else 0,
    ]
    room = on.columns - sum(one + len(GAP) for one in fixed if one)
    lines: list[tuple[str, str, str, Cell]] = []
    for step, rail, name, title, waits in rows:
        wraps = on.is_terminal and room >= NARROWEST_TITLE
        first, *further = wrap(visible(title), room) if wraps else [title]
        lines.append((step, _rail(on, rail) + name, first, waits))
        lines += [("", _rail(on, rail.translate(_BELOW)), part, Cell("")) for part in further]
    columns = [
        Column("step", [line[0] for line in lines], Style.FAINT, ours=True),
        Column(heading, [line[1] for line in lines], ours=True),
        Column("title", [line[2] for line in lines]),
    ]
    if shows_waits:
        reasons = [line[3] for line in lines]
        columns.append(
            Column("waits", [one.text for one in reasons], [one.style for one in reasons], ours=True)
        )
    shown = list(table_of(on, columns, flexible="title"))
    return [*shown, *_legend(on, found)] if on.is_terminal and rows else shown


def _rail(on: Screen, rail: str) -> str:
    return rail if on.has_glyphs else rail.translate(_ASCII)


def _waits_of(one: Standing[TaskRow], circling: Collection[TaskId]) -> Cell:
    is_circling = one.task.id in circling
    words = ("epic" if one.task.is_epic else "", waits_for(one), IN_A_CYCLE if is_circling else "")
    style = Style.BAD if is_circling else Style.WAITS if one.task.awaiting else Style.FAINT
    return Cell(", ".join(filter(None, words)), style)


def _legend(on: Screen, found: Dependencies) -> list[str]:
    """Returns what the signs mean that were drawn."""
    used = {one.task.status for one in found.standings}
    signs = [f"{on.glyph(status)} {status}" for status in Status if status in used]
    text = f"{', '.join(signs)}; lines lead down to what waits"
    return ["", *(on.styled(line, Style.FAINT) for line in wrap(text, on.columns))]
