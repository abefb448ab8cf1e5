"""Budgets: how much of one is spent, which level that reaches, and what follows from it.

What was spent is read from histories, so restarts and other clones agree on it. A task's budget counts since a person's
last word on it; an epic's counts what all below it took since a person last let it continue.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from gitticks.model.event import Data, Event, EventType
from gitticks.model.settings import BudgetLimits
from gitticks.model.spending import Level, Metric, Reading, Scope, Spent, total_of
from gitticks.model.status import Role
from gitticks.model.task import CAME_TO_NOTHING, Ending, Usage

_MOST = 1e15
_NO_ITERATION = {ending.value for ending in CAME_TO_NOTHING - {Ending.STOPPED}}
"""Sessions that ended so did no work that a limit is to count; one that was stopped may have."""


def read(scope: Scope, spent: Spent, limits: BudgetLimits) -> tuple[Reading, ...]:
    """Returns a reading of each limit that is set."""
    return tuple(
        Reading(scope, metric, amount, limit)
        for metric, amount, limit in zip(Metric, spent, limits, strict=True)
        if limit is not None
    )


def newly_reached(before: Sequence[Reading], after: Sequence[Reading]) -> tuple[Reading, ...]:
    """Returns the later readings that reached a level of which there is something to say."""
    levels = {one.metric: one.level for one in before}
    return tuple(one for one in after if one.level > levels.get(one.metric, Level.FREE))


def stopping(readings: Iterable[Reading], role: Role) -> Reading | None:
    """Returns the first reading by which nobody is to be started in a role; None if somebody may be."""
    return next((one for one in readings if one.stops(role)), None)


def reached_data(reading: Reading, total: Spent) -> Data:
    """Returns what an event records of a level that was reached; `total` is all that was ever spent."""
    return {
        "scope": reading.scope.value,
        "metric": reading.metric.value,
        "spent": reading.spent,
        "limit": reading.limit,
        "level": reading.level.value,
        **total_data(total),
    }


def total_data(total: Spent) -> Data:
    """Returns what an event records of all that was ever spent."""
    return {f"total_{name}": value for name, value in total._asdict().items()}


def reading_in(reached: Event) -> Reading | None:
    """Returns what an event records of a level that was reached; None if anybody else wrote it."""
    data = reached.data
    try:
        scope, metric = Scope(str(data.get("scope"))), Metric(str(data.get("metric")))
    except ValueError:
        return None
    return Reading(scope, metric, _number(reached, "spent"), _number(reached, "limit"))


def spent_by(event: Event) -> Usage:
    """Returns what the end of a session reports; anybody may have written it, so no figure that makes no sense."""
    return Usage(
        iterations=1,
        tokens_in=int(_number(event, "tokens_in")),
        tokens_out=int(_number(event, "tokens_out")),
        cost=_number(event, "cost"),
        seconds=_number(event, "seconds"),
    )


def counted_in(history: Sequence[Event], session_id: str) -> Usage:
    """Returns the tokens that an agent had counted in its own session when it last ended."""
    for event in reversed(history):
        tokens_in, tokens_out = event.data.get("counted_in"), event.data.get("counted_out")
        if (
            event.data.get("session") == session_id
            and isinstance(tokens_in, int)
            and isinstance(tokens_out, int)
        ):
            return Usage(tokens_in=tokens_in, tokens_out=tokens_out)
    return Usage()


def iterations_of(role: Role | None, ending: str) -> int:
    """Returns how many iterations a session counts for: 1 for a worker's, 0 for one that did no work or reviewed."""
    return int(role is Role.WORKER and ending not in _NO_ITERATION)


def iteration_number(usage: Usage, role: Role | None) -> int:
    """Returns which iteration of its task a session belongs to, from 1: a worker's is the next, a review's the last."""
    return max(1, usage.iterations + (role is Role.WORKER))


def spent_of(usage: Usage, role: Role | None, ending: str) -> Spent:
    """Returns what a session counts for."""
    return Spent(iterations_of(role, ending), usage.tokens_in + usage.tokens_out, usage.cost, usage.seconds)


def spent_in_session(ended: Event) -> Spent:
    """Returns what the end of a session counts for."""
    role = Role.WORKER if ended.data.get("role") == Role.WORKER.value else None
    return spent_of(spent_by(ended), role, str(ended.data.get("ending")))


def spent_in(history: Iterable[Event]) -> Spent:
    """Returns what all sessions of a history took."""
    return total_of(spent_in_session(event) for event in history if event.type is EventType.SESSION_ENDED)


def total_in(event: Event) -> Spent:
    """Returns all that was ever spent when a level was reached or more was granted, as the event records it."""
    return Spent(
        int(_number(event, "total_iterations")),
        int(_number(event, "total_tokens")),
        _number(event, "total_cost"),
        _number(event, "total_seconds"),
    )


def _number(event: Event, name: str) -> float:
    value = event.data.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    return value if 0 <= value < _MOST else 0
