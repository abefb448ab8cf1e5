"""Says what git is at on the board: something else checked out than the state branch, or a commit that waits."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gitticks.model.ids import BOARD_FOLDER
from gitticks.store.layout import STATE_BRANCH

if TYPE_CHECKING:
    from gitticks.git.checkouts import Checkout


_WAITING = {"MERGE_HEAD": "merge", "CHERRY_PICK_HEAD": "cherry-pick", "REVERT_HEAD": "revert"}


def board_elsewhere(checkout: Checkout) -> tuple[str, str] | None:
    """Returns what is there instead of the state branch, and the way back; None where it is that branch."""
    from gitticks.git.staged import is_in_series
    from gitticks.store.board import is_on_state_branch

    if is_on_state_branch(checkout):
        return None
    if is_in_series(checkout.git_dir):
        rebase = f"git -C {BOARD_FOLDER} rebase"
        return (
            f"git is in the middle of a rebase in {BOARD_FOLDER}/",
            f"`{rebase} --continue` or `{rebase} --abort`",
        )
    what = f"something else than the state branch is checked out in {BOARD_FOLDER}/"
    return what, f"`git -C {BOARD_FOLDER} switch {STATE_BRANCH}`"


def waiting_on_board(checkout: Checkout) -> tuple[str, str] | None:
    """Returns what waits on the board for a person to conclude it, and how; None where nothing does."""
    for file, command in _WAITING.items():
        if (checkout.git_dir / file).exists():
            board = f"git -C {BOARD_FOLDER}"
            conclude = "commit --no-edit" if command == "merge" else f"{command} --continue"
            return (
                f"git is in the middle of a {command} in {BOARD_FOLDER}/",
                f"`{board} {conclude}` or `{board} {command} --abort`",
            )
    return None
