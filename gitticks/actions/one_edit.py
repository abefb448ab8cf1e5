"""Takes up one edit that a person saved on the board, or says why it stays."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from gitticks.actions.context import Context
from gitticks.board.skip_reasons import (
    BACK,
    LEFT_ALONE,
    NOT_COMMITTED,
    REFUSED,
    VERDICT,
    Left,
    conflict,
    on_board,
    refused,
)
from gitticks.errors import GitticksError, LostRaceError
from gitticks.model.ids import BOARD_FOLDER, TaskId
from gitticks.store.layout import task_around, task_of_path

if TYPE_CHECKING:
    from gitticks.board.edits import SavedEdit
    from gitticks.store.hand_edits import HandEdit
    from gitticks.store.transaction import Transaction


def why_left_alone(context: Context, saved: SavedEdit) -> Left | None:
    """Returns why an edit is not even tried; None for one that is."""
    from gitticks.actions.hook_checks import misplaced

    if context.world.in_session:
        return Left(NOT_COMMITTED)
    back = f"`{on_board(BACK, saved.path)}`"
    if not saved.is_plain and saved.base is not None:
        return Left(f"{REFUSED}it is no plain file; move it away, then {back} brings the file back")
    if not saved.is_plain and task_of_path(saved.path) is not None:
        return Left(f"{REFUSED}it is no plain file; put the file itself there")
    if saved.is_conflict:
        return conflict(saved)
    if saved.is_young:
        return Left(f"{LEFT_ALONE}somebody keeps saving it; it is looked at again")
    if task_of_path(saved.path) is not None:
        return None
    problem = misplaced(saved.path, saved.content)
    if problem is not None and task_around(saved.path) is not None:
        away = f"`rm {BOARD_FOLDER}/{shlex.quote(saved.path)}` takes it away"
        fix = away if saved.base is None else f"{back} puts it back"
        return Left(f"{REFUSED}it is written by gitticks alone; {fix}")
    if problem is not None:
        hint = f" ({problem.hint})" if problem.hint else ""
        return Left(f"{REFUSED}it {problem.message}{hint}")
    from gitticks.actions.saved_files import why_left

    return why_left(saved)


def take_up_edit(context: Context, saved: SavedEdit) -> Left | None:
    """Commits one saved edit, and what it asks for in the same move; returns why it stays, None if it does not."""
    from gitticks.actions.hook_followup import carry_out_taken

    def carry_out(transaction: Transaction, edit: HandEdit | None) -> None:
        if edit is not None:
            carry_out_taken(context, transaction, edit)

    task_id = TaskId(saved.path.split("/")[-2])
    if saved.content is None:
        back = f"`{on_board(BACK, saved.path)}` brings it back"
        return Left(f"{REFUSED}a task is not removed, but cancelled (`gt cancel {task_id}`); {back}")
    content = saved.content
    try:
        if _edit(saved.base, content, saved.path).wanted.verdict is not None:
            return refusal_of(context, saved) or Left(VERDICT)
        edit = context.store.transact(
            lambda transaction: _commit(context, transaction, saved, content),
            author=context.author,
            then=carry_out,
        )
    except LostRaceError:
        return Left(NOT_COMMITTED)
    except GitticksError as error:
        return refused(error, saved.path)
    if edit is None:
        return Left(NOT_COMMITTED)
    warn_of_edit(context, edit)
    return None


def warn_of_edit(context: Context, edit: HandEdit) -> None:
    """Warns of what an edit makes so that it reaches nobody: the first of two sections, a key that is nearly a field."""
    from gitticks.document.fields import misnamed_keys

    doubles = edit.after.warnings
    is_new = len(doubles) > (len(edit.before.warnings) if edit.before is not None else 0)
    keys = misnamed_keys(None if edit.before is None else edit.before.frontmatter, edit.after.frontmatter)
    found = (f"{BOARD_FOLDER}/{warning}" for warning in (*(doubles if is_new else ()), *keys))
    context.warnings += (warning for warning in found if warning not in context.warnings)


def refusal_of(context: Context, saved: SavedEdit) -> Left | None:
    """Returns why what an edit says would be refused; None if it would not. Nothing is written."""
    from gitticks.actions.hook_checks import check_edit

    if saved.content is None:
        return None
    if task_of_path(saved.path) is None:
        left = why_left_alone(context, saved)
        return left if left is not None and left.words.startswith(REFUSED) else None
    try:
        edit = _edit(saved.base, saved.content, saved.path)
        check_edit(context, context.store.snapshot(), edit, TaskId(saved.path.split("/")[-2]))
    except GitticksError as error:
        return refused(error, saved.path)
    return None


def _edit(base: bytes | None, content: bytes, path: str) -> HandEdit:
    from gitticks.actions.hook_checks import edit_between

    return edit_between(base, content, path)


def _commit(context: Context, transaction: Transaction, saved: SavedEdit, content: bytes) -> HandEdit | None:
    """Writes the file as it was saved, so that the board has nothing to merge; None if the branch has moved on.

    Raises:
        GitticksError: something of it is refused.
    """
    from gitticks.actions.hook_checks import check_edit
    from gitticks.store.hand_edits import describe_edit

    path = saved.path
    if transaction.read(path) != saved.base:
        return None
    edit = _edit(saved.base, content, path)
    check_edit(context, context.store.snapshot(transaction.base), edit, TaskId(path.split("/")[-2]))
    transaction.write(path, content)
    describe_edit(transaction, edit, context.actor)
    return edit
