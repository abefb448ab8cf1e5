"""Hands out every task in a form that other tools read."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass, fields
from datetime import date, datetime

from gitticks.actions.context import Context
from gitticks.document.taskfile import TaskFile
from gitticks.document.values import format_date, format_time
from gitticks.errors import DocumentError
from gitticks.model.event import Event
from gitticks.model.notes import Entry, Section
from gitticks.model.task import Task
from gitticks.terminal_safety import safe_json

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
    from gitticks.importing.beads import issue_of, record_of

    found = list(read_all(context))
    records = {one.file.task.id: record_of(one.events) for one in found}
    names: dict[str, str] = {
        task_id: record["id"] for task_id, record in records.items() if record is not None
    }
    for one in found:
        issue = issue_of(one.file, records[one.file.task.id], names)
        yield safe_json(json.dumps(issue, ensure_ascii=False, separators=(",", ":"))) + "\n"
