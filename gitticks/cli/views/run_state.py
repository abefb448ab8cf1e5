"""A run as `gt status` shows it: how long, what of its budgets is spent, which agents rest."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import TYPE_CHECKING

from gitticks.actions.context import Context
from gitticks.cli.render import GAP, Screen, Style, age_of, ago, count_of
from gitticks.cli.text import called, from_here, visible
from gitticks.world import elapsed

if TYPE_CHECKING:
    from gitticks.actions.status import Overview

_MOST_DAYS = 14


def run_lines(on: Screen, found: Overview, context: Context) -> Iterator[str]:
    """Yields how long the run is active, or when and why the last one ended and what it came to."""
    run = found.spending.run if found.spending else None
    if run is None or (context.now - (run.ended or run.began)).days > _MOST_DAYS:
        return
    if found.is_active:
        yield on.styled("run", Style.STRONG)
        ending = ", ends after its current iterations" if found.is_stopping else ""
        yield f"{GAP}active for {age_of(run.began, context.now)}{ending}"
        if run.reason and not (found.is_stopping or found.is_paused):
            yield on.fit(f"{GAP}{visible(from_here(run.reason))}", on.columns)
        return
    yield on.styled("last run", Style.STRONG)
    if run.ended is None:
        yield f"{GAP}was cut off, as by a kill or a restart; it began {ago(run.began, context.now)}: `{called()} run` continues"
        return
    lasted = elapsed((run.ended - run.began).total_seconds())
    yield on.fit(
        f"{GAP}ended {ago(run.ended, context.now)} after {lasted}: {visible(run.reason)}", on.columns
    )
    parts = [f"{run.done} done", count_of(run.iterations, "iteration")]
    parts += [f"${run.cost:,.2f}"] if run.cost else []
    yield f"{GAP}{', '.join(parts)}{f'{GAP}`{called()} run` continues' if found.spending and found.spending.ended else ''}"


def spending_lines(on: Screen, found: Overview) -> Iterator[str]:
    """Yields what the run has spent of its budgets and those of what it works on."""
    if found.spending is None:
        return
    if found.spending.budgets:
        yield on.styled("budgets", Style.STRONG)
    for one in found.spending.budgets:
        yield f"{GAP}{one.task or 'run'}{GAP}{one.words} ({one.percent} %)"


def resting_lines(on: Screen, found: Overview, now: datetime) -> Iterator[str]:
    """Yields the agents that no run starts now, since their service gives them no more."""
    if found.resting:
        yield on.styled("resting", Style.STRONG)
    for one in found.resting:
        until = f"until {one.until:%Y-%m-%d %H:%M} UTC (for {elapsed((one.until - now).total_seconds())})"
        yield on.fit(f"{GAP}{visible(one.agent)}{GAP}{until}: {visible(one.reason)}", on.columns)
