"""`gt import` and `gt export`: everything that another tracker holds becomes tasks here, and the other way round."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from dataclasses import dataclass, fields
from datetime import date, datetime
from typing import TYPE_CHECKING

from gitticks.actions.context import Context
from gitticks.document.taskfile import TaskFile
from gitticks.document.values import format_date, format_time
from gitticks.errors import DocumentError
from gitticks.importing.beads import issue_of, record_of
from gitticks.importing.bring_in import BringIn, Imported
from gitticks.importing.record import Format
from gitticks.importing.sources import find_source, read_source
from gitticks.model.event import Event
from gitticks.model.notes import Entry, Section
from gitticks.model.task import Task
from gitticks.terminal_safety import safe_json

if TYPE_CHECKING:
    from gitticks.store.transaction import Transaction

COLUMNS = (
    "id", "title", "type", "status", "priority", "labels", "blocked_by", "parent", "requires", "awaiting", "reviewer",
    "defer_until", "created", "created_by", "updated", "closed", "closed_reason", "external_ref", "summary",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Wish:
    """What is to be imported: a format and a place where they were named, and how far to go."""

    format: Format | None = None
    path: str | None = None
    is_dry_run: bool = False
    takes_updates: bool = False


def import_tasks(context: Context, wish: Wish) -> Imported:
    """Brings in what a source holds, and returns what came of it."""
    context.require_person("import tasks")
    top = context.repository.here_worktree or context.directory
    source = find_source(wish.format, wish.path, context.directory, top)
    bring_in = BringIn(
        read_source(source, context.directory), context.actor, context.world, wish.takes_updates
    )
    outcome = Imported(source.format, source.name, source.is_guessed, wish.is_dry_run)

    def write(transaction: Transaction) -> Imported:
        return bring_in.into(transaction, outcome)

    if wish.is_dry_run:
        return write(context.store.snapshot())
    return context.store.transact(write, author=context.author)


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
    found = list(read_all(context))
    records = {one.file.task.id: record_of(one.events) for one in found}
    names: dict[str, str] = {
        task_id: record["id"] for task_id, record in records.items() if record is not None
    }
    for one in found:
        issue = issue_of(one.file, records[one.file.task.id], names)
        yield safe_json(json.dumps(issue, ensure_ascii=False, separators=(",", ":"))) + "\n"
