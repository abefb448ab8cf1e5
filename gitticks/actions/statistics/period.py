"""The time that statistics are about, and how a person says it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from gitticks.errors import UsageError

_BACK = re.compile(r"([0-9]{1,4})([dw])", re.ASCII)
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Period:
    """From `since`, or from the beginning, until `until`."""

    since: datetime | None
    until: datetime

    def has(self, at: datetime | None) -> bool:
        """True for a time within the period."""
        return at is not None and at <= self.until and (self.since is None or at >= self.since)

    def seconds_of(self, begun: datetime, ended: datetime | None) -> float:
        """Returns how much of the time between two moments lies within the period; without an end: until its own."""
        last = min(ended or self.until, self.until)
        first = begun if self.since is None else max(begun, self.since)
        return max(0.0, (last - first).total_seconds())


def read_since(text: str) -> date | timedelta:
    """Returns the day that a text names, or how far back it says.

    Raises:
        UsageError: it says neither.
    """
    if back := _BACK.fullmatch(text.strip()):
        return timedelta(days=int(back[1]) * (7 if back[2] == "w" else 1))
    try:
        if _DAY.fullmatch(text.strip()):
            return date.fromisoformat(text.strip())
    except ValueError:
        pass
    raise UsageError(f"`{text}` is not a time to count from", hint="write 2026-10-01, 30d or 12w")


def period_until(now: datetime, since: date | timedelta | None) -> Period:
    """Returns the period up to now; a day begins where its reader is.

    Raises:
        UsageError: that day is still to come.
    """
    if since is None:
        return Period(None, now)
    if isinstance(since, timedelta):
        return Period(now - since, now)
    begun = datetime.combine(since, time()).astimezone(UTC)
    if begun > now:
        raise UsageError(f"`{since.isoformat()}` is still to come", hint="`gt stats --since 30d`")
    return Period(begun, now)
