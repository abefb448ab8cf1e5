"""Draws dependencies for other programs: Graphviz, Mermaid, SVG."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from html import escape
from typing import TYPE_CHECKING, NamedTuple

from gitticks.cli.render import count_of
from gitticks.cli.text import visible, wrap
from gitticks.model.graph import Columns, Link, Stop, columns_of
from gitticks.model.ids import BOARD_FOLDER, TaskId, task_path
from gitticks.model.status import Status
from gitticks.store.task_row import TaskRow

if TYPE_CHECKING:
    from gitticks.actions.dependencies import Dependencies, Edge
    from gitticks.model.queued import Listed


Point = tuple[int, int]

BOX_WIDTH, BOX_HEIGHT = 232, 48
_LINE_HEIGHT = 8
_GAP_BETWEEN_LAYERS, _GAP_IN_A_LAYER, _MARGIN = 72, 16, 16
_FRAME, _FRAME_TITLE = 8, 26

LABEL_COLUMNS = 28
INK = "#1f2328"
_NO_XML = str.maketrans("", "", "\ufffe\uffff")
"""Characters that no picture may hold, not even as references."""

_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "&": "&amp;", "<": "&lt;", ">": "&gt;"})
_PLAIN = frozenset(" ,!?")
_DARK_INK, _DARK_LINE = "#f0f6fc", "#9198a1"
_CORNER, _TEXT_LEFT, _FIRST_BASE, _SECOND_BASE, _TITLE_LINE = 8, 12, 19, 37, 17
_COLUMN = 8
"""How wide a sign is at most, on average: the widest of the usual fonts decides."""
_TITLE_COLUMNS = (BOX_WIDTH - 2 * _TEXT_LEFT) // _COLUMN
_LEGEND_LEFT, _LEGEND_WIDTH, _LEGEND_HEIGHT, _LEGEND_WORDS = 16, 130, 28, 7


class Look(NamedTuple):
    """The name of a look, as pages and styles call it, what a box of it is filled with by day and by night, and what it means."""

    name: str
    fill: str
    dark_fill: str
    meaning: str


_OPEN = Look("open", "#ffffff", "#21262d", "pending")
_BUSY = Look("in_progress", "#ddf4ff", "#0c2d6b", "in progress")
_IN_REVIEW = Look("in_review", "#fbefff", "#3c1e70", "in review")
_AWAITING = Look("awaiting", "#fff8c5", "#4b2900", "awaits a person")
_CLOSED = Look("closed", "#dafbe1", "#033a16", "closed")
LOOKS = (_OPEN, _BUSY, _IN_REVIEW, _AWAITING, _CLOSED)
_BY_STATUS: dict[str, Look] = {
    Status.PENDING: _OPEN,
    Status.AGENT_REVIEW: _IN_REVIEW,
    Status.REVIEWING: _IN_REVIEW,
}


class Frame(NamedTuple):
    """The frame of an epic: its left upper and its right lower corner, and the lines of its title."""

    epic: TaskId
    corner: Point
    opposite: Point
    title: tuple[str, ...] = ()


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
    titles: Mapping[TaskId, str] | None = None,
) -> Places:
    """Returns where tasks stand, in the frames of their `epics`, which have these `titles`."""
    columns = columns_of(layers, links)
    stack = _Stack(columns, heights or {}, epics or {}, titles or {})
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
        self,
        columns: Columns,
        heights: Mapping[TaskId, int],
        epics: Mapping[TaskId, Sequence[TaskId]],
        titles: Mapping[TaskId, str],
    ) -> None:
        self.corners: dict[Stop, Point] = {}
        self.frames: list[Frame] = []
        self._columns = columns
        self._heights = heights
        self._titles = titles
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
        return self._place(self._all, _MARGIN)

    def _place(self, band: _Band, top: int) -> int:
        """Places a band and returns where it ends below."""
        sizes = [sum(map(self._height_of, column)) - _GAP_IN_A_LAYER for column in band.own]
        bottom = top + max(0, *sizes, 0)
        for number, column in enumerate(band.own):
            x, y = (
                self.margin + number * (BOX_WIDTH + _GAP_BETWEEN_LAYERS),
                top + (bottom - top - sizes[number]) // 2,
            )
            for stop in column:
                self.corners[stop] = (x, y)
                y += self._height_of(stop)
        for epic, inner in band.inner.items():
            begin = bottom + (_GAP_IN_A_LAYER if bottom > top else 0)
            place = len(self.frames)
            left, right = self._reach(inner)
            title = wrap(self._titles.get(epic, ""), (right - left - 2 * _TEXT_LEFT) // _COLUMN)
            head = _FRAME_TITLE + _TITLE_LINE * max(0, len(title) - 1)
            bottom = self._place(inner, begin + head) + _FRAME
            self.frames.insert(place, Frame(epic, (left, begin), (right, bottom), tuple(title)))
        return bottom

    def _reach(self, band: _Band) -> tuple[int, int]:
        """Returns where the frame around a band begins and ends."""
        lefts = [
            self.margin + number * (BOX_WIDTH + _GAP_BETWEEN_LAYERS)
            for number, column in enumerate(band.own)
            if any(map(self._is_box, column))
        ]
        reaches = [(left, left + BOX_WIDTH) for left in lefts] + [*map(self._reach, band.inner.values())]
        return min(left for left, _ in reaches) - _FRAME, max(right for _, right in reaches) + _FRAME

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


def drawable(text: str) -> str:
    """Returns a text as pictures can hold it; it is still to be escaped."""
    return visible(text).translate(_NO_XML)


def look_of(task: Listed) -> Look:
    """Returns how a task looks."""
    if not task.is_open:
        return _CLOSED
    return _AWAITING if task.awaiting else _BY_STATUS.get(task.status, _BUSY)


class Group:
    """The tasks that an epic frames, and the frames inside it; the outermost group is no epic's."""

    def __init__(self, epic: TaskRow | None = None) -> None:
        self.epic = epic
        self.tasks: list[TaskRow] = []
        self.inner: dict[TaskId, Group] = {}


