"""Tells outages, limits and refusals apart by a service's status and words.

Statuses are compared before texts: services word their errors differently, and change them.
"""

from __future__ import annotations

import contextlib
import re
import zoneinfo
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import NamedTuple

from gitticks.model.task import Ending

_CONTEXT_FULL = re.compile(
    r"context.?(?:window|length|limit|overflow)|prompt is too long|maximum prompt length|model token limit"
    r"|input token count.*exceeds|request_too_large|request exceeds the maximum size",
    re.IGNORECASE,
)
_USAGE_LIMIT = re.compile(
    r"usage.limit|(?:hit|reached|exceeded) your (?:\w+ )?limit|(?:session|daily|weekly|\d+-hour) limit reached"
    r"|out of credits|credit balance is too low"
    r"|insufficient_quota|billing hard limit",
    re.IGNORECASE,
)
_RATE_LIMIT = re.compile(
    r"\b429\b|too many requests|rate.?limit|RESOURCE_EXHAUSTED|quota|high demand|overloaded", re.IGNORECASE
)
_REFUSAL = re.compile(
    r"content.?(?:filter|policy)|usage policy|safety system|PROHIBITED_CONTENT|\bSAFETY\b|flagged as",
    re.IGNORECASE,
)
_LOGIN = re.compile(
    r"\b40[13]\b|unauthori[sz]ed|authenticat|not logged in|log ?in|api key|auth method|missing environment variable"
    r"|trusted|UNAUTHENTICATED",
    re.IGNORECASE,
)
_OUTAGE = re.compile(
    r"\b5\d\d\b|connection|connect|ECONN|ENOTFOUND|ETIMEDOUT|network|disconnected|timed? ?out|unavailable|fetch failed"
    r"|server error|server-side|temporar",
    re.IGNORECASE,
)
_TEXTS = (
    (_CONTEXT_FULL, Ending.CONTEXT_FULL),
    (_USAGE_LIMIT, Ending.USAGE_LIMITED),
    (_RATE_LIMIT, Ending.RATE_LIMITED),
    (_REFUSAL, Ending.REFUSED),
    (_LOGIN, Ending.START_FAILED),
    (_OUTAGE, Ending.OUTAGE),
)
_STATUS = re.compile(r'(?:unexpected status |last status: |"code": ?)([45]\d\d)\b')
"""How codex and gemini put a service's status into their words."""
_UNAUTHORISED, _PAYMENT_REQUIRED, _FORBIDDEN, _TIMEOUT, _TOO_MANY, _SERVER = 401, 402, 403, 408, 429, 500

_SAYS_LIMIT = re.compile(
    r"too many requests|rate.?limit(?:ed|error|.{0,20}(?:exceeded|reached|hit))|usage limit (?:reached|exceeded)"
    r"|RESOURCE_EXHAUSTED",
    re.IGNORECASE,
)
_EPOCH = re.compile(r"(?:\||\bresets_at\W{1,4})(\d{10})\b")
_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)")
_CLOCK = re.compile(
    r"(?:resets?|try again)(?: at)? "
    r"(?:(?P<month>jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]* (?P<day>\d{1,2})(?:st|nd|rd|th)?(?:,? (?P<year>\d{4}))?,?(?: at)? )?"
    r"(?P<hour>\d{1,2})(?::(?P<minute>\d\d))? ?(?P<half>am|pm)\b"
    r"(?: \((?P<zone>[A-Za-z_+/-]+)\)| (?:GMT|UTC)(?P<offset>[+-]\d{1,2})(?::(?P<offset_minutes>\d\d))?)?",
    re.IGNORECASE,
)
"""How claude, codex and gemini name the end of a limit, such as `resets Sep 15 at 7pm (Europe/Berlin)`."""
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_JUST_OVER = timedelta(minutes=5)
"""A service whose clock is behind names the hour that has just passed; it does not mean tomorrow's."""
_LONGEST_LIMIT = timedelta(days=400)
_PART = re.compile(
    r"(\d+(?:\.\d+)?) ?(d|h|m|s)(?:ays?|ours?|rs?|in(?:ute)?s?|ec(?:ond)?s?)?\b", re.IGNORECASE
)
_IN_A_WHILE = re.compile(rf"\b(?:in|after) +((?:{_PART.pattern}[, and]*)+)", re.IGNORECASE)
_SECONDS = {"d": 86_400.0, "h": 3600.0, "m": 60.0, "s": 1.0}


class Trouble(NamedTuple):
    """Why an agent did not come to its proper end, and when it makes sense to try again."""

    ending: Ending
    detail: str
    retry_after_seconds: float | None = None
    resets_at: datetime | None = None


