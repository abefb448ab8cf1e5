"""Interleaved rounds: every command once, then every command again, so that a busy moment hits all of them alike."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import median

from benchmarks.measure import Cost, Failure, Place, measure
from benchmarks.peers.base import Command, Prepared, Work


@dataclass(slots=True)
class Row:
    """One line of the table while it is measured."""

    work: Work
    tool: str
    place: Place
    commands: tuple[Command, ...]
    costs: list[Cost] = field(default_factory=list)
    failure: Failure | None = None

    @property
    def cost(self) -> Cost:
        """Returns the medians of time and the largest peak; only where something was measured."""
        return Cost(
            median(cost.seconds for cost in self.costs),
            median(cost.cpu_seconds for cost in self.costs),
            max(cost.peak_kilobytes for cost in self.costs),
        )


def rows_of(prepared: Sequence[Prepared]) -> list[Row]:
    """Returns the empty rows of all peers, in the order of the table."""
    rows = [
        Row(work, tool, peer.place, commands)
        for peer in prepared
        for (work, tool), commands in peer.rows.items()
    ]
    return sorted(rows, key=lambda row: list(Work).index(row.work))


def fill(
    rows: list[Row], rounds: int, limit_seconds: int, patience_seconds: float, say: Callable[[str], None]
) -> None:
    """Measures all rows in place, after a warm-up round that counts only for failures and for the slow.

    A row that fails once is measured no more. One whose warm-up takes longer than `patience_seconds` keeps that
    single measurement: it would otherwise take most of the benchmark's time to say the same.
    """
    for row in rows:
        say(f"warm-up: {row.work} {row.tool}")
        _measure(row, 0, limit_seconds)
    quick = [row for row in rows if row.failure is None and row.costs[0].seconds <= patience_seconds]
    for row in quick:
        row.costs.clear()
    for number in range(1, rounds + 1):
        say(f"round {number} of {rounds}")
        for row in quick:
            if row.failure is None:
                _measure(row, number, limit_seconds)


def _measure(row: Row, number: int, limit_seconds: int) -> None:
    outcome = measure(row.commands[number % len(row.commands)], row.place, limit_seconds)
    if isinstance(outcome, Failure):
        row.failure = outcome
    else:
        row.costs.append(outcome)
