"""The board: a linked worktree of the state branch in which people edit tasks, updated with every commit."""

from gitticks.board.journal import Pending, PendingKind
from gitticks.board.place import (
    BoardError,
    BoardReport,
    board_checkout,
    board_path,
    create_board,
    is_on_state_branch,
)
from gitticks.board.step import WorktreeBoard, WorktreeStep, is_in_step, pending
from gitticks.model.ids import BOARD_FOLDER

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
]

WORKTREE_BOARD = WorktreeBoard()
"""The board as every store has it."""