def _grouped(found: Dependencies) -> Group:
    everything = Group()
    for one in found.standings:
        group = everything
        for epic in found.epics[one.task.id]:
            group = group.inner.setdefault(epic.id, Group(epic))
        group.tasks.append(one.task)
    return everything


def _drawn_edges(found: Dependencies) -> Iterator[Edge]:
    """Yields the links but those of epics with their children, which the frame tells."""
    framing = {epic.id for epics in found.epics.values() for epic in epics}
    return (
        edge for edge in found.edges if not edge.is_part or edge.is_circular or edge.target not in framing
    )


def _legend(found: Dependencies) -> tuple[list[Look], str]:
    """Returns the looks that were drawn, and what else there is to say."""
    used = {look_of(one.task).name for one in found.standings}
    words = ["arrows point to the waiting task"]
    if any(found.epics.values()):
        words.append("frames are epics")
    if any(edge.is_circular for edge in found.edges):
        words.append("red: in a cycle")
    return [look for look in LOOKS if look.name in used], ", ".join(words)


def _page_of(task_id: TaskId) -> str:
    """Returns the address of a task's file for a picture that is in the repository's root."""
    return f"{BOARD_FOLDER}/{task_path(task_id)}"


def dot_lines(found: Dependencies) -> Iterator[str]:
    """Yields the lines of a digraph with an arrow from each task to those that wait for it."""
    yield "digraph tasks {"
    yield "  rankdir=LR;"
    yield '  graph [style=rounded, color="#57606a", fontname="sans-serif"];'
    yield '  node [shape=box, style="rounded,filled", fontname="sans-serif", color="#57606a"];'
    yield from _dot_group(_grouped(found), "  ")
    for edge in _drawn_edges(found):
        yield f'  "{edge.source}" -> "{edge.target}"{_looks(edge)};'
    looks, words = _legend(found)
    if looks:
        yield f'  subgraph "cluster legend" {{ label="{words}"; color="#d0d7de";'
        for look in looks:
            yield f'    "legend {look.name}" [label="{look.meaning}", fillcolor="{look.fill}"];'
        yield "  }"
    yield "}"


def _dot_group(group: Group, indent: str) -> Iterator[str]:
    for task in group.tasks:
        label = "\\n".join([_text(task.id), *map(_text, wrap(drawable(task.title), LABEL_COLUMNS))])
        yield f'{indent}"{task.id}" [label="{label}", fillcolor="{look_of(task).fill}", URL="{_page_of(task.id)}"];'
    for epic, inner in group.inner.items():
        title = inner.epic.title if inner.epic is not None else ""
        yield f'{indent}subgraph "cluster {epic}" {{ label="{_text(drawable(title))}";'
        yield from _dot_group(inner, f"{indent}  ")
        yield f"{indent}}}"


