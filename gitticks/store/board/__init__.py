"""The board: the linked worktree of the state branch in which people edit tasks, kept in step with every commit."""

from gitticks.model.ids import BOARD_FOLDER
from gitticks.store.board.journal import Pending, PendingKind
from gitticks.store.board.place import (
    board_checkout,
    board_path,
    create_board,
    is_on_state_branch,
    repair_board,
)
from gitticks.store.board.report import BoardError, BoardReport
from gitticks.store.board.step import WorktreeBoard, WorktreeStep, is_in_step, pending

__all__ = [
    "BOARD_FOLDER",
    "WORKTREE_BOARD",
    "BoardError",
    "BoardReport",
    "Pending",
    "PendingKind",
    "WorktreeBoard",
    "WorktreeStep",
    "board_checkout",
    "board_path",
    "create_board",
    "is_in_step",
    "is_on_state_branch",
    "pending",
    "repair_board",
]

WORKTREE_BOARD = WorktreeBoard()
"""The board as every store has it."""
