"""Statistics as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from gitticks.actions.statistics.figures import HALF, MOST, share

if TYPE_CHECKING:
    from gitticks.actions.statistics.figures import Figures, Statistics


def statistics_object(found: Statistics) -> dict[str, Any]:
    """Returns the keys of `gt stats --json`."""
    return {
        "since": found.period.since,
        "until": found.period.until,
        "total": _figures(found.total),
        "waits": [{"kind": one.kind, **_waits(one.seconds, one.waiting)} for one in found.waits],
        "weeks": list(found.weeks),
        "epics": [{"id": one.id, "title": one.title, **_figures(one.figures)} for one in found.epics],
        "agents": [{"name": one.name or None, **_figures(one.figures)} for one in found.agents],
    }


def _figures(figures: Figures) -> dict[str, Any]:
    lead = figures.lead_seconds
    return {
        "created": figures.created,
        "done": figures.done,
        "cancelled": figures.cancelled,
        "open": figures.open,
        "lead": {"median_seconds": share(lead, HALF), "most_seconds": share(lead, MOST)},
        "waits": _waits(figures.wait_seconds, figures.waiting),
        "rounds": figures.rounds,
        "failed_reviews": figures.failed_reviews,
        "crashes": figures.crashes,
        "sessions": figures.sessions,
        "tokens_in": figures.usage.tokens_in,
        "tokens_out": figures.usage.tokens_out,
        "cost": figures.usage.cost,
        "seconds": figures.usage.seconds,
    }


def _waits(seconds: Sequence[float], waiting: int) -> dict[str, Any]:
    return {
        "count": len(seconds),
        "waiting": waiting,
        "seconds": sum(seconds),
        "median_seconds": share(seconds, HALF),
    }
