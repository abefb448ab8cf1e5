"""Upgrades old task files."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gitticks.actions.context import Context
from gitticks.errors import DocumentError
from gitticks.model.event import Event, EventType
from gitticks.model.ids import TaskId, task_path

if TYPE_CHECKING:
    from gitticks.document.taskfile import TaskFile
    from gitticks.store.transaction import Transaction

_PERSONS_WORK = "migrate tasks"


def manual_to_awaiting(context: Context) -> tuple[TaskId, ...]:
    """Writes the old `manual: true` of every task as `awaiting: work`, in one commit, and returns these tasks."""
    context.require_person(_PERSONS_WORK)

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
