"""What agents spend, how much of a limit that is, and how people write it."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum, StrEnum
from typing import NamedTuple

from gitticks.model.status import Role

_LONGEST_IN_TENTHS = 10.0
"""In whole seconds, 80 and 95 per cent of a short limit would read the same."""


class Metric(StrEnum):
    """What is counted, in the order of `Spent` and `BudgetLimits`; a duration is the agents' time, of a run that of the clock."""

    ITERATIONS = "iterations"
    TOKENS = "tokens"
    COST = "cost"
    DURATION = "duration"


class Scope(StrEnum):
    """Whose budget it is."""

    TASK = "task"
    EPIC = "epic"
    RUN = "run"


class Level(IntEnum):
    """How much of a budget is spent, in per cent."""

    FREE = 0
    WARNING = 80
    CRITICAL = 95
    SPENT = 100


_LEVELS = tuple(Level)


class Spent(NamedTuple):
    """What agents took: iterations of workers, tokens and dollars of all."""

    iterations: int = 0
    tokens: int = 0
    cost: float = 0.0
    seconds: float = 0.0

    def plus(self, other: Spent) -> Spent:
        """Returns the sum of both."""
        return total_of((self, other))

    def minus(self, other: Spent) -> Spent:
        """Returns what is beyond the other; never less than nothing, since a reopened task forgets what it took."""
        return Spent(
            max(0, self.iterations - other.iterations),
            max(0, self.tokens - other.tokens),
            max(0.0, round(self.cost - other.cost, 6)),
            max(0.0, round(self.seconds - other.seconds, 3)),
        )

    def of(self, metric: Metric) -> float:
        """Returns one of the figures."""
        return dict(zip(Metric, self, strict=True))[metric]


NOTHING = Spent()


def total_of(spent: Iterable[Spent]) -> Spent:
    """Returns the sum of all."""
    iterations, tokens, costs, seconds = zip(NOTHING, *spent, strict=True)
    return Spent(sum(iterations), sum(tokens), round(sum(costs), 6), round(sum(seconds), 3))


class Reading(NamedTuple):
    """How much of one limit is spent."""

    scope: Scope
    metric: Metric
    spent: float
    limit: float

    @property
    def level(self) -> Level:
        """Returns the highest level that is reached."""
        # Compared in hundredths of the limit, since a share of it is rounded: 0.8 * 3.0 is more than 2.4.
        hundredths = round(self.spent * 100, 6)
        return max((level for level in _LEVELS if hundredths >= level * self.limit), default=Level.FREE)

    @property
    def percent(self) -> int:
        """Returns the whole per cent that are spent."""
        return int(round(self.spent * 100 / self.limit, 6)) if self.limit else 100

    @property
    def words(self) -> str:
        """Returns `$2.40 of $3.00`."""
        spent = in_words(self.metric, self.spent, is_alone=False)
        if self.metric is Metric.DURATION and self.spent < min(self.limit, _LONGEST_IN_TENTHS):
            spent = f"{self.spent:.1f} s".replace(".0 ", " ")
        return f"{spent} of {in_words(self.metric, self.limit)}"

    def stops(self, role: Role) -> bool:
        """True if nobody is to be started in this role any more.

        Where iterations are spent, and everywhere but in a run, work that was handed off is still reviewed: it is paid for.
        """
        is_for_all = self.scope is Scope.RUN and self.metric is not Metric.ITERATIONS
        return self.level is Level.SPENT and (is_for_all or role is Role.WORKER)


def in_words(metric: Metric, amount: float, *, is_alone: bool = True) -> str:
    """Returns an amount as people write it: `$2.40`, `84,000 tokens`, `3 iterations`, `1 h 5 min`."""
    match metric:
        case Metric.COST:
            # Half a cent is not yet `$0.01`, and of one that is not zero nobody should read `$0.00`.
            return f"${amount:,.2f}" if amount >= 0.01 or not amount else f"${amount:.4f}"  # noqa: PLR2004
        case Metric.DURATION:
            return _duration(amount)
        case Metric.TOKENS | Metric.ITERATIONS:
            noun = metric.value if amount != 1 else metric.value.removesuffix("s")
            return f"{amount:,.0f} {noun}" if is_alone else f"{amount:,.0f}"


def _duration(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    if hours:
        return f"{hours} h {minutes} min" if minutes else f"{hours} h"
    if minutes:
        return f"{minutes} min {rest} s" if rest else f"{minutes} min"
    return f"{rest} s"
