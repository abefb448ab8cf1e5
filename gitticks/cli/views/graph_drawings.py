"""Draws dependencies for other programs: Graphviz, Mermaid, SVG."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from html import escape
from itertools import chain
from typing import Generic, NamedTuple, TypeVar

from gitticks.actions.dependencies import Dependencies, Edge
from gitticks.cli.render import count_of
from gitticks.cli.text import visible, wrap
from gitticks.cli.views.tasks import BOARD_PREFIX
from gitticks.model.graph import Link, Stop, columns_of
from gitticks.model.ids import TaskId, task_path
from gitticks.model.status import PHASES
from gitticks.model.task_row import AnyTask, TaskRow

Member = TypeVar("Member")
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


LOOKS = (
    Look("open", "#ffffff", "#21262d", "pending"),
    Look("in_progress", "#ddf4ff", "#0c2d6b", "in progress"),
    Look("in_review", "#fbefff", "#3c1e70", "in review"),
    Look("awaiting", "#fff8c5", "#4b2900", "awaits a person"),
    Look("closed", "#dafbe1", "#033a16", "closed"),
)
_BY_NAME = {look.name: look for look in LOOKS}


class Frame(NamedTuple):
    """The frame of an epic: its left upper and its right lower corner, and the lines of its title."""

    epic: TaskId
    corner: Point
    opposite: Point
    title: tuple[str, ...] = ()


class Group(Generic[Member]):
    """What an epic frames, and the frames inside it; the outermost group is no epic's."""

    def __init__(self) -> None:
        self.own: list[Member] = []
        self.inner: dict[TaskId, Group[Member]] = {}

    def add(self, epics: Iterable[TaskId], member: Member) -> None:
        """Adds what is in the frames of these epics, the outermost first."""
        group = self
        for epic in epics:
            group = group.inner.setdefault(epic, Group())
        group.own.append(member)

    @property
    def depth(self) -> int:
        """Returns how many frames lie within one another."""
        return max((1 + group.depth for group in self.inner.values()), default=0)


