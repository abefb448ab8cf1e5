"""Which agents rest because their service is away or has had enough, and until when."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from gitticks.model.session import KEPT_FROM_WORK, Ending

if TYPE_CHECKING:
    from gitticks.agents.base import AgentReport

FIRST_PAUSE_SECONDS = 2.0
LONGEST_PAUSE_SECONDS = 60.0
_MOST_IN_A_ROW = {Ending.OUTAGE: 3, Ending.RATE_LIMITED: 5}
_JITTER_STEPS = 1000


@dataclass(frozen=True, slots=True)
class Pause:
    """Until when an agent rests, by the run's clock (infinity: for the rest of the run), and why."""

    until: float
    reason: str

    def is_short(self, now: float) -> bool:
        """True if a run that has nothing else to do should wait for its end."""
        return self.until - now <= LONGEST_PAUSE_SECONDS

    def in_words(self, now: float) -> str:
        """Returns how long it lasts."""
        if self.until == math.inf:
            return "for the rest of this run"
        seconds = self.until - now
        return (
            f"for {seconds:.0f} s" if seconds < 2 * LONGEST_PAUSE_SECONDS else f"for {seconds / 60:.0f} min"
        )

    def ends_at(self, now: float, present: datetime) -> datetime | None:
        """Returns when it ends, `present` being the time at `now`; None for one that lasts as long as the run."""
        if self.until == math.inf:
            return None
        return (present + timedelta(seconds=self.until - now)).replace(microsecond=0)


@dataclass
class Pauses:
    """The resting agents of one run, by name; `clock` is monotonic, `random_number` spreads runs apart."""

    clock: Callable[[], float]
    random_number: Callable[[int], int]
    _pauses: dict[str, Pause] = field(default_factory=dict)
    _in_a_row: dict[str, int] = field(default_factory=dict)

    def of(self, agent: str) -> Pause | None:
        """Returns the agent's pause while it lasts."""
        pause = self._pauses.get(agent)
        return pause if pause is not None and pause.until > self.clock() else None

    def note(self, agent: str, report: AgentReport, now: datetime) -> Pause | None:
        """Takes an agent's report into account and returns the pause that follows from it, if one does."""
        if report.ending not in KEPT_FROM_WORK:
            self._in_a_row.pop(agent, None)
            return None
        count = self._in_a_row[agent] = self._in_a_row.get(agent, 0) + 1
        pause = Pause(self.clock() + self._seconds(report, count, now), report.detail or report.ending.value)
        self._pauses[agent] = max(pause, self._pauses.get(agent, pause), key=lambda one: one.until)
        return pause

    def _seconds(self, report: AgentReport, count: int, now: datetime) -> float:
        if report.resets_at is not None:
            return max(FIRST_PAUSE_SECONDS, (report.resets_at - now).total_seconds())
        if count >= _MOST_IN_A_ROW.get(report.ending, 1):
            return math.inf
        if report.retry_after_seconds is not None:
            return max(FIRST_PAUSE_SECONDS, report.retry_after_seconds)
        jitter = 1 + self.random_number(_JITTER_STEPS) / (2 * _JITTER_STEPS)
        return min(math.ldexp(FIRST_PAUSE_SECONDS, count - 1) * jitter, LONGEST_PAUSE_SECONDS)
