"""beads: one JSON object per line, read, and written back with changes."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from gitticks.document.entries import normalised, unescape
from gitticks.document.taskfile import TaskFile
from gitticks.document.texts import trimmed
from gitticks.document.values import format_date, format_time
from gitticks.importing.exported import (
    MOST_RECORD_BYTES,
    STDIN,
    RecordError,
    lines_of,
    object_of,
    refuse_utf16,
)
from gitticks.importing.record import (
    EPOCH,
    ForeignTask,
    Format,
    Parts,
    Reading,
    clean,
    comment,
    is_given_up,
    one_line,
    time_of,
)
from gitticks.importing.task_text import imported_words
from gitticks.model.event import Event, EventType
from gitticks.model.notes import Entry, Section
from gitticks.model.status import ActorKind, Awaiting, Status
from gitticks.model.task import Task

_IGNORED = ("_type", "dependency_count", "dependent_count", "comment_count")
_BLOCKING = frozenset({"blocks", "conditional-blocks", "waits-for"})
_PARENT = "parent-child"
_STATUSES = {
    "open": Status.PENDING,
    "in_progress": Status.WORKING,
    "hooked": Status.WORKING,
    "closed": Status.DONE,
}
_FIELDS_OF_SECTIONS = {Section.CONTEXT: "design", Section.ACCEPTANCE: "acceptance_criteria"}
_FILES = ("issues.jsonl", "beads.jsonl")
_LEFT_OUT = (
    "missing_blockers",
    "cancelled_blockers",
    "left_out_blockers",
    "missing_parent",
    "left_out_parent",
    "parents",
)
_NO_WORK = frozenset({"message", "event", "gate", "agent", "rig", "role"})


def find_beads(place: Path) -> Path | None:
    """Returns the file of issues in `place`, or that it is itself."""
    if place.is_file():
        return place if place.suffix == ".jsonl" else None
    files = (folder / name for folder in (place / ".beads", place) for name in _FILES)
    return next((file for file in files if file.is_file()), None)


def read_beads(path: Path) -> Reading:
    """Returns what the file holds, or stdin where it is `-`."""
    if str(path) == STDIN:
        return read_lines(lines_of(sys.stdin.buffer), "stdin")
    with path.open("rb") as stream:
        refuse_utf16(stream.peek(2))
        return read_lines(lines_of(stream), str(path))


def read_lines(lines: Iterable[bytes | None], path: str) -> Reading:
    """Returns what the lines hold; None is one that is too long."""
    reading = Reading(Format.BEADS)
    for number, line in enumerate(lines, start=1):
        with reading.noting(path, number):
            if line is None:
                raise RecordError(f"the line is longer than {MOST_RECORD_BYTES:,} bytes")
            if line.strip(b" \t\r\n\xef\xbb\xbf"):
                _read(object_of(line), path, number, reading)
    return reading


def _read(record: dict[str, Any], path: str, line: int, reading: Reading) -> None:
    kind = record.get("_type", "issue")
    if kind != "issue":
        reading.skip("a memory" if kind == "memory" else "no issue")
    elif record.get("status") == "tombstone":
        reading.skip("a tombstone")
    else:
        reading.add(task_of(record, path, line))


def task_of(record: dict[str, Any], path: str = "", line: int | None = None) -> ForeignTask:
    """Returns one issue."""
    parts = Parts.of(record)
    parts.drop(*_IGNORED)
    source_id, title = parts.name("id"), parts.name("title")
    blockers, parents, links = _dependencies(parts, source_id)
    reason = parts.text("close_reason")
    status, awaiting = _state(parts, reason)
    task = parts.task(
        status,
        "issue_type",
        ("close_reason", reason),
        id=source_id,
        title=title,
        awaiting=awaiting,
        blocked_by=blockers,
        parent=parents[0] if parents else None,
        assignee=parts.line("assignee"),
        due=parts.day("due_at"),
    )
    return ForeignTask.of(
        record,
        task,
        path,
        line,
        summary=parts.text("description") or "",
        sections=parts.sections(_FIELDS_OF_SECTIONS),
        notes=_notes(parts, task.updated),
        is_held=awaiting is Awaiting.INPUT and parts.left.get("status") == "blocked",
        links={**links, **({"parents": parents[1:]} if parents[1:] else {})},
        extra=parts.left,
    )


def _state(parts: Parts, reason: str | None) -> tuple[Status, Awaiting | None]:
    """Returns the status and whose turn it is: what no agent can begin as it stands waits for a person."""
    word = parts.left.get("status", "open")
    status = _STATUSES.get(word) if isinstance(word, str) else None
    if word in ("open", "in_progress", "closed"):
        parts.drop("status")
    if status is Status.DONE:
        return (Status.CANCELLED if is_given_up(reason) else Status.DONE), None
    if parts.left.get("issue_type") in _NO_WORK or "await_type" in parts.left or word == "pinned":
        return Status.PENDING, Awaiting.WORK
    if status is None:
        until = parts.left.get("defer_until")
        waits = word == "deferred" and isinstance(until, str) and time_of(until) is not None
        return Status.PENDING, None if waits else Awaiting.INPUT
    return status, None


def _dependencies(
    parts: Parts, source_id: str
) -> tuple[tuple[str, ...], tuple[str, ...], dict[str, tuple[str, ...]]]:
    """Takes the dependencies: what holds the issue back, its parents, and links of other kinds."""
    found: dict[str, dict[str, None]] = {}
    for one in parts.objects("dependencies"):
        target, kind = one.get("depends_on_id"), one.get("type") or "blocks"
        if (
            one.get("issue_id", source_id) != source_id
            or not isinstance(target, str)
            or not isinstance(kind, str)
        ):
            parts.left.setdefault("dependencies", []).append(one)
        else:
            found.setdefault(kind, {})[one_line(target)] = None
    blockers = dict.fromkeys(target for kind in found if kind in _BLOCKING for target in found[kind])
    links = {
        kind: tuple(targets) for kind, targets in found.items() if kind not in _BLOCKING and kind != _PARENT
    }
    return tuple(blockers), tuple(found.get(_PARENT, ())), links


def _notes(parts: Parts, updated: datetime | None) -> tuple[Entry, ...]:
    """Takes notes and comments; who wrote the notes is not known, so they are the engine's."""
    notes = parts.text("notes")
    entries = [Entry(updated or EPOCH, ActorKind.ENGINE, "beads", notes)] if notes else []
    for one in parts.objects("comments"):
        text = one.get("text")
        if isinstance(text, str):
            entries.append(comment(one.get("author"), text, one.get("created_at"), updated))
        else:
            parts.left.setdefault("comments", []).append(one)
    return tuple(entries)


