"""Draws what waits for what for other programs: for Graphviz, for Mermaid, and as a picture."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from textwrap import wrap
from typing import TYPE_CHECKING, NamedTuple

from gitticks.cli.render import count_of
from gitticks.cli.text import cut, visible
from gitticks.cli.views.graph import BOX_HEIGHT, BOX_WIDTH, place
from gitticks.model.status import Status

if TYPE_CHECKING:
    from gitticks.actions.dependencies import Dependencies, Edge
    from gitticks.cli.views.graph import Places
    from gitticks.model.queued import Listed
    from gitticks.store.task_row import TaskRow


LABEL_COLUMNS = 28
INK = "#1f2328"
_NO_XML = str.maketrans("", "", "\ufffe\uffff")
"""Characters that no picture may hold, not even as references."""

_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "&": "&amp;", "<": "&lt;", ">": "&gt;"})
_PLAIN = frozenset(" ,!?")
_TITLE_COLUMNS = 30
_DARK_INK, _DARK_LINE = "#f0f6fc", "#9198a1"
_CORNER, _TEXT_LEFT, _FIRST_BASE, _SECOND_BASE = 8, 12, 19, 37


class Look(NamedTuple):
    """The name of a look, as pages and styles call it, and what a box of it is filled with by day and by night."""

    name: str
    fill: str
    dark_fill: str


_OPEN = Look("open", "#ffffff", "#21262d")
_BUSY = Look("in_progress", "#ddf4ff", "#0c2d6b")
_IN_REVIEW = Look("in_review", "#fbefff", "#3c1e70")
_AWAITING = Look("awaiting", "#fff8c5", "#4b2900")
_CLOSED = Look("closed", "#dafbe1", "#033a16")
LOOKS = (_OPEN, _BUSY, _IN_REVIEW, _AWAITING, _CLOSED)
_BY_STATUS: dict[str, Look] = {
    Status.PENDING: _OPEN,
    Status.AGENT_REVIEW: _IN_REVIEW,
    Status.REVIEWING: _IN_REVIEW,
}


def drawable(text: str) -> str:
    """Returns a text as pictures can hold it; it is still to be escaped."""
    return visible(text).translate(_NO_XML)


def look_of(task: Listed) -> Look:
    """Returns how a task looks."""
    if not task.is_open:
        return _CLOSED
    return _AWAITING if task.awaiting else _BY_STATUS.get(task.status, _BUSY)


def dot_lines(found: Dependencies) -> Iterator[str]:
    """Yields the lines of a digraph with an arrow from each task to those that wait for it."""
    yield "digraph tasks {"
    yield "  rankdir=LR;"
    yield '  node [shape=box, style="rounded,filled", fontname="sans-serif", color="#57606a"];'
    for one in found.standings:
        task = one.task
        label = "\\n".join([_text(task.id), *map(_text, wrap(drawable(task.title), LABEL_COLUMNS))])
        yield f'  "{task.id}" [label="{label}", fillcolor="{look_of(task).fill}"];'
    for edge in found.edges:
        yield f'  "{edge.source}" -> "{edge.target}"{_looks(edge)};'
    yield "}"


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
    for one in found.standings:
        task = one.task
        label = f"{_label(task.id)}<br/>{_label(task.title)}"
        yield f'  {names[task.id]}["{label}"]:::{look_of(task).name}'
    for edge in found.edges:
        arrow = "-.->|in a cycle|" if edge.is_circular else "-.->" if edge.is_part else "-->"
        yield f"  {names[edge.source]} {arrow} {names[edge.target]}"
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
    layers = [[one.task.id for one in layer] for layer in found.layers]
    places = place(layers, [(edge.source, edge.target) for edge in found.edges if not edge.is_circular])
    tasks = [one.task for one in found.standings]
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-labelledby="title" '
        f'viewBox="0 0 {places.width} {places.height}" width="{places.width}" height="{places.height}">'
    )
    yield f'<title id="title">What waits for what: {count_of(len(tasks), "task")}</title>'
    yield f"<style>{_style()}</style>"
    yield (
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="8" markerHeight="8" '
        'orient="auto"><path class="tip" d="M0 0 8 4 0 8z"/></marker></defs>'
    )
    yield from (_line(edge, places) for edge in found.edges if not edge.is_circular)
    yield from (_box(task, places) for task in tasks)
    yield from (_cycle(edge, places) for edge in found.edges if edge.is_circular)
    yield "</svg>"


def _style() -> str:
    boxes = "".join(f".{look.name} rect{{fill:{look.fill}}}" for look in LOOKS)
    dark_boxes = "".join(f".{look.name} rect{{fill:{look.dark_fill}}}" for look in LOOKS)
    return (
        f"text{{font:13px sans-serif;fill:{INK}}}.id{{font-weight:bold}}rect{{stroke:#57606a}}"
        ".line{fill:none;stroke:#57606a;stroke-width:1.5}.part{stroke-dasharray:5 4}.cycle{stroke:#cf222e}"
        f".tip{{fill:#57606a}}{boxes}"
        f"@media(prefers-color-scheme:dark){{svg{{background:#0d1117}}text{{fill:{_DARK_INK}}}"
        f"rect,.line{{stroke:{_DARK_LINE}}}.cycle{{stroke:#ff7b72}}.tip{{fill:{_DARK_LINE}}}{dark_boxes}}}"
    )


def _box(task: TaskRow, places: Places) -> str:
    left, top = places.corners[task.id]
    title = _drawn_text(task.title)
    state = f"priority {task.priority}, {task.status}" + (
        f", awaits {task.awaiting}" if task.awaiting else ""
    )
    return (
        f'<g class="{look_of(task).name}" transform="translate({left} {top})">'
        f"<title>{_drawn_text(task.id)}: {title} ({state})</title>"
        f'<rect width="{BOX_WIDTH}" height="{BOX_HEIGHT}" rx="{_CORNER}"/>'
        f'<text x="{_TEXT_LEFT}" y="{_FIRST_BASE}"><tspan class="id">{_drawn_text(task.id)}</tspan> '
        f"{_drawn_text(task.awaiting or task.status)}</text>"
        f'<text x="{_TEXT_LEFT}" y="{_SECOND_BASE}">{_drawn_text(cut(visible(task.title), _TITLE_COLUMNS))}</text></g>'
    )


def _line(edge: Edge, places: Places) -> str:
    looks = "line part" if edge.is_part else "line"
    first, *points = places.ways[edge.source, edge.target]
    return _path(looks, first, points)


def _cycle(edge: Edge, places: Places) -> str:
    """Returns a line that leads back."""
    left, top = places.corners[edge.source]
    right, bottom = places.corners[edge.target]
    below = BOX_HEIGHT * 3 // 4
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
