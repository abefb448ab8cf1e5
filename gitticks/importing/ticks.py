"""ticks: one JSON file per issue."""

from __future__ import annotations

import re
from datetime import datetime
from pathlib import Path
from typing import Any

from gitticks.importing.exported import RecordError, object_of, read_file
from gitticks.importing.record import EPOCH, ForeignTask, Format, Parts, Reading, is_given_up, time_of
from gitticks.model.notes import Entry, Section
from gitticks.model.status import ActorKind, Awaiting, Requires, Status

_STATUSES = {"open": Status.PENDING, "in_progress": Status.WORKING, "closed": Status.DONE}
_NOTE = re.compile(r"(\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)?) - (?:\[(\w+)\] )?(.*)")
_MERGED = "--- merged from remote ---"


def find_ticks(place: Path) -> Path | None:
    """Returns the folder of issues in `place`, or that it is itself."""
    folders = (place / ".tick" / "issues", place / "issues", place)
    return next(
        (one for one in folders if one.is_dir() and one.name == "issues" and any(one.glob("*.json"))), None
    )


def read_ticks(folder: Path) -> Reading:
    """Returns what the folder's files hold."""
    reading = Reading(Format.TICKS)
    for file in sorted(folder.glob("*.json")):
        with reading.noting(str(file)):
            reading.add(task_of(object_of(read_file(file)), str(file)))
    return reading


def task_of(record: dict[str, Any], path: str = "") -> ForeignTask:
    """Returns one tick."""
    parts = Parts.of(record)
    source_id, title = parts.name("id"), parts.name("title")
    status = _STATUSES.get(parts.line("status") or "open")
    if status is None:
        raise RecordError(f"the status is unknown: {record.get('status')!r:.60}")
    reason = parts.text("closed_reason")
    if status is Status.DONE and is_given_up(reason):
        status = Status.CANCELLED
    awaiting = _word(parts, "awaiting", Awaiting)
    if parts.left.get("manual") is not None:
        awaiting = awaiting or (Awaiting.WORK if parts.left["manual"] is True else None)
        parts.drop("manual")
    task = parts.task(
        status,
        "type",
        ("closed_reason", reason),
        id=source_id,
        title=title,
        blocked_by=parts.texts("blocked_by"),
        parent=parts.line("parent"),
        requires=_word(parts, "requires", Requires),
        awaiting=None if status.is_terminal else awaiting,
    )
    return ForeignTask.of(
        record,
        task,
        path,
        summary=parts.text("description") or "",
        sections=parts.sections({Section.ACCEPTANCE: "acceptance_criteria"}),
        notes=read_notes(parts.text("notes") or "", task.updated or EPOCH),
        links={key: found for key in ("after", "discovered_from") if (found := parts.texts(key))},
        extra=parts.left,
    )


def _word(parts: Parts, key: str, words: type[Any]) -> Any:
    value = parts.left.get(key)
    if value not in [word.value for word in words]:
        return None
    del parts.left[key]
    return words(value)


def read_notes(text: str, undated: datetime) -> tuple[Entry, ...]:
    """Returns the notes of a tick, which stand in one text: a line with a time begins one, others continue.

    Who wrote them is not told, but `[human]` marks a person's.
    """
    found: list[tuple[Entry, list[str]]] = []
    for line in text.split("\n"):
        match = _NOTE.fullmatch(line)
        at = None if match is None else time_of(match[1])
        if match is not None and at is not None:
            kind = ActorKind.HUMAN if match[2] == "human" else ActorKind.AGENT
            mark = f"[{match[2]}] " if match[2] not in (None, "human", "agent") else ""
            found.append((Entry(at, kind, "unknown", ""), [mark + match[3]]))
        elif line.strip() != _MERGED:
            if not found:
                found.append((Entry(undated, ActorKind.AGENT, "unknown", ""), []))
            found[-1][1].append(line)
    entries = (entry._replace(text="\n".join(lines).strip()) for entry, lines in found)
    return tuple(dict.fromkeys(entry for entry in entries if entry.text))
