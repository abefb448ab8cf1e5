"""Sorts tasks into the columns of a board: open, in progress, in review, recently closed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from gitticks.actions.derived_state import by_closing, standings_of
from gitticks.model.queries import Graph
from gitticks.model.status import PHASES, Phase

if TYPE_CHECKING:
    from gitticks.actions.context import Context
    from gitticks.actions.derived_state import Standing
    from gitticks.store.index import BrokenFile
    from gitticks.store.task_row import TaskRow

RECENT_DAYS = 14


class Column(NamedTuple):
    """The tasks of one phase in picking order, closed ones newest first; `left_out` were closed longer ago."""

    phase: str
    standings: Sequence[Standing[TaskRow]]
    left_out: int = 0


class Columns(NamedTuple):
    """One column for each phase; `has_tasks` is False in a repository without any task."""

    columns: tuple[Column, ...]
    has_tasks: bool
    broken: tuple[BrokenFile, ...]


def sort_into_columns(
    context: Context, epic: str | None = None, *, with_closed: bool = False, with_json: bool = False
) -> Columns:
    """Returns all tasks, or those below an epic, by phase; of the closed ones those of the last days, or all."""
    from datetime import timedelta

    index = context.index
    above = context.resolve(epic) if epic else None
    rows = index.listed(with_json=with_json)
    graph = Graph.of(rows, index.unreadable())
    if above is not None:
        below = graph.below(above) - {above}
        rows = [row for row in rows if row.id in below]
    since = "" if with_closed else (context.now - timedelta(days=RECENT_DAYS)).isoformat()
    closed = [row for row in rows if not row.is_open]
    recent = sorted((row for row in closed if row.closed >= since), key=by_closing, reverse=True)
    by_phase: dict[str, list[TaskRow]] = {phase: [] for phase in PHASES.values()}
    for row in (*graph.in_picking_order(row for row in rows if row.is_open), *recent):
        by_phase[PHASES[row.status]].append(row)
    return Columns(
        tuple(
            Column(phase, standings_of(context, found, graph), len(closed) - len(recent) if phase == Phase.CLOSED else 0)
            for phase, found in by_phase.items()
        ),
        has_tasks=index.has_tasks(),
        broken=index.to_fix(),
    )  # fmt: skip