class Places:
    """Where a picture's tasks stand, in pixels: each layer from top to bottom, frames below what stands in none.

    `corners` are the upper left ones of the tasks' boxes, and `ways` the points that each link goes through: it bends
    between its first two, goes straight on to the third, bends to the fourth, and so on. `frames` are those of epics,
    each before those inside it.
    """

    def __init__(
        self,
        layers: Sequence[Sequence[TaskId]],
        links: Collection[Link],
        *,
        epics: Mapping[TaskId, Sequence[TaskId]] = {},
        heights: Mapping[TaskId, int] = {},
        titles: Mapping[TaskId, str] = {},
    ) -> None:
        self.frames: list[Frame] = []
        self._columns = columns_of(layers, links)
        self._stops: dict[Stop, Point] = {}
        self._heights, self._titles = heights, titles
        every: Group[Stop] = Group()
        for stop in chain.from_iterable(self._columns.stops):
            every.add(epics.get(stop[0], ()), stop)
        self._margin = _MARGIN + _FRAME * every.depth
        self.height = self._place(every, _MARGIN) + _MARGIN
        self.width = max(2 * self._margin, self._left(len(layers)) - _GAP_BETWEEN_LAYERS + self._margin)
        self.corners = {stop[0]: point for stop, point in self._stops.items() if self._is_box(stop)}
        self.ways = {link: self._way(*link) for link in links}

    def _place(self, group: Group[Stop], top: int) -> int:
        """Returns where it ends below."""
        columns = [
            [stop for stop in group.own if stop[1] == number] for number in range(len(self._columns.stops))
        ]
        sizes = [sum(map(self._height_of, column)) - _GAP_IN_A_LAYER for column in columns]
        bottom = top + max(0, *sizes, 0)
        for number, column in enumerate(columns):
            y = top + (bottom - top - sizes[number]) // 2
            for stop in column:
                self._stops[stop] = (self._left(number), y)
                y += self._height_of(stop)
        for epic, inner in group.inner.items():
            begin = bottom + (_GAP_IN_A_LAYER if bottom > top else 0)
            place = len(self.frames)
            left, right = self._reach(inner)
            title = wrap(self._titles.get(epic, ""), (right - left - 2 * _TEXT_LEFT) // _COLUMN)
            head = _FRAME_TITLE + _TITLE_LINE * (len(title) - 1)
            bottom = self._place(inner, begin + head) + _FRAME
            self.frames.insert(place, Frame(epic, (left, begin), (right, bottom), tuple(title)))
        return bottom

    def _left(self, number: int) -> int:
        return self._margin + number * (BOX_WIDTH + _GAP_BETWEEN_LAYERS)

    def _reach(self, group: Group[Stop]) -> tuple[int, int]:
        lefts = [self._left(stop[1]) for stop in group.own if self._is_box(stop)]
        reaches = [(left, left + BOX_WIDTH) for left in lefts] + [*map(self._reach, group.inner.values())]
        return min(left for left, _ in reaches) - _FRAME, max(right for _, right in reaches) + _FRAME

    def _is_box(self, stop: Stop) -> bool:
        return self._columns.depths[stop[0]] == stop[1]

    def _height_of(self, stop: Stop) -> int:
        height = self.box_height(stop[0]) if self._is_box(stop) else _LINE_HEIGHT
        return height + _GAP_IN_A_LAYER

    def box_height(self, task_id: TaskId) -> int:
        """Returns how high a task's box is."""
        return self._heights.get(task_id, BOX_HEIGHT)

    def _way(self, source: TaskId, target: TaskId) -> list[Point]:
        """Returns the points that a link goes through."""
        depths = self._columns.depths
        left, top = self._stops[source, depths[source]]
        points = [(left + BOX_WIDTH, top + self.box_height(source) // 2)]
        for number in range(depths[source] + 1, self._columns.last_stop(source, target) + 1):
            left, top = self._stops[source, number]
            points += [(left, top + _LINE_HEIGHT // 2), (left + BOX_WIDTH, top + _LINE_HEIGHT // 2)]
        left, top = self._stops[target, depths[target]]
        return [*points, (left, top + self.box_height(target) // 2)]


def drawable(text: str) -> str:
    """Returns a text as pictures can hold it; it is still to be escaped."""
    return visible(text).translate(_NO_XML)


def look_of(task: AnyTask) -> Look:
    """Returns how a task looks: as its phase, unless it awaits a person."""
    return _BY_NAME["awaiting" if task.is_open and task.awaiting else PHASES[task.status]]


def _nested(
    found: Dependencies, box: Callable[[TaskRow], str], frame: Callable[[TaskId, str], str], end: str
) -> Iterator[str]:
    """Yields a line for each task, between the lines that begin and end the frames of its epics."""
    tasks: Group[TaskRow] = Group()
    for one in found.standings:
        tasks.add([epic.id for epic in found.epics[one.task.id]], one.task)
    titles = {epic.id: epic.title for epics in found.epics.values() for epic in epics}

    def lines(group: Group[TaskRow], indent: str) -> Iterator[str]:
        yield from (indent + box(task) for task in group.own)
        for epic, inner in group.inner.items():
            yield indent + frame(epic, titles[epic])
            yield from lines(inner, f"{indent}  ")
            yield indent + end

    return lines(tasks, "  ")


def _drawn_edges(found: Dependencies) -> Iterator[Edge]:
    """Yields the links but those of epics with their children, which the frame tells."""
    framing = {epic.id for epics in found.epics.values() for epic in epics}
    return (
        edge for edge in found.edges if not edge.is_part or edge.is_circular or edge.target not in framing
    )


def _legend(found: Dependencies) -> tuple[list[Look], str]:
    used = {look_of(one.task).name for one in found.standings}
    words = ["arrows point to the waiting task"]
    if any(found.epics.values()):
        words.append("frames are epics")
    if any(edge.is_circular for edge in found.edges):
        words.append("red: in a cycle")
    return [look for look in LOOKS if look.name in used], ", ".join(words)


def dot_lines(found: Dependencies) -> Iterator[str]:
    """Yields the lines of a digraph with an arrow from each task to those that wait for it."""
    yield "digraph tasks {"
    yield "  rankdir=LR;"
    yield '  graph [style=rounded, color="#57606a", fontname="sans-serif"];'
    yield '  node [shape=box, style="rounded,filled", fontname="sans-serif", color="#57606a"];'
    yield from _nested(
        found,
        _dot_box,
        lambda epic, title: f'subgraph "cluster {epic}" {{ label="{_text(drawable(title))}";',
        "}",
    )
    for edge in _drawn_edges(found):
        yield f'  "{edge.source}" -> "{edge.target}"{_looks(edge)};'
    looks, words = _legend(found)
    if looks:
        yield f'  subgraph "cluster legend" {{ label="{words}"; color="#d0d7de";'
        for look in looks:
            yield f'    "legend {look.name}" [label="{look.meaning}", fillcolor="{look.fill}"];'
        yield "  }"
    yield "}"


def _dot_box(task: TaskRow) -> str:
    label = "\\n".join([_text(task.id), *map(_text, wrap(drawable(task.title), LABEL_COLUMNS))])
    return f'"{task.id}" [label="{label}", fillcolor="{look_of(task).fill}", URL="{BOARD_PREFIX}{task_path(task.id)}"];'


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
    yield from _nested(
        found,
        lambda task: f'{names[task.id]}["{_label(task.id)}<br/>{_label(task.title)}"]:::{look_of(task).name}',
        lambda epic, title: f'subgraph e_{epic.replace("-", "_")}["{_label(title)}"]',
        "end",
    )
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
    places = Places(
        [[one.task.id for one in layer] for layer in found.layers],
        [(edge.source, edge.target) for edge in edges if not edge.is_circular],
        epics={task_id: [epic.id for epic in epics] for task_id, epics in found.epics.items()},
        heights={one: BOX_HEIGHT + _TITLE_LINE * (len(lines) - 1) for one, lines in titles.items()},
        titles={epic.id: drawable(epic.title) for epics in found.epics.values() for epic in epics},
    )
    looks, words = _legend(found)
    legend = _LEGEND_LEFT + _LEGEND_WIDTH * len(looks) + _LEGEND_WORDS * len(words) if looks else 0
    width = max(places.width, legend)
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
            way = places.ways[edge.source, edge.target]
            yield _path("line part" if edge.is_part else "line", way)
    yield from (_box(task, titles[task.id], places) for task in tasks)
    yield from (_cycle(edge, places) for edge in edges if edge.is_circular)
    for number, look in enumerate(looks):
        left, top = _LEGEND_LEFT + number * _LEGEND_WIDTH, places.height
        yield (
            f'<g class="{look.name}"><rect x="{left}" y="{top}" width="12" height="12" rx="3"/>'
            f'<text x="{left + 18}" y="{top + 11}">{look.meaning}</text></g>'
        )
    if looks:
        yield f'<text x="{_LEGEND_LEFT + len(looks) * _LEGEND_WIDTH}" y="{places.height + 11}">{words}</text>'
    yield "</svg>"


def _frame(frame: Frame) -> str:
    (left, top), (right, bottom) = frame.corner, frame.opposite
    return (
        f'<rect class="frame" x="{left}" y="{top}" width="{right - left}" height="{bottom - top}" '
        f'rx="{_CORNER}"/>{_texts(frame.title, left + _TEXT_LEFT, top + _FIRST_BASE, "id")}'
    )


def _texts(lines: Sequence[str], left: int, top: int, looks: str = "") -> str:
    begin = f'<text class="{looks}"' if looks else "<text"
    return "".join(
        f'{begin} x="{left}" y="{top + number * _TITLE_LINE}">{_drawn_text(line)}</text>'
        for number, line in enumerate(lines)
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
    return (
        f'<a href="{BOARD_PREFIX}{task_path(task.id)}"><g class="{look_of(task).name}" transform="translate({left} {top})">'
        f"<title>{_drawn_text(task.id)}: {_drawn_text(task.title)} ({state})</title>"
        f'<rect width="{BOX_WIDTH}" height="{places.box_height(task.id)}" rx="{_CORNER}"/>'
        f'<text x="{_TEXT_LEFT}" y="{_FIRST_BASE}"><tspan class="id">{_drawn_text(task.id)}</tspan> '
        f"{_drawn_text(task.awaiting or task.status)}</text>{_texts(title, _TEXT_LEFT, _SECOND_BASE)}</g></a>"
    )


def _cycle(edge: Edge, places: Places) -> str:
    left, top = places.corners[edge.source]
    right, bottom = places.corners[edge.target]
    below = places.box_height(edge.target) * 3 // 4
    return _path("line cycle", [(left, top + below), (right + BOX_WIDTH, bottom + below)])


def _path(looks: str, points: Sequence[Point]) -> str:
    x, y = points[0]
    way = f"M{x} {y}"
    for number, (to_x, to_y) in enumerate(points[1:]):
        middle = (x + to_x) // 2
        way += f"H{to_x}" if number % 2 else f"C{middle} {y} {middle} {to_y} {to_x} {to_y}"
        x, y = to_x, to_y
    return f'<path class="{looks}" marker-end="url(#tip)" d="{way}"/>'


def _drawn_text(text: str) -> str:
    """Returns a text as ASCII markup, which means the same in whatever encoding it is printed."""
    return escape(drawable(text)).encode("ascii", "xmlcharrefreplace").decode()
