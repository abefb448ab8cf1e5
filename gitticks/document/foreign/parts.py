"""Takes single values out of foreign records, whatever stands there, and never raises for a wrong one.

A value that is none of its kind is treated as unknown: it stays among the fields that have no place here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from hashlib import sha256
from typing import Any

from gitticks.document.lines import encodable, with_newlines
from gitticks.document.times import parse_time
from gitticks.model.task import DEFAULT_PRIORITY

MOST_RECORD_BYTES = 900_000
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
"""The time of what came without one."""
_MARKS = ((b"\xff\xfe", "UTF-16"), (b"\xfe\xff", "UTF-16"))
_FRACTION = re.compile(r"(?<=\d)\.(\d+)")
_GIVEN_UP = re.compile(
    r"\W*(?:won'?t (?:do|fix)|wontfix|duplicate|dup|obsolete|superseded|not planned|cancel(?:l?ed)?|abandoned"
    r"|invalid|no longer (?:needed|relevant))\b",
    re.IGNORECASE,
)
_LEAST_YEAR = 1970
_DEEPEST = 200
_TOO_DEEP = "this JSON is nested too deep"


class RecordError(Exception):
    """Why a record cannot be taken."""


def text_of(data: bytes) -> str:
    """Returns the text of a file or line.

    Raises:
        RecordError: it is no UTF-8.
    """
    encoding = next((name for mark, name in _MARKS if data.startswith(mark)), None)
    if encoding is not None:
        raise RecordError(f"this is {encoding}; save it as UTF-8")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise RecordError(f"this is no UTF-8, from byte {error.start + 1} on") from None


def object_of(data: bytes) -> dict[str, Any]:
    """Returns the JSON object that some bytes hold.

    Raises:
        RecordError: they hold none, or are too many.
    """
    value = json_of(data)
    if not isinstance(value, dict):
        raise RecordError("this is no JSON object")
    return value


def json_of(data: bytes) -> Any:
    """Returns what some bytes hold as JSON.

    Raises:
        RecordError: they are no JSON.
    """
    try:
        value = json.loads(text_of(data), parse_constant=_refuse)
    except RecursionError:
        raise RecordError(_TOO_DEEP) from None
    except ValueError as error:
        reason = f", {_reason(error)}" if isinstance(error, json.JSONDecodeError) else ""
        raise RecordError(f"this is no JSON{reason}") from None
    if _is_too_deep(value):
        raise RecordError(_TOO_DEEP)
    return value


def _is_too_deep(value: object) -> bool:
    """True for what can be read, but perhaps not be written again further down in the program."""
    depth, level = 0, [value]
    while level and depth <= _DEEPEST:
        below = [list(one.values()) if isinstance(one, dict) else one for one in level]
        level = [
            item for one in below if isinstance(one, list) for item in one if isinstance(item, dict | list)
        ]
        depth += 1
    return bool(level)


def _reason(error: json.JSONDecodeError) -> str:
    line = f"line {error.lineno}, " if error.lineno > 1 else ""
    return f"{error.msg.lower().removesuffix(' starting at')} in {line}column {error.colno}"


def _refuse(name: str) -> float:
    raise ValueError(name)


def canonical(value: Any) -> str:
    """Returns JSON that is the same for equal values."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def as_record(value: Any) -> str:
    """Returns JSON on one line with its keys in the order in which they came."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def digest_of(text: str) -> str:
    """Returns what tells one text from another."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def clean(text: str) -> str:
    """Returns the text as a file can hold it, with LF line breaks."""
    return with_newlines(encodable(text), "\n")


def one_line(text: str) -> str:
    """Returns the text on one line."""
    return " ".join(clean(text).split())


@dataclass(slots=True)
class Parts:
    """The fields of one record; what was taken is no longer among those left."""

    left: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Parts:
        """Returns the parts of a record; nulls and empty texts and lists say nothing."""
        return cls(
            {key: value for key, value in record.items() if value is not None and value not in ("", [], {})}
        )

    def text(self, key: str) -> str | None:
        """Takes a text."""
        value = self.left.get(key)
        if not isinstance(value, str):
            return None
        del self.left[key]
        return clean(value)

    def line(self, key: str) -> str | None:
        """Takes a text and puts it on one line; None where nothing is left."""
        text = self.text(key)
        return (one_line(text) or None) if text is not None else None

    def name(self, key: str, *others: str) -> str:
        """Takes the text that a record cannot do without, under the first of these keys that has one.

        Raises:
            RecordError: there is none.
        """
        for one in (key, *others):
            found = self.line(one)
            if found:
                return found
        raise RecordError(f"`{key}` is missing")

    def time(self, key: str) -> datetime | None:
        """Takes a time."""
        value = self.left.get(key)
        found = time_of(value) if isinstance(value, str) else None
        if found is not None:
            del self.left[key]
        return found

    def day(self, key: str) -> date | None:
        """Takes the day of a date or time."""
        found = self.time(key)
        return None if found is None else found.date()

    def priority(self, words: Mapping[str, int] | None = None) -> int:
        """Takes a number from 0 to 4, or one of the words for them; the default where there is none."""
        value = self.left.get("priority")
        found = (words or {}).get(value.strip().lower()) if isinstance(value, str) else value
        if isinstance(found, bool) or not isinstance(found, int) or not 0 <= found <= 4:  # noqa: PLR2004
            return DEFAULT_PRIORITY
        del self.left["priority"]
        return found

    def texts(self, key: str) -> tuple[str, ...]:
        """Takes a list of texts, each once; one text alone is a list too."""
        value = self.left.get(key)
        items = [value] if isinstance(value, str) else value
        if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
            return ()
        del self.left[key]
        return tuple(dict.fromkeys(line for item in items if (line := one_line(item))))

    def objects(self, key: str) -> list[dict[str, Any]]:
        """Takes a list of objects."""
        value = self.left.get(key)
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            return []
        del self.left[key]
        return value

    def drop(self, *keys: str) -> None:
        """Forgets fields."""
        for key in keys:
            self.left.pop(key, None)


def time_of(text: str) -> datetime | None:
    """Returns the UTC time in whole seconds; zeros of a time that was never set are none."""
    found = parse_time(_FRACTION.sub("", text.strip()))
    return found.astimezone(UTC) if found is not None and found.year >= _LEAST_YEAR else None


def is_given_up(reason: str | None) -> bool:
    """True if the reason for closing plainly says that nothing was done."""
    return reason is not None and _GIVEN_UP.match(reason) is not None
