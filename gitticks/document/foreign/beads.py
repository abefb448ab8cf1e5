"""Reads beads: one JSON object a line."""

from __future__ import annotations

from collections.abc import Iterable
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
    is_given_up,
    object_of,
    one_line,
    time_of,
)
from gitticks.document.foreign.record import ForeignTask, Format, Problem, Reading
from gitticks.model.notes import Entry, Section
from gitticks.model.status import ActorKind, Awaiting, Status

IGNORED = ("_type", "dependency_count", "dependent_count", "comment_count")
BLOCKING = frozenset({"blocks", "conditional-blocks", "waits-for"})
PARENT = "parent-child"
_STATUSES = {
    "open": Status.PENDING,
    "in_progress": Status.WORKING,
    "hooked": Status.WORKING,
    "closed": Status.DONE,
}
_NO_WORK = frozenset({"message", "event", "gate", "agent", "rig", "role"})


def read_beads(lines: Iterable[tuple[int, bytes | None]], path: str) -> Reading:
    """Returns what the lines hold; each comes with its number, and None for one that is too long."""
    reading = Reading(Format.BEADS)
    for number, line in lines:
        if line is None:
            reading.problems.append(Problem(path, number, "the line is too long"))
        elif line.strip(b" \t\r\n\xef\xbb\xbf"):
            try:
                _read(object_of(line), path, number, reading)
            except RecordError as error:
                reading.problems.append(Problem(path, number, str(error)))
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
    """Returns one issue.

    Raises:
        RecordError: its id or title is missing.
    """
    text = canonical(record)
    parts = Parts.of(record)
    parts.drop(*IGNORED)
    source_id, title = parts.name("id"), parts.name("title")
    blockers, parents, links = _dependencies(parts, source_id)
    kind = parts.left.get("issue_type")
    reason = parts.text("close_reason")
    status, awaiting = _state(parts, reason, is_held=bool(blockers))
    updated, closed = parts.time("updated_at"), parts.time("closed_at")
    if kind in ("task", "epic"):
        parts.drop("issue_type")
    return ForeignTask(
        source_id=source_id,
        title=title,
        path=path,
        line=line,
        digest=digest_of(text),
        record=as_record(record),
        is_epic=kind == "epic",
        status=status,
        awaiting=awaiting,
        priority=parts.priority(),
        labels=parts.texts("labels"),
        blocked_by=blockers,
        parent=parents[0] if parents else None,
        defer_until=parts.day("defer_until"),
        created=parts.time("created_at"),
        created_by=parts.line("created_by"),
        updated=updated,
        closed=(closed or updated) if status.is_terminal else None,
        closed_reason=one_line(reason) or None if reason and status.is_terminal else None,
        external_ref=parts.line("external_ref"),
        summary=parts.text("description") or "",
        sections=_sections(parts),
        notes=_notes(parts, updated),
        links={**links, **({"parents": parents[1:]} if parents[1:] else {})},
        extra=parts.left,
    )


def _state(parts: Parts, reason: str | None, *, is_held: bool) -> tuple[Status, Awaiting | None]:
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
        waits = (word == "deferred" and "defer_until" in parts.left) or (word == "blocked" and is_held)
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
    blockers = dict.fromkeys(target for kind in found if kind in BLOCKING for target in found[kind])
    links = {
        kind: tuple(targets) for kind, targets in found.items() if kind not in BLOCKING and kind != PARENT
    }
    return tuple(blockers), tuple(found.get(PARENT, ())), links


def _sections(parts: Parts) -> tuple[tuple[str, str], ...]:
    pairs = ((Section.CONTEXT, "design"), (Section.ACCEPTANCE, "acceptance_criteria"))
    return tuple((section.value, text) for section, key in pairs if (text := parts.text(key)))


def _notes(parts: Parts, updated: datetime | None) -> tuple[Entry, ...]:
    """Takes notes and comments; who wrote the notes is not known, so they are the engine's."""
    notes = parts.text("notes")
    entries = [Entry(updated or EPOCH, ActorKind.ENGINE, "beads", notes)] if notes else []
    for one in parts.objects("comments"):
        author, text = one.get("author"), one.get("text")
        at = time_of(one["created_at"]) if isinstance(one.get("created_at"), str) else None
        if not isinstance(text, str):
            parts.left.setdefault("comments", []).append(one)
            continue
        name = author if isinstance(author, str) else ""
        entries.append(
            Entry(at or updated or EPOCH, ActorKind.HUMAN, one_line(name) or "unknown", clean(text))
        )
    return tuple(entries)
