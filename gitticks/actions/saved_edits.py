"""Takes up what a person saved on the board and has not committed.

A verdict that is only saved does not count yet, so a file that holds a new one is left to its `git commit`; so is
one that cannot be read, or that asks for what is refused. What is left is named with the reason, never passed over.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gitticks.actions.context import Context
from gitticks.errors import GitticksError
from gitticks.model.ids import TaskId, task_path
from gitticks.plainfile import read_plain_file

if TYPE_CHECKING:
    from gitticks.store.board.saved import SavedEdit
    from gitticks.store.hand_edits import HandEdit
    from gitticks.store.transaction import Transaction

NOT_COMMITTED = "edited, not committed"
_VERDICT = "edited, its verdict counts once it is committed"
_REFUSED = "edited, not taken up: "
_MOST_BYTES = 1024**3


@dataclass(frozen=True, slots=True)
class TakenUp:
    """What became of the edits that were saved on the board.

    `paths` are committed now; `left` are those that stay, each with words that say why.
    """

    paths: tuple[str, ...] = ()
    left: Mapping[str, str] = field(default_factory=dict)

    @property
    def has_refused(self) -> bool:
        """True if something is wrong with an edit, so that committing it would not help."""
        return any(words.startswith(_REFUSED) for words in self.left.values())


def take_up_all(context: Context) -> TakenUp:
    """Commits the edits of every task that a person saved, and carries out what they ask for.

    What is staged is left to the commit that the person prepares. To be called with the board in step.
    """
    from gitticks.store.board.saved import saved_edits
    from gitticks.store.layout import task_of_path

    paths: list[str] = []
    left: dict[str, str] = {}
    edits = saved_edits(context.repository)
    prepared = _prepared(context) if edits else frozenset()
    for saved in edits:
        task_id = task_of_path(saved.path)
        if task_id is None or saved.path in prepared or context.world.in_session:
            left[saved.path] = NOT_COMMITTED
            continue
        reason = _take_up(context, saved, task_id)
        if reason is None:
            paths.append(saved.path)
        else:
            left[saved.path] = reason
    return TakenUp(tuple(paths), left)


def _prepared(context: Context) -> frozenset[str]:
    """Returns the paths of the board that are staged."""
    from gitticks.git.repository import discover
    from gitticks.git.staged import staged_changes
    from gitticks.store.board import board_path

    board = board_path(context.repository)
    if board is None:
        return frozenset()
    return frozenset(change.path for change in staged_changes(discover(board), {}))


def take_up_saved(context: Context, task_id: TaskId) -> str | None:
    """Commits a person's saved edit of one task as theirs, and carries out what it asks for.

    Returns:
        why an edit stays as it is, in words that follow the file's path; None if there is none that does.
    """
    path = task_path(task_id)
    if context.world.in_session or not _differs(context, path):
        return None
    from gitticks.store.board.saved import saved_edit

    saved = saved_edit(context.repository, path)
    return None if saved is None else _take_up(context, saved, task_id)


def _take_up(context: Context, saved: SavedEdit, task_id: TaskId) -> str | None:
    """Commits one saved edit; returns why it stays, None if it does not."""
    from gitticks.actions.hook_checks import check_edit, edit_between
    from gitticks.actions.hook_followup import follow_edit

    if saved.content is None:
        return f"{_REFUSED}a task is not removed, but cancelled (`gt cancel {task_id}`)"
    if saved.base is None:
        return NOT_COMMITTED
    try:
        edit = edit_between(saved.base, saved.content, saved.path)
        if edit.wanted.verdict is not None:
            return _VERDICT
        check_edit(context, context.store.snapshot(), edit, task_id)
    except GitticksError as error:
        return _REFUSED + _reason(error, saved.path)
    if not context.store.transact(
        lambda transaction: _commit(context, transaction, edit, saved.base), author=context.author
    ):
        return NOT_COMMITTED
    follow_edit(context, edit, context.author)
    return None


def _reason(error: GitticksError, path: str) -> str:
    """Returns an error's message with its line, but without the file's path, which its reader knows."""
    place = re.match(rf"{re.escape(path)}(?::(\d+))?(?::\d+)?: ", error.message)
    if place is None:
        return error.message
    line = f"line {place[1]}: " if place[1] else ""
    return line + error.message[place.end() :]


def _differs(context: Context, path: str) -> bool:
    """True if the board's file is not what the branch has; one small read, as most commands find nothing.

    A writer that has just moved the branch makes it True for a moment; whoever asks looks again under the lock.
    """
    from gitticks.store.board import board_path

    board = board_path(context.repository)
    try:
        return board is not None and read_plain_file(board / path, _MOST_BYTES) != context.store.read(path)
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
