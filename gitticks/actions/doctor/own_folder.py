"""Checks the locks, ours and those of git, and the index."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator
from shlex import quote

from gitticks.actions.context import Context
from gitticks.actions.doctor import Finding, Repair, fault, note, warning
from gitticks.board.place import board_checkout
from gitticks.board.step import WORKTREE_BOARD
from gitticks.git.checkouts import list_worktrees
from gitticks.git.indexfile import hold_index_lock
from gitticks.git.locks import hold_lock
from gitticks.git.maintenance import Holder, LockFile, clear_ref_locks, holder_of, index_lock, ref_locks
from gitticks.store.index import open_index
from gitticks.store.index_database import connect, index_path, indexed_commit

_HELD_LONG_SECONDS = 5.0
_SECONDS_SHOWN, _MINUTES_SHOWN = 120, 120


def check_locks(context: Context) -> Iterator[Finding]:
    """Yields the locks that are held for long, and those that nobody holds any more."""
    repository = context.repository
    holder = long_holder(context)
    if holder is not None:
        who = "another process" if holder.pid is None else f"process {holder.pid}"
        yield warning(
            f"{who} has held the lock of the state branch for {_span(holder.seconds)}",
            f"`ps -fp {holder.pid}` shows it; the lock ends when it does" if holder.pid else None,
        )
    for lock in ref_locks(repository):
        if lock.is_old:
            yield warning(
                f"`{lock.ref}` has been locked for {_span(lock.age_seconds)}, and git does not say by whom",
                "`gt doctor --fix`"
                if lock.is_of_git
                else f"if no git command is running: `rm {quote(str(lock.path))}`",
                Repair.LOCKS if lock.is_of_git else None,
            )
    board = board_checkout(repository)
    for one in list_worktrees(repository):  # what gitticks writes into
        found = index_lock(one.git_dir)
        if found is not None and found.is_old:
            is_board = board is not None and one.git_dir == board.git_dir
            yield _index_finding("the board" if is_board else f"`{one.path}`", found)


def long_holder(context: Context) -> Holder | None:
    """Returns who has the lock of the state branch for longer than a command should, whom it is no use to wait for."""
    holder = holder_of(context.repository.own_file("lock"))
    return holder if holder is not None and holder.seconds > _HELD_LONG_SECONDS else None


def clear_locks(context: Context) -> None:
    """Removes the locks whose takers are certainly dead: of refs of ours, and our own of the board's index."""
    repository = context.repository
    clear_ref_locks(repository)
    WORKTREE_BOARD.bring_in_step(repository)
    board = board_checkout(repository)
    if board is not None:  # one that was in step already was not locked for that
        with hold_lock(repository.own_file("lock")), hold_index_lock(board.git_dir, wait_seconds=0):
            pass


def _index_finding(name: str, lock: LockFile) -> Finding:
    since = f"has been locked for {_span(lock.age_seconds)}"
    if lock.taker is not None:
        return warning(
            f"the index of {name} {since} by gitticks, process {lock.taker}, which was killed",
            "`gt doctor --fix`",
            Repair.LOCKS,
        )
    return warning(
        f"the index of {name} {since}, and git does not say by whom",
        f"if no git command or its editor is running there: `rm {quote(str(lock.path))}`",
    )


def _span(seconds: float) -> str:
    whole = int(seconds)
    if whole < _SECONDS_SHOWN:
        return f"{whole} s"
    return f"{whole // 60} min" if whole < _MINUTES_SHOWN * 60 else f"{whole // 3600} h"


def check_index(context: Context, *, renews: bool = False) -> Iterator[Finding]:
    """Yields what is wrong with the index; one that is missing or old is made by the next command.

    With `renews` it is built again if nothing is: a wrong value in it is not noticed.
    """
    path = index_path(context.repository)
    if not os.path.lexists(path):
        return
    is_writable = os.access(path, os.W_OK)
    if not is_writable:
        what = f"the index `{path}` cannot be written"
        yield warning(f"{what}, so every command is slower", f"`ls -l {quote(str(path))}`")
    try:
        connection = connect(path)
        try:
            answer = connection.execute("PRAGMA quick_check(1)").fetchone()
            is_foreign = answer == ("ok",) and indexed_commit(connection) is None
        finally:
            connection.close()
    except sqlite3.OperationalError as error:
        yield warning(f"the index cannot be used now: {error}", "every command is slower")
        return
    except sqlite3.DatabaseError as error:
        answer, is_foreign = (str(error),), False
    if answer != ("ok",):
        yield fault(f"the index is damaged: {answer[0]}", "`gt doctor --fix`", Repair.INDEX)
    elif is_foreign:
        what = "the index is from another version, or from before this machine was started"
        yield note(what, "the next command rebuilds it")
    elif renews and is_writable:
        rebuild_index(context)


def rebuild_index(context: Context) -> None:
    """Throws the index away and builds it again."""
    index_path(context.repository).unlink(missing_ok=True)
    open_index(context.repository).close()
