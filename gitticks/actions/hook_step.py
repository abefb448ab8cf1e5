"""What the board's hooks refuse where the board is not in step with the state branch."""

from __future__ import annotations

import os

from gitticks.actions.context import Context
from gitticks.actions.hook_problem import Problem
from gitticks.actions.left_edits import BACK, on_board
from gitticks.git.staged import checked_out_ref, is_index_locked
from gitticks.store.layout import STATE_REF

_AGAIN = "`git commit` again"


def check_step(context: Context) -> tuple[Problem, ...]:
    """Brings a board that lags behind in step, and refuses all the same: what is staged was made on something older."""
    from gitticks.store.board import WORKTREE_BOARD, is_in_step

    repository = context.repository
    if checked_out_ref(repository.git_dir) != STATE_REF:
        return ()  # as during a bisect: there is nothing to be in step with
    if is_in_step(repository):
        return ()
    if is_index_locked(repository.git_dir):
        lags = "the board lags behind the state branch"
        return _conflicts(context) or (Problem(".", lags, f"`gt status` brings it in step, then {_AGAIN}"),)
    WORKTREE_BOARD.bring_in_step(repository)
    conflicts = _conflicts(context)
    if conflicts:
        return conflicts
    return (Problem(".", "the board lagged behind the state branch and was synchronised", f"run {_AGAIN}"),)


def _conflicts(context: Context) -> tuple[Problem, ...]:
    """Returns the files that a person and the branch have changed at the same place."""
    from gitticks.store.board import PendingKind, board_path, pending

    board = board_path(context.repository) or context.directory
    found = [path for path, one in pending(context.repository).items() if one.kind is PendingKind.CONFLICT]
    return tuple(
        Problem(
            path,
            "your edit and the state branch exclude each other",
            f"join them, `{on_board('add', path)}`, then {_AGAIN}",
        )
        if os.path.lexists(board / path)
        else Problem(
            path, "is gone here and changed on the branch", f"`{on_board(BACK, path)}` brings it back"
        )
        for path in found
    )
