"""history.jsonl: each event as one canonical line of JSON, and back.

Lines are joined by git's union merge and may come from a newer gitticks, so a line that cannot be understood is
reported and left alone, and the others are read. That includes events of an unknown type: they stay in the file
and no rule acts on them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any, NamedTuple, TypeVar

from gitticks.document.texts import encodable
from gitticks.document.values import format_time, parse_time
from gitticks.model.event import Actor, Event, EventType
from gitticks.model.status import ActorKind, Role, Status

T = TypeVar("T")

MOST_LINE_BYTES = 1_000_000
_SURROGATE = re.compile("[\ud800-\udfff]")
RESERVED_KEYS = frozenset({"type", "at", "actor", "from", "to", "reason"})


class BrokenLine(NamedTuple):
    """A line, from 1, that holds no event this version knows, and why."""

    line: int
    problem: str


class History(NamedTuple):
    """The events of a file in file order, its broken lines, and the bytes of a last line cut off by a crash."""

    events: tuple[Event, ...]
    broken: tuple[BrokenLine, ...] = ()
    torn: bytes = b""


def render_event(event: Event) -> str:
    """Returns the event's line with its line break: type, at, actor, from, to, reason, then its data by name.

    What is None is left out, except in the data.

    Raises:
        ValueError: the data uses a key of the event itself, or a number that JSON does not have.
    """
    clash = RESERVED_KEYS & event.data.keys()
    if clash:
        raise ValueError(f"event data may not use the keys {sorted(clash)}")
    actor = {"kind": event.actor.kind.value, "name": event.actor.name, "role": event.actor.role}
    known = {
        "type": event.type.value,
        "at": format_time(event.at),
        "actor": _present(actor),
        "from": event.from_status,
        "to": event.to_status,
        "reason": event.reason,
    }
    line = json.dumps(
        _present(known) | dict(sorted(event.data.items())),
        ensure_ascii=False,
        allow_nan=False,
        separators=(",", ":"),
    )
    return _SURROGATE.sub(lambda one: encodable(one[0]).replace("\\", r"\\"), line) + "\n"


def read_history(data: bytes) -> History:
    """Returns all that a history.jsonl holds; lines end at LF only."""
    events: list[Event] = []
    broken: list[BrokenLine] = []
    *lines, last = data.split(b"\n")
    for number, line in enumerate([*lines, last], start=1):
        if not line.strip():
            continue
        try:
            events.append(_event(line))
        except _BrokenError as error:
            if number > len(lines):
                return History(tuple(events), tuple(broken), torn=line)
            broken.append(BrokenLine(number, str(error)))
    return History(tuple(events), tuple(broken))


class _BrokenError(Exception):
    """Why a line holds no event."""


def _event(line: bytes) -> Event:
    value = _object(line)
    actor = value.pop("actor", None)
    if not isinstance(actor, dict):
        raise _BrokenError("`actor` is missing")
    event_type = _word(_TYPES, value.pop("type", None), "type")
    from_status = _optional(_STATUSES, value.pop("from", None), "from")
    to_status = _optional(_STATUSES, value.pop("to", None), "to")
    at, reason = value.pop("at", None), value.pop("reason", None)
    return Event(
        type=event_type,
        at=_time(at),
        actor=_actor(
            _word(_ACTOR_KINDS, actor.get("kind"), "actor.kind"),
            _text(actor.get("name"), "actor.name"),
            _optional(_ROLES, actor.get("role"), "actor.role"),
        ),
        from_status=from_status,
        to_status=to_status,
        reason=None if reason is None else _text(reason, "reason"),
        data={key: _plain(item) for key, item in value.items()},
    )


def _object(line: bytes) -> dict[str, Any]:
    if len(line) > MOST_LINE_BYTES:
        raise _BrokenError("the line is longer than 1 MB")
    try:
        value = _DECODER.decode(line.decode("utf-8"))
    except (ValueError, RecursionError):
        raise _BrokenError("the line is not JSON") from None
    if not isinstance(value, dict):
        raise _BrokenError("the line is not a JSON object")
    return value


def _refuse_constant(name: str) -> float:
    raise ValueError(name)


# Histories of thousands of tasks are read in one go: tables are several times faster than calling the enums, and few
# actors stand behind all events.
_DECODER = json.JSONDecoder(parse_constant=_refuse_constant)
_TYPES = {one.value: one for one in EventType}
_STATUSES = {one.value: one for one in Status}
_ACTOR_KINDS = {one.value: one for one in ActorKind}
_ROLES = {one.value: one for one in Role}


@lru_cache(maxsize=256)
def _actor(kind: ActorKind, name: str, role: Role | None) -> Actor:
    return Actor(kind, name, role)


def _word(words: Mapping[str, T], value: object, key: str) -> T:
    word = words.get(value) if isinstance(value, str) else None
    if word is None:
        raise _BrokenError(f"`{key}` is unknown: {ascii(_text(value, key))[:60]}")
    return word


def _optional(words: Mapping[str, T], value: object, key: str) -> T | None:
    return None if value is None else _word(words, value, key)


def _text(value: object, key: str) -> str:
    if not isinstance(value, str):
        raise _BrokenError(f"`{key}` is missing or not text")
    return _whole(value)


def _whole(text: str) -> str:
    """Returns a text without halves of characters, which no file can hold."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode()


def _time(value: object) -> datetime:
    time = parse_time(_text(value, "at"))
    if time is None:
        raise _BrokenError(f"`at` is not a time: {ascii(value)[:60]}")
    return time


def _plain(value: Any) -> str | int | float | bool | list[str] | None:
    """Returns a value as event data holds it; what is nested deeper becomes its JSON text."""
    if isinstance(value, str):
        return _whole(value)
    if value is None or isinstance(value, int | float):
        return value
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return [_whole(item) for item in value]
    try:
        return json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    except RecursionError:  # what could just be read may be too deep to be written, a few calls further down
        raise _BrokenError("the line is nested too deep") from None


def _present(parts: Mapping[str, object]) -> dict[str, object]:
    return {key: part for key, part in parts.items() if part is not None}