def record_of(events: Sequence[Event]) -> dict[str, Any] | None:
    """Returns the issue that the task was imported from last, None for what came from elsewhere."""
    imports = (one.data for one in reversed(events) if one.type is EventType.IMPORTED)
    text = next((one.get("record") for one in imports if one.get("source") == Format.BEADS.value), None)
    try:
        record = json.loads(text) if isinstance(text, str) else None
    except ValueError:
        return None
    is_issue = isinstance(record, dict) and isinstance(record.get("id"), str) and record.get("title")
    return record if is_issue else None


def issue_of(file: TaskFile, record: Mapping[str, Any] | None, names: Mapping[str, str]) -> dict[str, Any]:
    """Returns the issue as an object of JSON, made of the `record` that it was imported from, if it was.

    `names` are the ids that tasks have in beads, by their ids here, where they came from there.
    """
    task = file.task
    issue: dict[str, Any] = dict(record) if record is not None else {"id": names.get(task.id, task.id)}
    was = task_of(issue) if record is not None else None
    now, before = _fields_of(task), {} if was is None else _fields_of(was.task)

    def put(*keys: str) -> None:
        for key in keys:
            _put(issue, key, now[key], before.get(key))

    put("title")
    _put_texts(issue, file, was)
    if was is None or task.status is not was.task.status:
        begun = "open" if task.status is Status.PENDING else "in_progress"
        issue["status"] = begun if task.is_open else "closed"
    put("priority")
    if was is None or (was.task.is_epic and not task.is_epic):
        issue["issue_type"] = task.type.value
    put("labels", "assignee", "due_at", "defer_until")
    if task.external_ref not in (None, issue["id"]):
        put("external_ref")
    put("created_at", "created_by", "updated_at", "closed_at", "close_reason")
    _put_links(issue, file, names)
    _put_comments(issue, file, was)
    return issue


