"""Hands out every task in a form that other tools read."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass, fields
from datetime import date, datetime
from pathlib import Path
from shlex import quote
from typing import Any

from gitticks.actions.context import Context
from gitticks.actions.importing.placing import latest_records
from gitticks.document.taskfile import TaskFile
from gitticks.document.times import format_date, format_time
from gitticks.errors import DocumentError, GitticksError
from gitticks.model.event import Event, EventType
from gitticks.model.notes import Entry, Section
from gitticks.model.task import Task
from gitticks.plainfile import reason_of
from gitticks.signs import safe_json

COLUMNS = (
    "id", "title", "type", "status", "priority", "labels", "blocked_by", "parent", "requires", "awaiting", "reviewer",
    "defer_until", "created", "created_by", "updated", "closed", "closed_reason", "external_ref", "summary",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Exported:
    """One task as it leaves: its file, and its history."""

    file: TaskFile
    events: tuple[Event, ...]

    @property
    def sections(self) -> dict[str, str]:
        """Returns the text of each section but the notes, by its title."""
        body = self.file.body
        blocks = (one for one in body.blocks if one.is_section and not one.is_named(Section.NOTES))
        return {block.title: body.content(block) for block in blocks}

    @property
    def notes(self) -> tuple[Entry, ...]:
        """Returns the notes."""
        return self.file.entries(Section.NOTES)


def read_all(context: Context) -> Iterator[Exported]:
    """Yields every task in the order of ids; what cannot be read becomes a warning."""
    view = context.store.snapshot()
    for task_id in sorted(view.task_ids()):
        try:
            yield Exported(view.task_file(task_id), view.history(task_id))
        except DocumentError as error:
            context.warnings.append(f"left out: {error.message}")


def as_csv(context: Context) -> Iterator[str]:
    """Yields a line of names, and one for each task; several values of a field are separated by a space."""
    yield _csv_line(list(COLUMNS))
    for one in read_all(context):
        values = {field.name: getattr(one.file.task, field.name) for field in fields(Task)}
        values["summary"] = one.file.summary
        yield _csv_line([_cell(values[name]) for name in COLUMNS])


def _csv_line(values: list[str]) -> str:
    stream = io.StringIO()
    csv.writer(stream, lineterminator="\n").writerow(values)
    return stream.getvalue()


def _cell(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, datetime):
        return format_time(value)
    if isinstance(value, date):
        return format_date(value)
    return " ".join(value) if isinstance(value, tuple) else str(value)


def as_beads(context: Context) -> Iterator[str]:
    """Yields a line of JSON for each task, as beads keeps its issues."""
    from gitticks.document.foreign.beads_writing import Names, issue_of

    found = list(read_all(context))
    records = {one.file.task.id: _record(one.events) for one in found}
    names = Names({task_id: record["id"] for task_id, record in records.items() if record is not None})
    for one in found:
        issue = issue_of(one.file, records[one.file.task.id], names)
        yield safe_json(json.dumps(issue, ensure_ascii=False, separators=(",", ":"))) + "\n"


def _record(events: tuple[Event, ...]) -> dict[str, Any] | None:
    """Returns the issue that the task was imported from, None for what came from elsewhere."""
    if not any(event.type is EventType.IMPORTED for event in events):
        return None
    for text in latest_records(events, "beads"):
        try:
            record = json.loads(text)
        except ValueError:
            return None
        is_issue = isinstance(record, dict) and isinstance(record.get("id"), str) and record.get("title")
        return record if is_issue else None
    return None


def write_file(path: Path, text: str) -> None:
    """Writes a file whole or not at all.

    Raises:
        GitticksError: it cannot be written.
    """
    if path.is_dir():
        raise GitticksError(
            f"`{path}` cannot be written: it is a folder",
            hint=f"`ls -ld {quote(str(path))}` shows what is there",
        )
    draft = path.with_name(f".{path.name}.gitticks-tmp")
    try:
        draft.write_text(text, "utf-8")
        draft.replace(path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise GitticksError(
            f"`{path}` cannot be written: {reason_of(error)}",
            hint=f"`ls -ld {quote(str(path.parent))}` shows who may write there",
        ) from error
