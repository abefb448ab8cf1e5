"""Times as files hold them: UTC with whole seconds, read with any offset."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime

_TIME = re.compile(
    r"(\d{4}-\d\d-\d\d)(?:(?:[Tt]|[ \t]+)(\d\d:\d\d(?::\d\d)?)(?:\.\d*)?[ \t]*([Zz]|[-+]\d\d(?::?\d\d)?)?)?",
    re.ASCII,
)


def parse_time(text: str) -> datetime | None:
    """Returns the UTC time, without fractions of a second, or None if it is none; a date is its midnight."""
    match = _TIME.fullmatch(text)
    if match is None:
        return None
    day, clock, offset = match[1], match[2] or "00:00", match[3] or "Z"
    try:
        return datetime.fromisoformat(f"{day}T{clock}{offset.upper()}").astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def format_time(time: datetime) -> str:
    """Returns the time as `2026-11-22T10:02:03Z`; one without a zone is taken as UTC."""
    utc = time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    return utc.replace(tzinfo=None).isoformat(timespec="seconds") + "Z"


def format_date(day: date) -> str:
    """Returns the day as `2026-11-22`."""
    return day.isoformat()[:10]
