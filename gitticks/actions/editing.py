"""Opens a task in the user's editor and applies the result, even if the task has changed since.

The editor works on a private copy, so that a half-written file is never on the branch, and what the person wrote is
kept in a file of its own whenever it cannot be taken.
"""

from __future__ import annotations

from dataclasses import dataclass

from gitticks.actions.changing import carry_out_edit, record
from gitticks.actions.context import Context
from gitticks.actions.drafts import Draft, kept_on_error, make_draft
from gitticks.actions.edit_checks import warn_of_edit
from gitticks.document.taskfile import TaskFile
from gitticks.errors import DocumentError, GitticksError, NotFoundError, RefusedError
from gitticks.model.event import Event, EventType
from gitticks.model.ids import TaskId, task_path
from gitticks.model.task import Task
from gitticks.store.hand_edits import HandEdit, check_fields
from gitticks.store.layout import check_place
from gitticks.store.merging.checkout import merge_saved
from gitticks.store.transaction import Transaction


@dataclass(frozen=True, slots=True)
class Edited:
    """A task before and after it was edited; `before` is None for a file that could not be read."""

    before: Task | None
    after: Task


def start_edit(context: Context, task_id: TaskId) -> Draft:
    """Returns a private copy of a task's file; what the person saved on the board already is part of it."""
    context.require_person("edit a task by hand")
    content = context.store.read(task_path(task_id))
    if content is None:
        raise NotFoundError(f"there is no task `{task_id}`", hint="`gt list` shows the tasks")
    return make_draft(context, content, "TASK.md", line=_broken_line(content))


def _broken_line(content: bytes) -> int | None:
    try:
        TaskFile.parse(content, "TASK.md")
    except DocumentError as error:
        return error.line
    return None


def finish_edit(context: Context, task_id: TaskId, draft: Draft) -> Edited:
    """Applies what the editor left: text and fields as they are, status, verdict and awaiting by decision.

    On any error the draft stays where it is, and the error says so.
    """
    with kept_on_error(draft):
        return context.store.transact(
            lambda transaction: _take(context, transaction, task_id, draft), author=context.author
        )


def _take(context: Context, transaction: Transaction, task_id: TaskId, draft: Draft) -> Edited:
    path = task_path(task_id)
    edited = TaskFile.parse(draft.read(), str(draft.path))
    check_place(edited, task_id)
    now = transaction.read(path)
    if now is None:
        raise NotFoundError(f"`{task_id}` was removed in the meantime")
    try:
        current = TaskFile.parse(now, path)
        check_place(current, task_id)
    except DocumentError:
        return _fix(context, transaction, edited, is_newer=now != draft.original)
    if now != draft.original:
        before = TaskFile.parse(draft.original, path)
        check_fields(HandEdit(before, edited, current.task))
        merged = merge_saved(path, draft.original, edited.data, now)
        if merged is None:
            raise GitticksError(f"`{task_id}` was changed in the same places while you edited it")
        edited = TaskFile.parse(merged, path)
    edit = HandEdit(current, edited, current.task)
    check_fields(edit)
    carry_out_edit(context, transaction, edit, context.actor)
    after = transaction.task_file(task_id)
    warn_of_edit(context, HandEdit(current, TaskFile.parse(after.data, path), None))
    return Edited(current.task, after.task)


def _fix(context: Context, transaction: Transaction, edited: TaskFile, *, is_newer: bool) -> Edited:
    """Writes a broken file's new text; what its fields were cannot be known, so they are taken as they are."""
    task = edited.task
    if is_newer:
        raise GitticksError(f"`{task.id}` was changed while you fixed it")
    if task.verdict is not None:
        raise RefusedError(
            f"`{task.id}` could not be read, so it is not clear what `verdict` answers",
            hint=f"leave it out, then `gt approve {task.id}`",
        )
    transaction.put_task(edited)
    event = Event(EventType.TEXT_CHANGED, context.now, context.actor, reason="the file could not be read")
    record(transaction, task.id, "fixed", event, context.actor)
    return Edited(None, task)
