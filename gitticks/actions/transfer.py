"""`gt import` and `gt export`: tasks of other trackers become tasks here, and the other way round."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import fields, replace
from datetime import date, datetime
from typing import NamedTuple

from gitticks.actions.audit import csv_line
from gitticks.actions.context import Context
from gitticks.document.taskfile import TaskFile
from gitticks.document.values import format_date, format_time
from gitticks.errors import DocumentError
from gitticks.importing.beads import issue_of, record_of
from gitticks.importing.bring_in import BringIn, Imported, find_source, read_source
from gitticks.importing.record import Format
from gitticks.model.event import Event, EventType
from gitticks.model.ids import TaskId, task_path
from gitticks.model.notes import Section
from gitticks.model.task import Task
from gitticks.store.transaction import Transaction
from gitticks.terminal_safety import safe_json

COLUMNS = (
    "id", "title", "type", "status", "priority", "labels", "blocked_by", "parent", "requires", "awaiting", "reviewer",
    "assignee", "due", "defer_until", "created", "created_by", "updated", "closed", "closed_reason", "external_ref", "summary",
)  # fmt: skip


def import_tasks(
    context: Context, form: Format | None, path: str | None, *, is_dry_run: bool, takes_updates: bool
) -> Imported:
    """Imports everything in a source, of the format and at the place if they were named, and returns the result."""
    context.require_person("import tasks")
    top = context.repository.here_worktree or context.directory
    source = find_source(form, path, context.directory, top)
    reading = read_source(source, context.directory)

    def write(transaction: Transaction) -> Imported:
        outcome = Imported(source.format, source.name, source.is_guessed, is_dry_run, others=source.others)
        return BringIn(
            reading,
            transaction,
            outcome,
            actor=context.actor,
            world=context.world,
            takes_updates=takes_updates,
        ).carry_out()

    if is_dry_run:
        return write(context.store.snapshot())
    return context.store.transact(write, author=context.author)


class Exported(NamedTuple):
    """One task as it leaves: its file, and its history."""

    file: TaskFile
    events: tuple[Event, ...]

    @property
    def sections(self) -> dict[str, str]:
        """Returns the text of each section but the notes, by its title."""
        body = self.file.body
        blocks = (one for one in body.blocks if one.is_section and not one.is_named(Section.NOTES))
        return {block.title: body.content(block) for block in blocks}


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
    yield csv_line(COLUMNS) + "\n"
    for one in read_all(context):
        values = {field.name: getattr(one.file.task, field.name) for field in fields(Task)}
        values["summary"] = one.file.summary
        yield csv_line(_cell(values[name]) for name in COLUMNS) + "\n"


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


def manual_to_awaiting(context: Context) -> tuple[TaskId, ...]:
    """Writes the old `manual: true` of every task as `awaiting: work`, in one commit, and returns these tasks."""
    context.require_person("migrate tasks")

    def write(transaction: Transaction) -> tuple[TaskId, ...]:
        found = [
            file
            for task_id in sorted(transaction.task_ids())
            if (file := _manual(context, transaction, task_id))
        ]
        for file in found:
            task = file.task
            new = file.without_manual()
            if task.is_open:
                new = new.with_task(replace(task, asked_at=task.asked_at or context.now, updated=context.now))
            transaction.put_task(new)
            data = {"fields": ["awaiting"]}
            event = Event(EventType.FIELDS_CHANGED, context.now, context.actor, data=data)
            transaction.append_events(task.id, [event])
        actor = context.actor
        trailers = [("Event", EventType.FIELDS_CHANGED.value), ("Actor", f"{actor.kind.value} {actor.name}")]
        transaction.describe(f"migrate: manual to awaiting in {len(found)} tasks", trailers)
        return tuple(file.task.id for file in found)

    return context.store.transact(write, author=context.author)


def _manual(context: Context, transaction: Transaction, task_id: TaskId) -> TaskFile | None:
    """Returns the task's file if it holds the old key; one that cannot be read is left alone with a warning."""
    if b"manual" not in (transaction.read(task_path(task_id)) or b""):
        return None
    try:
        file = transaction.task_file(task_id)
    except DocumentError as error:
        context.warnings.append(f"left alone: {error.message}")
        return None
    return file if file.is_manual else None
