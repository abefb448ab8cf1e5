"""Brings the board in step and takes up what was saved there: what a status, a run, a watch and a sync do alike."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from gitticks.actions.context import Context
from gitticks.errors import GitticksError

if TYPE_CHECKING:
    from gitticks.actions.saved_edits import TakenUp


def take_up(context: Context) -> TakenUp:
    """Commits what people saved on the board, as theirs, and carries out what it asks for; nothing without a board.

    A damaged board becomes a warning: the tasks are not there, but on the branch.
    """
    from gitticks.actions.saved_edits import TakenUp, take_up_all
    from gitticks.store.board import WORKTREE_BOARD, BoardError, board_path

    if board_path(context.repository) is None:
        return TakenUp()
    with suppress(GitticksError, OSError):  # a full disk keeps nobody from reading
        WORKTREE_BOARD.bring_in_step(context.repository)
    try:
        return take_up_all(context)
    except BoardError as error:
        context.warnings.append(error.message)
        return TakenUp()
