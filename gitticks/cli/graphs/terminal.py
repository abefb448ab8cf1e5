"""The graph as lines for people: steps, rails, titles, and what each task waits for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gitticks.cli.graphs.rails import draw_rails
from gitticks.cli.render import Style
from gitticks.cli.table import Column, table_of
from gitticks.cli.tasks_table import waits_for
from gitticks.model.ids import TaskId

if TYPE_CHECKING:
    from gitticks.actions.dependencies import Dependencies
    from gitticks.cli.render import Screen

_PIPED_RAILS = 40
_SHARE_OF_RAILS = 3
_NARROW = 60
IN_A_CIRCLE = "in a circle"


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
        ", ".join(filter(None, (waits_for(one), IN_A_CIRCLE if one.task.id in circling else "")))
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