def classify(text: str, *, status: float | None = None, retry_after_seconds: float | None = None) -> Trouble:
    """Returns what a service's error means; an unknown one is a crash.

    A login that is missing or refused is a failed start: only a person can fix it, and trying again cannot.
    """
    if status is None and (named := _STATUS.search(text)):
        status = int(named[1])
    by_text = (ending for pattern, ending in _TEXTS if pattern.search(text))
    ending = _by_status(status, text) or next(by_text, Ending.CRASHED)
    return Trouble(ending, one_line(text), retry_after_seconds)


def classify_limit(text: str) -> Trouble | None:
    """Returns what the words of any program mean, if they leave no doubt that a service gives it no more for now."""
    return classify(text) if _SAYS_LIMIT.search(text) else None


def with_times(trouble: Trouble, now: datetime) -> Trouble:
    """Returns the trouble with the time that its text names for its end, if it is a limit and names one.

    A time that no service means, such as in a thousand years, is none.
    """
    is_limit = trouble.ending in (Ending.RATE_LIMITED, Ending.USAGE_LIMITED)
    seconds, at = trouble.retry_after_seconds, None
    if is_limit:
        at = _named_time(trouble.detail, now)
        if seconds is None and at is None:
            seconds = _named_duration(trouble.detail)
    if seconds is not None and seconds > _LONGEST_LIMIT.total_seconds():
        seconds = None
    if at is not None and at - now > _LONGEST_LIMIT:
        at = None
    if is_limit and at is None and seconds is not None:
        at = now + timedelta(seconds=seconds)
    return Trouble(trouble.ending, trouble.detail, seconds, at)


def one_line(text: str, longest: int = 400) -> str:
    """Returns `text` on one line, cut to what a person reads."""
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def _by_status(status: float | None, text: str) -> Ending | None:
    if status is None:
        return None
    if status == _PAYMENT_REQUIRED or (status == _TOO_MANY and _USAGE_LIMIT.search(text)):
        return Ending.USAGE_LIMITED
    if status == _TOO_MANY:
        return Ending.RATE_LIMITED
    if status in (_UNAUTHORISED, _FORBIDDEN):
        return Ending.START_FAILED
    if status == _TIMEOUT or (status >= _SERVER and not _CONTEXT_FULL.search(text)):
        return Ending.OUTAGE
    return None


def _named_time(text: str, now: datetime) -> datetime | None:
    if epoch := _EPOCH.search(text):
        return datetime.fromtimestamp(int(epoch.group(1)), UTC)
    if stamp := _TIMESTAMP.search(text):
        with contextlib.suppress(ValueError, OverflowError):
            return datetime.fromisoformat(stamp.group()).astimezone(UTC).replace(microsecond=0)
    if clock := _CLOCK.search(text):
        return _shown_by_clock(clock, now)
    return None


def _shown_by_clock(found: re.Match[str], now: datetime) -> datetime | None:
    """Returns when a clock shows the time, in the zone that the text names or this machine's own.

    Without a date that is the next time or one that has just passed, without a year the nearest.
    """
    try:
        zone = _zone_of(found)
        here = now.astimezone(zone)
        if zone is None:  # naive: today's offset may not be that of the day
            here = here.replace(tzinfo=None)
        hour = int(found["hour"]) % 12 + (12 if found["half"].lower() == "pm" else 0)
        at = here.replace(hour=hour, minute=int(found["minute"] or 0), second=0, microsecond=0)
        if found["month"] is None:
            days = (at + timedelta(days=number) for number in (-1, 0, 1))
            return next(one for one in days if one > here - _JUST_OVER).astimezone(UTC)
        month, day = _MONTHS.index(found["month"].lower()) + 1, int(found["day"])
        years = [int(found["year"])] if found["year"] else range(here.year - 1, here.year + 2)
        dates = []
        for year in years:
            with contextlib.suppress(ValueError):  # only leap years have Feb 29
                dates.append(at.replace(year=year, month=month, day=day))
        return min(dates, key=lambda one: abs(one - here)).astimezone(UTC)
    except (ValueError, OverflowError, OSError, zoneinfo.ZoneInfoNotFoundError):
        return None


def _zone_of(found: re.Match[str]) -> tzinfo | None:
    if found["offset"]:
        minutes = int(f"{found['offset'][0]}{found['offset_minutes'] or 0}")
        return timezone(timedelta(hours=int(found["offset"]), minutes=minutes))
    return zoneinfo.ZoneInfo(found["zone"]) if found["zone"] else None


def _named_duration(text: str) -> float | None:
    found = _IN_A_WHILE.search(text)
    if found is None:
        return None
    return sum(float(count) * _SECONDS[unit.lower()] for count, unit in _PART.findall(found.group(1)))