def _fields_of(task: Task) -> dict[str, Any]:
    """Returns what both sides have in one form, by the names that beads gives it."""
    return {
        "title": task.title,
        "priority": task.priority,
        "labels": list(task.labels),
        "assignee": task.assignee,
        "due_at": f"{task.due.isoformat()}T00:00:00Z" if task.due else None,
        "defer_until": format_date(task.defer_until) if task.defer_until else None,
        "external_ref": task.external_ref,
        "created_at": _time(task.created),
        "created_by": task.created_by,
        "updated_at": _time(task.updated),
        "closed_at": _time(task.closed),
        "close_reason": _close_reason(task),
    }


def _close_reason(task: Task) -> str | None:
    """Returns the reason; beads has one word for both ends, so that one begins with what says that a task was given up."""
    if task.status is not Status.CANCELLED or is_given_up(task.closed_reason):
        return task.closed_reason
    return f"cancelled: {task.closed_reason}" if task.closed_reason else "cancelled"


def _put(issue: dict[str, Any], key: str, value: Any, was: Any) -> None:
    """Sets a field that differs from what was imported; one that says nothing any more is taken out."""
    if value == was:
        return
    if value in (None, "", []):
        issue.pop(key, None)
    else:
        issue[key] = value


def _put_texts(issue: dict[str, Any], file: TaskFile, was: ForeignTask | None) -> None:
    _put(issue, "description", unescape(file.summary), None if was is None else _as_kept(was.summary))
    before = dict(was.sections) if was is not None else {}
    for section, key in _FIELDS_OF_SECTIONS.items():
        text = file.section(section)
        _put(issue, key, unescape(text) if text else None, _as_kept(before.get(section, "")) or None)
    known = {*_FIELDS_OF_SECTIONS, Section.NOTES}
    others = [block for block in file.body.blocks if block.is_section and not any(map(block.is_named, known))]
    texts = [f"## {block.title}\n\n{text}" for block in others if (text := file.body.content(block))]
    if texts:
        issue["notes"] = "\n\n".join([*([issue["notes"]] if issue.get("notes") else []), *texts])


def _as_kept(text: str) -> str:
    return trimmed(clean(text))


def _time(time: datetime | None) -> str | None:
    return None if time is None else format_time(time)


def _put_links(issue: dict[str, Any], file: TaskFile, names: Mapping[str, str]) -> None:
    """Keeps the dependencies that still hold, or that could not be taken over, and adds new ones."""
    task = file.task
    blockers = [names.get(one, one) for one in task.blocked_by]
    parents = [] if task.parent is None else [names.get(task.parent, task.parent)]
    words = [word for kind in _LEFT_OUT for word in imported_words(file, kind)]
    left_out = {*words, *(names.get(word, word) for word in words)}
    kept: list[Any] = []
    had: set[tuple[bool, str]] = set()
    for one in issue.get("dependencies") or []:
        kind = str(one.get("type") or "blocks") if isinstance(one, dict) else ""
        target = str(one.get("depends_on_id")) if isinstance(one, dict) else ""
        is_parent = kind == _PARENT
        wanted = parents if is_parent else blockers
        if not (is_parent or kind in _BLOCKING) or target in left_out or target in wanted:
            kept.append(one)
            had.add((is_parent, target))
    for is_parent, target in [*((False, one) for one in blockers), *((True, one) for one in parents)]:
        if (is_parent, target) not in had:
            kept.append(_dependency(issue["id"], target, task, is_parent=is_parent))
    if kept or issue.get("dependencies"):
        issue["dependencies"] = kept


def _dependency(issue_id: str, target: str, task: Task, *, is_parent: bool) -> dict[str, Any]:
    kind = _PARENT if is_parent else "blocks"
    made = {"created_at": _time(task.updated or task.created), "created_by": task.created_by}
    known = {key: value for key, value in made.items() if value is not None}
    return {"issue_id": issue_id, "depends_on_id": target, "type": kind, **known}


def _put_comments(issue: dict[str, Any], file: TaskFile, was: ForeignTask | None) -> None:
    known = {normalised(one) for one in was.notes} if was is not None else set()
    new = [one for one in file.entries(Section.NOTES) if one not in known]
    if new:
        old = issue.get("comments") or []
        issue["comments"] = [*old]
        for number, one in enumerate(new, len(old) + 1):
            said = {"author": one.name, "text": one.text, "created_at": format_time(one.at)}
            issue["comments"].append({"id": number, "issue_id": issue["id"], **said})