def _text(text: str) -> str:
    return text.translate(_ESCAPES)


def _looks(edge: Edge) -> str:
    looks = ["style=dashed"] if edge.is_part else []
    if edge.is_circular:
        looks += ['color="#cf222e"', "constraint=false"]
    return f" [{', '.join(looks)}]" if looks else ""


def mermaid_lines(found: Dependencies) -> Iterator[str]:
    """Yields the lines of a flowchart with an arrow from each task to those that wait for it.

    Ids of tasks may be words of Mermaid's own, so the nodes are numbered.
    """
    names = {one.task.id: f"n{number}" for number, one in enumerate(found.standings)}
    yield "flowchart LR"
    yield from _mermaid_group(_grouped(found), names, "  ")
    for edge in _drawn_edges(found):
        arrow = "-.->|in a cycle|" if edge.is_circular else "-.->" if edge.is_part else "-->"
        yield f"  {names[edge.source]} {arrow} {names[edge.target]}"
    looks, words = _legend(found)
    if looks:
        yield f'  subgraph legend["{_label(words)}"]'
        yield from (f'    l_{look.name}["{look.meaning}"]:::{look.name}' for look in looks)
        yield "  end"
    for look in LOOKS:
        yield f"  classDef {look.name} fill:{look.fill},stroke:#57606a,color:{INK}"


def _mermaid_group(group: Group, names: Mapping[TaskId, str], indent: str) -> Iterator[str]:
    for task in group.tasks:
        label = f"{_label(task.id)}<br/>{_label(task.title)}"
        yield f'{indent}{names[task.id]}["{label}"]:::{look_of(task).name}'
    for epic, inner in group.inner.items():
        title = inner.epic.title if inner.epic is not None else ""
        yield f'{indent}subgraph e_{epic.replace("-", "_")}["{_label(title)}"]'
        yield from _mermaid_group(inner, names, f"{indent}  ")
        yield f"{indent}end"


def _label(text: str) -> str:
    """Returns a text in which every sign that could mean something to Mermaid or to a page is a character reference."""
    return "".join(
        char if char.isalnum() or char in _PLAIN or not char.isascii() else f"#{ord(char)};"
        for char in drawable(text)
    )


def svg_lines(found: Dependencies) -> Iterator[str]:
    """Yields the lines of an SVG file; every title is text in it, never markup."""
    tasks = [one.task for one in found.standings]
    titles = {task.id: wrap(drawable(task.title), _TITLE_COLUMNS) for task in tasks}
    edges = [*_drawn_edges(found)]
    places = place(
        [[one.task.id for one in layer] for layer in found.layers],
        [(edge.source, edge.target) for edge in edges if not edge.is_circular],
        epics={task_id: [epic.id for epic in epics] for task_id, epics in found.epics.items()},
        heights={task_id: _height(lines) for task_id, lines in titles.items()},
        titles={epic.id: drawable(epic.title) for epics in found.epics.values() for epic in epics},
    )
    looks, words = _legend(found)
    width = max(
        places.width, _LEGEND_LEFT + _LEGEND_WIDTH * len(looks) + _LEGEND_WORDS * len(words) if looks else 0
    )
    height = places.height + (_LEGEND_HEIGHT if looks else 0)
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="title" '
        f'viewBox="0 0 {width} {height}" width="{width}" height="{height}">'
    )
    yield f'<title id="title">What waits for what: {count_of(len(tasks), "task")}</title>'
    yield f"<style>{_style()}</style>"
    yield (
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" '
        'orient="auto"><path class="tip" d="M0 0 8 4 0 8z"/></marker></defs>'
    )
    yield from map(_frame, places.frames)
    for edge in edges:
        if not edge.is_circular:
            first, *points = places.ways[edge.source, edge.target]
            yield _path("line part" if edge.is_part else "line", first, points)
    yield from (_box(task, titles[task.id], places) for task in tasks)
    yield from (_cycle(edge, places, _height(titles[edge.target])) for edge in edges if edge.is_circular)
    for number, look in enumerate(looks):
        left, top = _LEGEND_LEFT + number * _LEGEND_WIDTH, places.height
        yield (
            f'<g class="{look.name}"><rect x="{left}" y="{top}" width="12" height="12" rx="3"/>'
            f'<text x="{left + 18}" y="{top + 11}">{look.meaning}</text></g>'
        )
    if looks:
        yield f'<text x="{_LEGEND_LEFT + len(looks) * _LEGEND_WIDTH}" y="{places.height + 11}">{words}</text>'
    yield "</svg>"


