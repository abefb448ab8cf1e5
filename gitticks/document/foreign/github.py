"""Reads issues of GitHub as `gh issue list --json …` prints them: one list of objects."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from gitticks.document.foreign.parts import (
    EPOCH,
    Parts,
    RecordError,
    as_record,
    canonical,
    clean,
    digest_of,
    json_of,
    one_line,
    time_of,
)
from gitticks.document.foreign.record import ForeignTask, Format, Problem, Reading
from gitticks.model.notes import Entry
from gitticks.model.status import ActorKind, Status

FIELDS = (
    "number", "title", "body", "state", "stateReason", "labels", "assignees", "createdAt", "updatedAt", "closedAt",
    "comments", "url", "author", "milestone",
)  # fmt: skip
_GIVEN_UP = frozenset({"NOT_PLANNED", "DUPLICATE"})


def read_github(data: bytes, path: str) -> Reading:
    """Returns what the list holds.

    Raises:
        RecordError: it is no JSON list.
    """
    items = json_of(data)
    if not isinstance(items, list):
        raise RecordError("this is no list of issues")
    reading = Reading(Format.GITHUB)
    for number, item in enumerate(items, start=1):
        try:
            reading.add(_task_of(item, path))
        except RecordError as error:
            reading.problems.append(Problem(path, None, f"issue {number} of the list: {error}"))
    return reading


def _task_of(record: Any, path: str) -> ForeignTask:
    if not isinstance(record, dict) or not isinstance(record.get("number"), int):
        raise RecordError("`number` is missing")
    text = canonical(record)
    parts = Parts.of(record)
    number, title = parts.left.pop("number"), parts.name("title")
    updated, closed, created = parts.time("updatedAt"), parts.time("closedAt"), parts.time("createdAt")
    status, reason = _status(parts)
    return ForeignTask(
        source_id=str(number),
        wanted_id=f"gh-{number}",
        title=title,
        path=path,
        line=None,
        digest=digest_of(text),
        record=as_record(record),
        status=status,
        labels=_names(parts, "labels", "name"),
        created=created,
        created_by=_login(parts.left.pop("author", None)),
        updated=updated,
        closed=(closed or updated) if status.is_terminal else None,
        closed_reason=reason if status.is_terminal else None,
        external_ref=parts.line("url"),
        summary=parts.text("body") or "",
        notes=tuple(_comment(one, updated) for one in parts.objects("comments")),
        extra={"assignees": list(_names(parts, "assignees", "login")), **parts.left},
    )


def _status(parts: Parts) -> tuple[Status, str | None]:
    state, reason = (parts.line("state") or "OPEN").upper(), (parts.line("stateReason") or "").upper()
    told = reason.lower().replace("_", " ") or None
    if state != "CLOSED":
        return Status.PENDING, told
    return (Status.CANCELLED if reason in _GIVEN_UP else Status.DONE), told


def _names(parts: Parts, key: str, name: str) -> tuple[str, ...]:
    found = (one.get(name) for one in parts.objects(key))
    return tuple(dict.fromkeys(line for one in found if isinstance(one, str) and (line := one_line(one))))


def _login(author: Any) -> str | None:
    login = author.get("login") if isinstance(author, dict) else None
    return one_line(login) or None if isinstance(login, str) else None


def _comment(one: dict[str, Any], undated: datetime | None) -> Entry:
    created, body = one.get("createdAt"), one.get("body")
    at = time_of(created) if isinstance(created, str) else None
    text = clean(body) if isinstance(body, str) else ""
    return Entry(at or undated or EPOCH, ActorKind.HUMAN, _login(one.get("author")) or "unknown", text)
