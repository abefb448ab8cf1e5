"""The graph in the language of Mermaid, which forges draw in their pages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gitticks.cli.graphs.looks import INK, LOOKS, drawable, look_of

if TYPE_CHECKING:
    from gitticks.actions.dependencies import Dependencies

_PLAIN = frozenset(" ,!?")


def mermaid_lines(found: Dependencies) -> Iterator[str]:
    """Yields the lines of a flowchart with an arrow from each task to those that wait for it.

    Ids of tasks may be words of Mermaid's own, so the nodes are numbered.
    """
    names = {one.task.id: f"n{number}" for number, one in enumerate(found.standings)}
    yield "flowchart LR"
    for one in found.standings:
        task = one.task
        label = f"{_text(task.id)}<br/>{_text(task.title)}"
        yield f'  {names[task.id]}["{label}"]:::{look_of(task).name}'
    for edge in found.edges:
        arrow = "-.->|in a circle|" if edge.is_circular else "-.->" if edge.is_part else "-->"
        yield f"  {names[edge.source]} {arrow} {names[edge.target]}"
    for look in LOOKS:
        yield f"  classDef {look.name} fill:{look.fill},stroke:#57606a,color:{INK}"


def _text(text: str) -> str:
    """Returns a text in which every sign that could mean something to Mermaid or to a page is a character reference."""
    return "".join(
        char if char.isalnum() or char in _PLAIN or not char.isascii() else f"#{ord(char)};"
        for char in drawable(text)
    )
