"""Adds a note to a task, which the next agent's prompt carries."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gitticks.actions.changing import describe_records, require_words
from gitticks.actions.context import Context
from gitticks.actions.update import add_note
from gitticks.errors import RefusedError
from gitticks.model.ids import TaskId
from gitticks.model.status import ActorKind
from gitticks.model.task import Task

if TYPE_CHECKING:
    from gitticks.store.transaction import Transaction


def note_task(context: Context, task_id: TaskId, text: str, *, kind: ActorKind | None = None) -> Task:
    """Adds a note and returns the task.

    Args:
        context: who asks, and where.
        task_id: the task.
        text: the note.
        kind: who the note is from, a person or an agent; whoever asks if not said.

    Raises:
        UsageError: the text is empty.
        RefusedError: an agent's session asks for a person's note.
    """
    text = require_words(text, "note", f'gt note {task_id} "…"')
    check_author(context, kind)

    def write(transaction: Transaction) -> Task:
        noted = add_note(context, transaction, task_id, text, kind=kind)
        describe_records(transaction, task_id, [noted], context.actor)
        return transaction.task_file(task_id).task

    return context.store.transact(write, author=context.author)


def check_author(context: Context, kind: ActorKind | None) -> None:
    """Refuses a note that claims to be a person's inside an agent's session.

    Raises:
        RefusedError: it does.
    """
    if kind is ActorKind.HUMAN and context.world.in_session:
        raise RefusedError(
            "only a person can write a person's note, and this is an agent's session",
            hint="leave out `--from`: a note of yours is an agent's",
        )
