"""Takes up what a person saved on the board and has not committed, before a command changes the same task.

A verdict that is only saved does not count yet, so a file that holds a new one is left to its `git commit`; so is
one that cannot be read, or that asks for what is refused.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from gitticks.actions.context import Context
from gitticks.errors import GitticksError
from gitticks.model.ids import TaskId, task_path

if TYPE_CHECKING:
    from gitticks.store.hand_edits import HandEdit
    from gitticks.store.transaction import Transaction


def take_up_saved(context: Context, task_id: TaskId) -> bool:
    """Commits a person's saved edit of one task as theirs, and carries out what it asks for; True if there was one."""
    path = task_path(task_id)
    if context.world.in_session or not _differs(context, path):
        return False
    from gitticks.actions.hook_checks import edit_between, try_out
    from gitticks.actions.hook_followup import follow_edit
    from gitticks.store.board.saved import saved_edits

    saved = next((one for one in saved_edits(context.repository) if one.path == path), None)
    if saved is None or saved.base is None or saved.content is None:
        return False
    try:
        edit = edit_between(saved.base, saved.content, path)
        if edit.wanted.verdict is not None or edit.forbidden_fields or edit.after.task.id != task_id:
            return False
        try_out(context, context.store.snapshot(), edit)
    except GitticksError:
        return False
    if not context.store.transact(
        lambda transaction: _commit(context, transaction, edit, saved.base), author=context.author
    ):
        return False
    follow_edit(context, edit, context.author)
    return True


def _differs(context: Context, path: str) -> bool:
    """True if the board's file is not what the branch has; one small read, as most commands find nothing."""
    from gitticks.store.board import board_path

    board = board_path(context.repository)
    try:
        return board is not None and (board / path).read_bytes() != context.store.read(path)
    except OSError:
        return False


def _commit(context: Context, transaction: Transaction, edit: HandEdit, base: bytes | None) -> bool:
    """Writes the file as it was saved, so that the board has nothing to merge; False if the branch has moved on."""
    from gitticks.store.hand_edits import describe_edit

    path = edit.after.path
    if transaction.read(path) != base:
        return False
    transaction.write(path, edit.after.data)
    describe_edit(transaction, edit, context.actor)
    return True
