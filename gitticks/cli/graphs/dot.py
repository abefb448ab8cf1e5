"""The graph in the language of Graphviz."""

from __future__ import annotations

from collections.abc import Iterator
from textwrap import wrap
from typing import TYPE_CHECKING

from gitticks.cli.graphs.looks import LABEL_COLUMNS, drawable, look_of

if TYPE_CHECKING:
    from gitticks.actions.dependencies import Dependencies, Edge

_ESCAPES = str.maketrans({"\\": "\\\\", '"': '\\"', "&": "&amp;", "<": "&lt;", ">": "&gt;"})


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
