"""Tells outages, limits and refusals apart by a service's status and words.

Statuses are compared before texts: services word their errors differently, and change them.
"""

from __future__ import annotations

import contextlib
import re
import zoneinfo
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from gitticks.model.task import Ending

_CONTEXT_FULL = re.compile(
    r"context.?(?:window|length|limit|overflow)|prompt is too long|maximum prompt length|model token limit"
    r"|input token count.*exceeds|request_too_large|request exceeds the maximum size",
    re.IGNORECASE,
)
_USAGE_LIMIT = re.compile(
    r"usage limit|(?:hit|reached|exceeded) your (?:\w+ )?limit|out of credits|credit balance is too low"
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
_EPOCH = re.compile(r"\|(\d{10})\b")
_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d)?(?:\.\d+)?(?:Z|[+-]\d\d:?\d\d)")
_HOUR_OF_DAY = re.compile(
    r"resets?(?: at)? (\d{1,2})(?::(\d\d))? ?(am|pm)\b(?: \(([A-Za-z_+/-]+)\))?", re.IGNORECASE
)
_PART = re.compile(
    r"(\d+(?:\.\d+)?) ?(d|h|m|s)(?:ays?|ours?|rs?|in(?:ute)?s?|ec(?:ond)?s?)?\b", re.IGNORECASE
)
_IN_A_WHILE = re.compile(rf"\b(?:in|after) +((?:{_PART.pattern}[, and]*)+)", re.IGNORECASE)
_SECONDS = {"d": 86_400.0, "h": 3600.0, "m": 60.0, "s": 1.0}


@dataclass(frozen=True, slots=True)
class Trouble:
    """Why an agent did not come to its proper end, and when it makes sense to try again."""

    ending: Ending
    detail: str
    retry_after_seconds: float | None = None
    resets_at: datetime | None = None


def classify(text: str, *, status: int | None = None, retry_after_seconds: float | None = None) -> Trouble:
    """Returns what a service's error means; an unknown one is a crash.

    A login that is missing or refused is a failed start: only a person can fix it, and trying again cannot.
    """
    if status is None and (named := _STATUS.search(text)):
        status = int(named[1])
    ending = _by_status(status, text) or _by_text(text)
    return Trouble(ending, one_line(text), retry_after_seconds)


def classify_limit(text: str) -> Trouble | None:
    """Returns what the words of any program mean, if they leave no doubt that a service gives it no more for now."""
    return classify(text) if _SAYS_LIMIT.search(text) else None


def with_times(trouble: Trouble, now: datetime) -> Trouble:
    """Returns the trouble of a limit with the time that its text names for its end, if it names one."""
    if trouble.ending not in (Ending.RATE_LIMITED, Ending.USAGE_LIMITED):
        return trouble
    seconds = trouble.retry_after_seconds
    at = _named_time(trouble.detail, now)
    if seconds is None and at is None:
        seconds = _named_duration(trouble.detail)
    if at is None and seconds is not None:
        at = now + timedelta(seconds=seconds)
    return Trouble(trouble.ending, trouble.detail, seconds, at)


def one_line(text: str, longest: int = 400) -> str:
    """Returns `text` on one line, cut to what a person reads."""
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def _by_status(status: int | None, text: str) -> Ending | None:
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


def _by_text(text: str) -> Ending:
    return next((ending for pattern, ending in _TEXTS if pattern.search(text)), Ending.CRASHED)


def _named_time(text: str, now: datetime) -> datetime | None:
    if epoch := _EPOCH.search(text):
        return datetime.fromtimestamp(int(epoch.group(1)), UTC)
    if stamp := _TIMESTAMP.search(text):
        with contextlib.suppress(ValueError):
            return datetime.fromisoformat(stamp.group()).astimezone(UTC).replace(microsecond=0)
    if hour := _HOUR_OF_DAY.search(text):
        return _next_hour(hour, now)
    return None


def _next_hour(found: re.Match[str], now: datetime) -> datetime | None:
    """Returns the next time that a clock shows the hour, in the zone that the text names or this machine's own."""
    hour, minute, half, zone_name = found.groups()
    try:
        zone = zoneinfo.ZoneInfo(zone_name) if zone_name else None
        here = now.astimezone(zone)
        at = here.replace(
            hour=int(hour) % 12 + (12 if half.lower() == "pm" else 0), minute=int(minute or 0), second=0
        )
    except (ValueError, OSError, zoneinfo.ZoneInfoNotFoundError):
        return None
    return (at if at > here else at + timedelta(days=1)).astimezone(UTC)


def _named_duration(text: str) -> float | None:
    found = _IN_A_WHILE.search(text)
    if found is None:
        return None
    return sum(float(count) * _SECONDS[unit.lower()] for count, unit in _PART.findall(found.group(1)))
