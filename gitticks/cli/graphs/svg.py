"""The graph as a picture that needs nothing else: no Graphviz, no font, no script, readable by day and by night."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from typing import TYPE_CHECKING

from gitticks.cli.graphs.looks import INK, LOOKS, drawable, look_of
from gitticks.cli.graphs.placing import BOX_HEIGHT, BOX_WIDTH, place
from gitticks.cli.render import count_of
from gitticks.cli.text import cut, visible

if TYPE_CHECKING:
    from gitticks.actions.dependencies import Dependencies, Edge
    from gitticks.cli.graphs.placing import Places
    from gitticks.store.task_row import TaskRow

_TITLE_COLUMNS = 30
_DARK_INK, _DARK_LINE = "#f0f6fc", "#9198a1"
_CORNER, _TEXT_LEFT, _FIRST_BASE, _SECOND_BASE = 8, 12, 19, 37


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
    yield from (_circle(edge, places) for edge in found.edges if edge.is_circular)
    yield "</svg>"


def _style() -> str:
    boxes = "".join(f".{look.name} rect{{fill:{look.fill}}}" for look in LOOKS)
    dark_boxes = "".join(f".{look.name} rect{{fill:{look.dark_fill}}}" for look in LOOKS)
    return (
        f"text{{font:13px sans-serif;fill:{INK}}}.id{{font-weight:bold}}rect{{stroke:#57606a}}"
        ".line{fill:none;stroke:#57606a;stroke-width:1.5}.part{stroke-dasharray:5 4}.circle{stroke:#cf222e}"
        f".tip{{fill:#57606a}}{boxes}"
        f"@media(prefers-color-scheme:dark){{svg{{background:#0d1117}}text{{fill:{_DARK_INK}}}"
        f"rect,.line{{stroke:{_DARK_LINE}}}.circle{{stroke:#ff7b72}}.tip{{fill:{_DARK_LINE}}}{dark_boxes}}}"
    )


def _box(task: TaskRow, places: Places) -> str:
    left, top = places.corners[task.id]
    title = _text(task.title)
    state = f"priority {task.priority}, {task.status}" + (
        f", awaits {task.awaiting}" if task.awaiting else ""
    )
    return (
        f'<g class="{look_of(task).name}" transform="translate({left} {top})">'
        f"<title>{_text(task.id)}: {title} ({state})</title>"
        f'<rect width="{BOX_WIDTH}" height="{BOX_HEIGHT}" rx="{_CORNER}"/>'
        f'<text x="{_TEXT_LEFT}" y="{_FIRST_BASE}"><tspan class="id">{_text(task.id)}</tspan> '
        f"{_text(task.awaiting or task.status)}</text>"
        f'<text x="{_TEXT_LEFT}" y="{_SECOND_BASE}">{_text(cut(visible(task.title), _TITLE_COLUMNS))}</text></g>'
    )


def _line(edge: Edge, places: Places) -> str:
    looks = "line part" if edge.is_part else "line"
    first, *points = places.ways[edge.source, edge.target]
    return _path(looks, first, points)


def _circle(edge: Edge, places: Places) -> str:
    """Returns a line that leads back."""
    left, top = places.corners[edge.source]
    right, bottom = places.corners[edge.target]
    below = BOX_HEIGHT * 3 // 4
    return _path("line circle", (left, top + below), [(right + BOX_WIDTH, bottom + below)])


def _path(looks: str, first: tuple[int, int], points: Sequence[tuple[int, int]]) -> str:
    """Returns a line that bends to the first of the points, goes straight to the next, and so on."""
    (x, y), way = first, f"M{first[0]} {first[1]}"
    for number, (to_x, to_y) in enumerate(points):
        middle = (x + to_x) // 2
        way += f"H{to_x}" if number % 2 else f"C{middle} {y} {middle} {to_y} {to_x} {to_y}"
        x, y = to_x, to_y
    return f'<path class="{looks}" marker-end="url(#tip)" d="{way}"/>'


def _text(text: str) -> str:
    """Returns a text as ASCII markup, which means the same in whatever encoding it is printed."""
    return escape(drawable(text)).encode("ascii", "xmlcharrefreplace").decode()
