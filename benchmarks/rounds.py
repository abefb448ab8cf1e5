"""Interleaved rounds: every command once, then every command again, so that a busy moment hits all of them alike."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from statistics import median
from tempfile import NamedTemporaryFile

from benchmarks.measure import Cost, Failure, Place, measure
from benchmarks.peers.base import Job, Prepared, Work


@dataclass(slots=True)
class Row:
    """One line of a table while it is measured.

    Attributes:
        size: how many tasks there are; 0 for a start-up, which knows of none.
        work: what is done.
        tool: by whom.
        place: where.
        job: how it is run and checked.
        costs: what the measured runs took.
        failure: why there are none.
    """

    size: int
    work: Work
    tool: str
    place: Place
    job: Job
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

    @property
    def least_seconds(self) -> float:
        """Returns the fastest run; only where something was measured."""
        return min(cost.seconds for cost in self.costs)

    @property
    def seconds(self) -> float | None:
        """Returns the median time, or None where nothing was measured."""
        return self.cost.seconds if self.costs and self.failure is None else None


def rows_of(size: int, prepared: Iterable[Prepared]) -> list[Row]:
    """Returns the empty rows of all peers, in the order of the table."""
    rows = [
        Row(size, work, tool, peer.place, job) for peer in prepared for (work, tool), job in peer.rows.items()
    ]
    return sorted(rows, key=lambda row: list(Work).index(row.work))


def fill(
    rows: list[Row], rounds: int, limit_seconds: int, patience_seconds: float, say: Callable[[str], None]
) -> None:
    """Measures all rows in place, after a warm-up round that counts only for failures and for the slow.

    The warm-up also looks at what each command says: one that does not name the task it was to work on has failed.
    A row that fails once is measured no more. One whose warm-up takes longer than `patience_seconds` keeps that
    single measurement: it would otherwise take most of the benchmark's time to say the same.
    """
    for row in rows:
        say(f"warm-up: {row.size:,} tasks, {row.work}, {row.tool}")
        _check(row, limit_seconds)
    quick = [row for row in rows if row.failure is None and row.costs[0].seconds <= patience_seconds]
    for row in quick:
        row.costs.clear()
    for number in range(1, rounds + 1):
        say(f"round {number} of {rounds}")
        for row in quick:
            if row.failure is None:
                _measure(row, number, limit_seconds)


def _check(row: Row, limit_seconds: int) -> None:
    with NamedTemporaryFile(prefix="gitticks-bench-") as output:
        _measure(row, 0, limit_seconds, output.name)
        if row.job.proof is not None and row.failure is None:
            measure(row.job.proof, row.place, limit_seconds, output.name)
        said = output.read().decode(errors="replace")
    if row.failure is None and row.job.shows and not any(text in said for text in row.job.shows):
        row.failure = Failure(f"does not show `{row.job.shows[0]}`")


def _measure(row: Row, number: int, limit_seconds: int, output: str = "/dev/null") -> None:
    if row.job.before is not None:
        row.job.before(number)
    command = row.job.commands[number % len(row.job.commands)]
    outcome = measure(command, row.place, limit_seconds, output)
    if isinstance(outcome, Failure):
        row.failure = outcome
    else:
        row.costs.append(outcome)
