"""All that one run of the benchmark measured, and how to ask for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median

from benchmarks.commits import Crowd
from benchmarks.peers.base import Work
from benchmarks.rounds import Row
from benchmarks.watching import Watched


@dataclass(frozen=True, slots=True)
class Results:
    """What was measured.

    Attributes:
        sizes: numbers of tasks, rising.
        rows: whole processes; start-ups have the size 0.
        commits: seconds of single commits in a running process, by size and whether a board followed.
        crowds: many writers at once.
        watched: boards beside a `gt watch`.
    """

    sizes: Sequence[int]
    rows: Sequence[Row]
    commits: Mapping[tuple[int, bool], Sequence[float]]
    crowds: Sequence[Crowd]
    watched: Sequence[Watched] = ()

    @property
    def small(self) -> int:
        """Returns the smallest size."""
        return self.sizes[0]

    @property
    def middle(self) -> int:
        """Returns the size that most targets are for."""
        return self.sizes[len(self.sizes) // 2]

    @property
    def large(self) -> int:
        """Returns the largest size."""
        return self.sizes[-1]

    def row(self, size: int, work: Work, tool: str) -> Row | None:
        """Returns a row that has numbers; None where there is none."""
        return next((row for row in self._measured(size, work) if row.tool == tool), None)

    def seconds(self, size: int, work: Work, tool: str) -> float | None:
        """Returns the median time of a whole process; None where it was not measured."""
        row = self.row(size, work, tool)
        return None if row is None else row.seconds

    def times(self, size: int, work: Work, tool: str) -> Times:
        """Returns the median time of a whole process, and of its processor."""
        return times_of(self.row(size, work, tool))

    def fastest_other(self, size: int, work: Work, ours: str) -> Row | None:
        """Returns the fastest row of another tracker for the same work; None if none was measured."""
        others = [row for row in self._measured(size, work) if not row.tool.startswith(ours)]
        return min(others, key=lambda row: row.cost.seconds, default=None)

    def commit_seconds(self, size: int, *, has_board: bool = False) -> float | None:
        """Returns the median time of a commit in a running process; None where it was not measured."""
        times = self.commits.get((size, has_board))
        return median(times) if times else None

    def _measured(self, size: int, work: Work) -> Iterable[Row]:
        return (row for row in self.rows if (row.size, row.work) == (size, work) and row.seconds is not None)


@dataclass(frozen=True, slots=True)
class Times:
    """Seconds, or a ratio of seconds, on the clock and of the processor; None where nothing was measured."""

    wall: float | None = None
    cpu: float | None = None

    def over(self, other: Times) -> Times:
        """Returns how many times the other one goes into this one."""
        return Times(ratio(self.wall, other.wall), ratio(self.cpu, other.cpu))


def times_of(row: Row | None) -> Times:
    """Returns the medians of a row."""
    return Times() if row is None else Times(row.cost.seconds, row.cost.cpu_seconds)


def ratio(over: float | None, under: float | None) -> float | None:
    """Returns how many times `under` goes into `over`; None where one of them is missing."""
    return over / under if over is not None and under else None
