"""What is made from the state branch looks like: the board's hooks, the index, the records of sessions."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from shlex import quote

from gitticks.actions.context import Context
from gitticks.actions.doctor.finding import Finding, Repair, Severity


def check_hooks(context: Context) -> Iterator[Finding]:
    """Yields an error if a `git commit` on the board would not be checked, or what it asks for not be done."""
    from gitticks.board.checkout_hooks import checkout_hooks_state
    from gitticks.board.hooks import are_hooks_off, board_hooks_state, server_hooks_state
    from gitticks.git.hooks_path import find_own_hooks
    from gitticks.store.hook_files import HooksState

    own = find_own_hooks(context.repository)
    if own.is_missing:
        what = f"none of your own hooks runs: `{own.named}`, which `core.hooksPath` names, is missing"
        yield Finding(Severity.WARNING, what, "make it (hook managers have a command for that), or unset it")
    state = board_hooks_state(context.repository)
    if state is HooksState.ABSENT and are_hooks_off(context.repository):
        what = "the board's hooks were uninstalled: a commit there is not checked"
        yield Finding(Severity.NOTE, what, "`gt hooks install` puts them back")
    elif state is HooksState.ABSENT:
        what = "the board has no hooks, so a commit there is not checked and a verdict in it does nothing"
        yield Finding(Severity.ERROR, what, "`gt doctor --fix`", Repair.HOOKS)
    elif state is HooksState.BROKEN:
        what = "the board's hooks are incomplete, of another version, or their Python is gone"
        yield Finding(Severity.ERROR, what, "`gt doctor --fix`", Repair.HOOKS)
    is_server = context.repository.main_worktree is None
    others = server_hooks_state(context.repository) if is_server else checkout_hooks_state(context.repository)
    if others in (HooksState.BROKEN, HooksState.HIDDEN):
        what = f"the hooks of {'this server' if is_server else 'your checkout'} do not run as they should"
        yield Finding(Severity.WARNING, what, "`gt hooks status` says why and what fixes it")


def check_index(context: Context) -> Iterator[Finding]:
    """Yields what is wrong with the index; one that is missing or old is made by the next command."""
    from gitticks.store.index_database import connect, index_path, indexed_commit

    path = index_path(context.repository)
    if not path.exists():
        return
    if not os.access(path, os.W_OK):
        what = f"the index `{path}` cannot be written"
        yield Finding(Severity.WARNING, f"{what}, so every command is slower", f"`ls -l {quote(str(path))}`")
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


def check_index_rows(context: Context) -> Iterator[Finding]:
    """Yields an error if the index says something else than the state branch; every file is read for it."""
    from gitticks.store.indexing import differing_row

    with contextlib.suppress(sqlite3.Error):  # which is told by the other check
        key = differing_row(context.repository)
        if key is not None:
            what = f"the index tells of `{key}` what the state branch does not say"
            yield Finding(Severity.ERROR, what, "`gt doctor --full --fix`", Repair.INDEX)


def rebuild_index(context: Context) -> None:
    """Throws the index away and builds it again."""
    from gitticks.store.index import open_index
    from gitticks.store.index_database import index_path

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
