"""What git is doing on the board: another commit checked out, a merge in progress; and whether a file differs."""

from __future__ import annotations

import os
from collections.abc import Mapping
from shlex import quote
from typing import TYPE_CHECKING, NamedTuple

from gitticks.board.journal import load_journal
from gitticks.board.place import REFUSALS_FILE, is_on_state_branch
from gitticks.git.checkouts import changed_paths, head
from gitticks.git.refs import has_ref, read_ref
from gitticks.git.staged import has_message, has_staged_changes, is_in_series, rebased_from
from gitticks.model.ids import BOARD_FOLDER
from gitticks.safe_read import read_plain_file
from gitticks.store.layout import STATE_BRANCH, STATE_REF

if TYPE_CHECKING:
    from pathlib import Path

    from gitticks.git.checkouts import Checkout
    from gitticks.git.repository import Repository
    from gitticks.store.branch import Store

REFUSED = "edited, refused: "
"""What the words begin with that say what is wrong with an edit."""

_MOST_BYTES = 1024**3
_SHOWN_DIGITS = 10
_WAITING = {"MERGE_HEAD": "merge", "CHERRY_PICK_HEAD": "cherry-pick", "REVERT_HEAD": "revert"}


class TakenUp(NamedTuple):
    """What became of the edits that were saved on the board.

    `paths` are committed now; `left` are those that stay, each with words that say why. `is_whole` is False where only
    some files were looked at, so that others may stay as well.
    """

    paths: tuple[str, ...] = ()
    left: Mapping[str, str] = {}
    is_whole: bool = True

    @property
    def has_refused(self) -> bool:
        """True if something is wrong with an edit, so that committing it would not help."""
        return any(words.startswith(REFUSED) for words in self.left.values())


def board_elsewhere(checkout: Checkout) -> tuple[str, str] | None:
    """Returns what is there instead of the state branch, and the way back; None where it is that branch."""
    if is_on_state_branch(checkout):
        return None
    if is_in_series(checkout.git_dir):
        return _rebase(checkout)
    what = f"something other than the state branch is checked out in {BOARD_FOLDER}/"
    return what, f"`{_way_back(checkout)}`"


def _way_back(checkout: Checkout) -> str:
    """Returns what takes along what was edited there, which may be what the branch has changed since."""
    board = f"git -C {BOARD_FOLDER}"
    if not has_staged_changes(checkout.git_dir, checkout.path):
        return f"{board} switch --merge {STATE_BRANCH}"
    # Where something is staged git does not merge as it switches.
    return f"{board} stash && {board} switch {STATE_BRANCH} && {board} stash pop"


def _rebase(checkout: Checkout) -> tuple[str, str]:
    """Returns how a rebase continues: git does not end one whose branch was written to meanwhile."""
    what = f"git is in the middle of a rebase in {BOARD_FOLDER}/"
    board = f"git -C {BOARD_FOLDER}"
    began = rebased_from(checkout.git_dir)
    if began is None or began == read_ref(checkout.common_dir, STATE_REF):
        return what, f"`{board} rebase --continue` or `{board} rebase --abort`"
    aside = f"half-rebased-{(head(checkout) or began)[:_SHOWN_DIGITS]}"  # what was kept before stays
    return (
        f"{what} and cannot finish it, because the state branch has moved on",
        f"`{board} branch -f {aside} && {board} rebase --abort` saves what was done so far; then rebase again",
    )


def waiting_on_board(checkout: Checkout, *, are_files_merged: bool = False) -> tuple[str, str] | None:
    """Returns what waits on the board for a person to conclude it, and how; None where nothing does, or in a rebase.

    Files with both sides are named as to be added, but where they will be merged before.
    """
    if not is_on_state_branch(checkout):
        return None
    for file, command in _WAITING.items():
        if has_ref(checkout.git_dir, file):
            board = f"git -C {BOARD_FOLDER}"
            conclusion = f"`{board} {_conclusion(checkout, command)}`"
            unmerged = checkout.git(["diff", "--name-only", "--diff-filter=U", "-z"]).text.split("\0")[:-1]
            if unmerged and not are_files_merged:
                files = " ".join(map(quote, unmerged))
                conclusion = f"`{board} add {files} && {conclusion[1:]} once the text is right,"
            return (
                f"git is in the middle of a {command} in {BOARD_FOLDER}/",
                f"{conclusion} or `{board} {command} --abort`",
            )
    return None


def _conclusion(checkout: Checkout, command: str) -> str:
    """Returns what git takes as the end: it makes no commit without a message, and none that changes nothing."""
    if command == "merge":
        return "commit --no-edit" if has_message(checkout.git_dir) else "commit -m merge"
    return (
        f"{command} --continue"
        if has_staged_changes(checkout.git_dir, checkout.path)
        else f"{command} --skip"
    )


def is_untouched(repository: Repository, checkout: Checkout) -> bool:
    """True if the board is as the branch has it, and nothing is remembered of edits that were there before.

    Whoever is writing to it makes this False for a moment; the look that follows waits for them.
    """
    journal = load_journal(repository)
    return (
        is_on_state_branch(checkout)
        and journal.base == read_ref(repository.common_dir, STATE_REF)
        and not (journal.pending or journal.seen)
        and all(typed == joined for pairs in journal.typed.values() for typed, joined in pairs)
        and not os.path.lexists(repository.own_file(REFUSALS_FILE))
        and not changed_paths(checkout)
    )


def may_have_been_saved(store: Store, board: Path | None, path: str) -> bool:
    """True if the file in the board's folder is not what the branch has, or a note says why one was not applied.

    A writer that has just moved the branch makes it True for a moment; whoever looks again does so under the lock.
    """
    if board is None:
        return False
    if os.path.lexists(store.repository.own_file(REFUSALS_FILE)):
        return True
    try:
        return read_plain_file(f"{board}/{path}", _MOST_BYTES) != store.read(path)
    except OSError:  # it is gone, or not a regular file
        return store.read(path) is not None
