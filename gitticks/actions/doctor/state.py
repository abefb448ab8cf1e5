"""What the state branch and what is made from it look like: the board, the index, the records of sessions."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator

from gitticks.actions.context import Context
from gitticks.actions.doctor.finding import Finding, Repair, Severity
from gitticks.model.ids import BOARD_FOLDER


def check_board(context: Context) -> Iterator[Finding]:
    """Yields what is wrong with the board."""
    from gitticks.store.board import board_checkout, is_in_step, is_on_state_branch, pending

    repository = context.repository
    if repository.main_worktree is None:
        return
    checkout = board_checkout(repository)
    if checkout is None:
        yield Finding(Severity.ERROR, "there is no board at .gitticks/", "`gt doctor --fix`", Repair.BOARD)
        return
    if not is_on_state_branch(checkout):
        yield Finding(
            Severity.ERROR,
            "something else than the state branch is checked out in .gitticks/",
            "`git -C .gitticks switch gitticks/state`",
        )
        return
    for path, one in sorted(pending(repository).items()):
        yield Finding(
            Severity.WARNING,
            f"{BOARD_FOLDER}/{path} is not in step with the state branch ({one.kind.value})",
            "join both by hand, then `git -C .gitticks commit -am …`" if one.kind == "conflict" else None,
            None if one.kind == "conflict" else Repair.STEP,
        )
    if not pending(repository) and not is_in_step(repository):
        yield Finding(
            Severity.WARNING, "the board is behind the state branch", "`gt doctor --fix`", Repair.STEP
        )


def check_hooks(context: Context) -> Iterator[Finding]:
    """Yields an error if a `git commit` on the board would not be checked, or what it asks for not be done."""
    from gitticks.store.hooks import HooksState, board_hooks_state

    state = board_hooks_state(context.repository)
    if state is HooksState.ABSENT:
        what = "the board has no hooks, so a commit there is not checked and a verdict in it does nothing"
        yield Finding(Severity.ERROR, what, "`gt doctor --fix`", Repair.HOOKS)
    elif state is HooksState.BROKEN:
        what = "the board's hooks are incomplete, of another version, or their Python is gone"
        yield Finding(Severity.ERROR, what, "`gt doctor --fix`", Repair.HOOKS)


def check_index(context: Context) -> Iterator[Finding]:
    """Yields what is wrong with the index; one that is missing or old is made by the next command."""
    from gitticks.store.index import connect, index_path, indexed_commit

    path = index_path(context.repository)
    if not path.exists():
        return
    if not os.access(path, os.W_OK):
        what = f"the index `{path}` cannot be written"
        yield Finding(Severity.WARNING, f"{what}, so every command is slower", f"`ls -l {path}`")
    try:
        connection = connect(path)
        try:
            answer = connection.execute("PRAGMA quick_check(1)").fetchone()
            is_foreign = answer == ("ok",) and indexed_commit(connection) is None
        finally:
            connection.close()
    except sqlite3.OperationalError as error:
        yield Finding(Severity.WARNING, f"the index cannot be used now: {error}", "every command is slower")
        return
    except sqlite3.DatabaseError as error:
        answer, is_foreign = (str(error),), False
    if answer != ("ok",):
        yield Finding(Severity.ERROR, f"the index is damaged: {answer[0]}", "`gt doctor --fix`", Repair.INDEX)
    elif is_foreign:
        what = "the index is of another version, or from before this machine was started"
        yield Finding(Severity.NOTE, what, "the next command builds it again")


def rebuild_index(context: Context) -> None:
    """Throws the index away and builds it again."""
    from gitticks.store.index import index_path, open_index

    index_path(context.repository).unlink(missing_ok=True)
    open_index(context.repository).close()


def check_sessions(context: Context) -> Iterator[Finding]:
    """Yields sessions whose runner and agent are gone, and which nobody has dealt with."""
    from gitticks.runner.records import Sessions

    for record in Sessions(context.repository.own_dir).dead():
        yield Finding(
            Severity.WARNING,
            f"the session of {record.agent} on `{record.task}` is dead and was not finished",
            "`gt health`",
        )