def _height(title: Sequence[str]) -> int:
    return BOX_HEIGHT + _TITLE_LINE * max(0, len(title) - 1)


def _frame(frame: Frame) -> str:
    (left, top), (right, bottom) = frame.corner, frame.opposite
    lines = "".join(
        f'<text class="id" x="{left + _TEXT_LEFT}" y="{top + _FIRST_BASE + number * _TITLE_LINE}">'
        f"{_drawn_text(line)}</text>"
        for number, line in enumerate(frame.title)
    )
    return (
        f'<rect class="frame" x="{left}" y="{top}" width="{right - left}" height="{bottom - top}" '
        f'rx="{_CORNER}"/>{lines}'
    )


def _style() -> str:
    boxes = "".join(f".{look.name} rect{{fill:{look.fill}}}" for look in LOOKS)
    dark_boxes = "".join(f".{look.name} rect{{fill:{look.dark_fill}}}" for look in LOOKS)
    return (
        f"text{{font:13px sans-serif;fill:{INK}}}.id{{font-weight:bold}}rect{{stroke:#57606a}}"
        ".frame{fill:none;stroke-dasharray:2 3}.line{fill:none;stroke:#57606a;stroke-width:1.5}.part{stroke-dasharray:5 4}.cycle{stroke:#cf222e}"
        f".tip{{fill:#57606a}}{boxes}"
        f"@media(prefers-color-scheme:dark){{svg{{background:#0d1117}}text{{fill:{_DARK_INK}}}"
        f"rect,.line{{stroke:{_DARK_LINE}}}.cycle{{stroke:#ff7b72}}.tip{{fill:{_DARK_LINE}}}{dark_boxes}}}"
    )


def _box(task: TaskRow, title: Sequence[str], places: Places) -> str:
    left, top = places.corners[task.id]
    state = f"priority {task.priority}, {task.status}" + (
        f", awaits {task.awaiting}" if task.awaiting else ""
    )
    lines = "".join(
        f'<text x="{_TEXT_LEFT}" y="{_SECOND_BASE + number * _TITLE_LINE}">{_drawn_text(line)}</text>'
        for number, line in enumerate(title)
    )
    return (
        f'<a href="{_page_of(task.id)}"><g class="{look_of(task).name}" transform="translate({left} {top})">'
        f"<title>{_drawn_text(task.id)}: {_drawn_text(task.title)} ({state})</title>"
        f'<rect width="{BOX_WIDTH}" height="{_height(title)}" rx="{_CORNER}"/>'
        f'<text x="{_TEXT_LEFT}" y="{_FIRST_BASE}"><tspan class="id">{_drawn_text(task.id)}</tspan> '
        f"{_drawn_text(task.awaiting or task.status)}</text>{lines}</g></a>"
    )


def _cycle(edge: Edge, places: Places, height: int) -> str:
    """Returns a line that leads back."""
    left, top = places.corners[edge.source]
    right, bottom = places.corners[edge.target]
    below = height * 3 // 4
    return _path("line cycle", (left, top + below), [(right + BOX_WIDTH, bottom + below)])


def _path(looks: str, first: tuple[int, int], points: Sequence[tuple[int, int]]) -> str:
    """Returns a line that bends to the first of the points, goes straight to the next, and so on."""
    (x, y), way = first, f"M{first[0]} {first[1]}"
    for number, (to_x, to_y) in enumerate(points):
        middle = (x + to_x) // 2
        way += f"H{to_x}" if number % 2 else f"C{middle} {y} {middle} {to_y} {to_x} {to_y}"
        x, y = to_x, to_y
    return f'<path class="{looks}" marker-end="url(#tip)" d="{way}"/>'


def _drawn_text(text: str) -> str:
    """Returns a text as ASCII markup, which means the same in whatever encoding it is printed."""
    return escape(drawable(text)).encode("ascii", "xmlcharrefreplace").decode()
