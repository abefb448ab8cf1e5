"""Locks that keep others waiting: ours, which end with their holders, and git's own, which do not."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path
from shlex import quote

from gitticks.actions.context import Context
from gitticks.actions.doctor.finding import Finding, Repair, Severity
from gitticks.errors import NotFoundError
from gitticks.git.lock_files import Holder, LockFile, clear_ref_locks, holder_of, index_lock, ref_locks

_HELD_LONG_SECONDS = 5.0
_SECONDS_TOLD, _MINUTES_TOLD = 120, 120


def check_locks(context: Context) -> Iterator[Finding]:
    """Yields the locks that are held for long, and those that nobody holds any more."""
    repository = context.repository
    holder = long_holder(context)
    if holder is not None:
        who = "another process" if holder.pid is None else f"process {holder.pid}"
        yield Finding(
            Severity.WARNING,
            f"{who} has held the lock of the state branch for {_span(holder.seconds)}",
            f"`ps -fp {holder.pid}` shows it; the lock ends with it" if holder.pid else None,
        )
    for lock in ref_locks(repository):
        if lock.is_old:
            yield Finding(
                Severity.WARNING,
                f"`{lock.ref}` has been locked for {_span(lock.age_seconds)}, and git does not say by whom",
                "`gt doctor --fix`"
                if lock.is_of_git
                else f"if no git command is at work: `rm {quote(str(lock.path))}`",
                Repair.LOCKS if lock.is_of_git else None,
            )
    for name, git_dir in _checkouts(context):
        found = index_lock(git_dir)
        if found is not None and found.is_old:
            yield _index_finding(name, found)


def long_holder(context: Context) -> Holder | None:
    """Returns who has the lock of the state branch for longer than a command should, whom it is no use to wait for."""
    holder = holder_of(context.repository.own_dir / "lock")
    return holder if holder is not None and holder.seconds > _HELD_LONG_SECONDS else None


def clear_locks(context: Context) -> None:
    """Removes the locks whose takers are certainly dead: of refs of ours, and our own of the board's index."""
    from gitticks.git.indexlock import hold_index_lock
    from gitticks.git.locks import hold_lock
    from gitticks.store.board import WORKTREE_BOARD, board_checkout

    repository = context.repository
    clear_ref_locks(repository)
    WORKTREE_BOARD.bring_in_step(repository)
    board = board_checkout(repository)
    if board is not None:  # one that was in step already was not locked for that
        with hold_lock(repository.own_dir / "lock"), hold_index_lock(board.git_dir, wait_seconds=0):
            pass


def _index_finding(name: str, lock: LockFile) -> Finding:
    since = f"has been locked for {_span(lock.age_seconds)}"
    if lock.taker is not None:
        return Finding(
            Severity.WARNING,
            f"the index of {name} {since} by gitticks, process {lock.taker}, which was killed",
            "`gt doctor --fix`",
            Repair.LOCKS,
        )
    return Finding(
        Severity.WARNING,
        f"the index of {name} {since}, and git does not say by whom",
        f"if no git command or its editor is open there: `rm {quote(str(lock.path))}`",
    )


def _checkouts(context: Context) -> Iterator[tuple[str, Path]]:
    """Yields the checkouts that gitticks writes into, by what a person calls them, with their git directories."""
    from gitticks.git.checkouts import checkout_at
    from gitticks.git.worktrees import list_worktrees
    from gitticks.store.board import board_checkout

    main, common_dir = context.repository.main_worktree, context.repository.common_dir
    board = board_checkout(context.repository)
    if main is not None:
        yield f"`{main}`", common_dir
    for tree in list_worktrees(context.repository):
        with contextlib.suppress(NotFoundError):
            git_dir = checkout_at(context.repository, tree.path).git_dir
            if git_dir != common_dir:
                is_board = board is not None and git_dir == board.git_dir
                yield "the board" if is_board else f"`{tree.path}`", git_dir


def _span(seconds: float) -> str:
    whole = int(seconds)
    if whole < _SECONDS_TOLD:
        return f"{whole} s"
    return f"{whole // 60} min" if whole < _MINUTES_TOLD * 60 else f"{whole // 3600} h"
