"""Brings the board up to date and applies what was saved there, for status, run, watch and sync."""

from __future__ import annotations

from collections.abc import Collection
from contextlib import suppress

from gitticks.actions.context import Context
from gitticks.board.checkout_state import TakenUp, board_elsewhere, is_untouched, may_have_been_saved
from gitticks.board.hooks import restore_board_hooks
from gitticks.board.ignored import keep_board_ignores
from gitticks.board.place import BoardError, board_checkout
from gitticks.board.step import WORKTREE_BOARD, warn_if_unwritable
from gitticks.errors import GitticksError
from gitticks.git.checkouts import Checkout
from gitticks.store.dropped import bring_back_dropped, dropped_commits


def take_up(context: Context, among: Collection[str] | None = None) -> TakenUp:
    """Commits what people saved on the board, as theirs, and carries out what it asks for; nothing without a board.

    Where paths are given, from the board's top, it looks first `among` them alone. A damaged board becomes a warning:
    the tasks are not there, but on the branch.
    """
    checkout = board_checkout(context.repository)
    if checkout is None:
        return TakenUp()
    elsewhere = board_elsewhere(checkout)
    if elsewhere is not None:
        context.warnings.append("{}: {}".format(*elsewhere))
    if not context.world.in_session:
        _keep_whole(context, of_all=among is None)
    try:
        _bring_in_step(context)
    except (GitticksError, OSError):  # a full disk keeps nobody from reading
        if warn_if_unwritable(context.repository, checkout, context.warnings.once):
            return TakenUp()
    with suppress(GitticksError, OSError):  # else the closer look says what is wrong
        if among is not None:
            if _are_as_committed(context, checkout, among):
                return TakenUp(is_whole=False)
        elif is_untouched(context.repository, checkout):  # git looks at every file for it
            return TakenUp()
    from gitticks.actions.saved_edits import take_up_all  # loads what reads and judges tasks

    try:
        return take_up_all(context, among)
    except BoardError as error:
        context.warnings.append(error.message)
        return TakenUp()


def _are_as_committed(context: Context, board: Checkout, among: Collection[str]) -> bool:
    """True if these are folders, or plain files as the branch has them: so are all that a commit of our own brought.

    None at all are written where a work branch moves, or the state branch without its board.
    """
    return all(
        (place := board.path / path).is_dir()
        or (place.is_file() and not may_have_been_saved(context.store, board.path, path))
        for path in among
    )


def _keep_whole(context: Context, *, of_all: bool) -> None:
    """Brings back commits that git dropped, and `of_all` that git needs for the board what somebody deleted."""
    with suppress(GitticksError, OSError):
        _bring_back(context)
    for keep in (restore_board_hooks, keep_board_ignores) if of_all else ():
        with suppress(GitticksError, OSError):
            keep(context.repository)


def _bring_back(context: Context) -> None:
    count = bring_back_dropped(context.store) if dropped_commits(context.repository) else 0
    if count:
        commits = "a commit" if count == 1 else f"{count} commits"
        context.warnings.append(f"git had dropped {commits} from the state branch: restored")


def _bring_in_step(context: Context) -> None:
    """Brings the board up to date, again once whoever is saving a file that is not is done with it."""
    report = WORKTREE_BOARD.bring_in_step(context.repository)
    behind = () if report is None else (*report.deferred, *report.conflicts)
    if behind:
        from gitticks.board.edits import wait_until_quiet  # loads what reads edits

        if wait_until_quiet(context.repository, behind):
            WORKTREE_BOARD.bring_in_step(context.repository)
