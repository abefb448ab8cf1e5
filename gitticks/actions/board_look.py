"""Tells at a glance whether one task's file on the board is worth a second look: every change of a task asks."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from gitticks.safe_read import read_plain_file
from gitticks.store.board.place import REFUSALS_FILE, board_path

if TYPE_CHECKING:
    from gitticks.actions.context import Context

_MOST_BYTES = 1024**3


def may_have_been_saved(context: Context, path: str) -> bool:
    """True if the board's file is not what the branch has, or a note says why one was not taken up.

    A writer that has just moved the branch makes it True for a moment; whoever looks again does so under the lock.

    Raises:
        BoardError: the board's own files are damaged.
    """
    board = board_path(context.repository)
    if board is None:
        return False
    if os.path.lexists(context.repository.own_dir / REFUSALS_FILE):
        return True
    try:
        return read_plain_file(board / path, _MOST_BYTES) != context.store.read(path)
    except OSError:  # it is gone, or no plain file
        return context.store.read(path) is not None
