"""Makes the query index and keeps it in step: by the writer with its own commit, by any reader after foreign ones."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from contextlib import AbstractContextManager
from pathlib import Path

from gitticks.errors import GitticksError
from gitticks.git.locks import hold_lock
from gitticks.git.objects import Objects
from gitticks.git.objects.trees import tree_id_of
from gitticks.git.repository import Repository
from gitticks.store import index_database, layout
from gitticks.store.index import Index
from gitticks.store.index_contents import (
    ChangedTask,
    Unreadable,
    changed_tasks,
    forget_tasks,
    write_broken,
    write_tasks,
)
from gitticks.store.index_database import (
    MEMORY,
    TABLES,
    connect,
    index_path,
    indexed_commit,
    is_whole,
    made_by,
)

_PRIMARY_CODE = 0xFF
_PASSING = frozenset(
    {
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
        sqlite3.SQLITE_READONLY,
        sqlite3.SQLITE_FULL,
        sqlite3.SQLITE_CANTOPEN,
        sqlite3.SQLITE_PERM,
        sqlite3.SQLITE_NOMEM,
    }
)
_WRITERS_WAIT_SECONDS = 0.25
"""How long a commit waits for readers of the index; the state lock is held meanwhile, so the next reader does it."""
_MOST_UNREADABLE = 100
"""So many files are named one by one where git's objects are damaged; of more it is the repository that is broken."""


def refreshed_index(repository: Repository, commit: str, objects: Objects | None = None) -> Index:
    """Returns the index at `commit`, from the file brought up to date if that can be, else built in memory."""
    objects = objects or repository.objects
    connection = None
    with contextlib.suppress(sqlite3.Error, OSError, GitticksError):
        connection = _refreshed_file(repository, objects, commit)
    return Index(repository, connection or built_in_memory(objects, commit), commit)


def rebuilt_in_memory(repository: Repository, commit: str) -> sqlite3.Connection:
    """Returns a fresh index at `commit` after the file turned out damaged; the file is removed."""
    with contextlib.suppress(OSError, GitticksError):
        path = index_path(repository)
        damaged = path.stat()
        with _index_lock(repository, None):
            if _is_same(path.stat(), damaged):
                _remove_file(path)
    return built_in_memory(repository.objects, commit)


def update_index(repository: Repository, objects: Objects, commit: str) -> None:
    """Brings the index file to `commit`; if that fails, the next reader does it."""
    with contextlib.suppress(sqlite3.Error, OSError, GitticksError):
        _refreshed_file(repository, objects, commit, _WRITERS_WAIT_SECONDS).close()


def _refreshed_file(
    repository: Repository, objects: Objects, commit: str, wait_seconds: float | None = None
) -> sqlite3.Connection:
    """Returns a connection to the index file, at `commit`, within a transaction that holds it there.

    Whoever writes the file or puts another in its place holds a lock: two files of one name would share a journal.
    """
    path = index_path(repository)
    with _index_lock(repository, wait_seconds):
        connection = _brought_forward(path, objects, commit, wait_seconds) if path.exists() else None
        if connection is None:
            _replace_file(path, objects, commit)
            connection = _snapshot(path, wait_seconds)
    try:
        _require_commit(connection, commit)
    except BaseException:
        connection.close()
        raise
    return connection


def _index_lock(repository: Repository, wait_seconds: float | None) -> AbstractContextManager[object]:
    seconds = index_database.BUSY_SECONDS if wait_seconds is None else wait_seconds
    return hold_lock(repository.own_dir / "index.lock", wait_seconds=seconds)


def _brought_forward(
    path: Path, objects: Objects, commit: str, wait_seconds: float | None
) -> sqlite3.Connection | None:
    """Returns a snapshot of the file after it was made to tell of `commit`, or None where it is not to be believed."""
    try:
        connection = connect(path, wait_seconds)
    except sqlite3.DatabaseError as error:
        if _is_passing(error):
            raise
        return None
    try:
        connection.execute("BEGIN")
        indexed = indexed_commit(connection) if is_whole(connection, path) else None
        if indexed == commit:
            return connection
        changes = None if indexed is None else _changes_since(objects, indexed, commit)
        if changes is not None:
            connection.execute("ROLLBACK")
            connection.execute("BEGIN IMMEDIATE")
            _write_changes(connection, objects, changes, commit)
            connection.execute("COMMIT")
            connection.execute("BEGIN")
            return connection
    except sqlite3.DatabaseError as error:
        connection.close()
        if _is_passing(error):
            raise
        return None
    except BaseException:
        connection.close()
        raise
    connection.close()
    return None


def _is_passing(error: sqlite3.DatabaseError) -> bool:
    """True if the file may be sound, and only cannot be used now."""
    return getattr(error, "sqlite_errorcode", 0) & _PRIMARY_CODE in _PASSING


def _replace_file(path: Path, objects: Objects, commit: str) -> None:
    """Builds the index aside, where a crash or a full disk does no harm, and puts it in the file's place."""
    aside = path.with_name(f"{path.name}.new")
    aside.unlink(missing_ok=True)
    try:
        aside.touch()  # SQLite itself would let nobody else write to it
        connection = connect(aside)
        try:
            connection.execute("PRAGMA journal_mode = OFF")
            _build(connection, objects, commit, Unreadable(0))
        finally:
            connection.close()
        _journal(path).unlink(missing_ok=True)
        aside.replace(path)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise


def _snapshot(path: Path, wait_seconds: float | None) -> sqlite3.Connection:
    connection = connect(path, wait_seconds)
    connection.execute("BEGIN")
    return connection


def _require_commit(connection: sqlite3.Connection, commit: str) -> None:
    """Refuses an index that another process moved on between two transactions; the question begins the snapshot."""
    if indexed_commit(connection) != commit:
        raise sqlite3.OperationalError("the index was moved")


def built_in_memory(objects: Objects, commit: str) -> sqlite3.Connection:
    """Returns an index that nobody else sees; it may lack tasks, which it names, so it is never kept."""
    unreadable = Unreadable(_MOST_UNREADABLE)
    connection = connect(MEMORY)
    _build(connection, objects, commit, unreadable)
    write_broken(connection, ((path, None, message) for path, message in unreadable.messages.items()))
    return connection


def _journal(path: Path) -> Path:
    return path.with_name(f"{path.name}-journal")


def _is_same(one: os.stat_result, other: os.stat_result) -> bool:
    return (one.st_ino, one.st_mtime_ns, one.st_size) == (other.st_ino, other.st_mtime_ns, other.st_size)


def _remove_file(path: Path) -> None:
    for name in (path, _journal(path)):
        with contextlib.suppress(OSError):
            name.unlink()


def _build(connection: sqlite3.Connection, objects: Objects, commit: str, unreadable: Unreadable) -> None:
    """Fills an empty database with what the commit holds."""
    tables, indexes = _statements()
    changes = list(changed_tasks(objects, None, tasks_tree(objects, commit), unreadable))
    connection.execute("BEGIN")
    _run(connection, tables)
    write_tasks(connection, objects, changes, unreadable)
    _run(connection, indexes)
    _write_state(connection, objects, commit)
    connection.execute("COMMIT")


def _write_changes(
    connection: sqlite3.Connection, objects: Objects, changes: list[ChangedTask], commit: str
) -> None:
    forget_tasks(connection, changes)
    write_tasks(connection, objects, changes, Unreadable(0))
    _write_state(connection, objects, commit)


def _write_state(connection: sqlite3.Connection, objects: Objects, commit: str) -> None:
    config = None
    with contextlib.suppress(GitticksError):  # whoever asks for the settings says what is damaged
        entry = objects.find(objects.tree_of(commit), layout.CONFIG_PATH)
        if entry is not None and entry.is_file:
            config = objects.read_blobs([entry.object_id])[entry.object_id]
    connection.execute("INSERT OR REPLACE INTO state VALUES (1, ?, ?, ?)", (made_by(), commit, config))


def _statements() -> tuple[list[str], list[str]]:
    """Returns what makes the tables, and what makes their indexes: those are made faster when the rows are there."""
    statements = TABLES.split(";\n")
    indexes = [statement for statement in statements if statement.startswith("CREATE INDEX")]
    return [statement for statement in statements if statement not in indexes], indexes


def _run(connection: sqlite3.Connection, statements: list[str]) -> None:
    for statement in statements:
        connection.execute(statement)


def _changes_since(objects: Objects, indexed: str, commit: str) -> list[ChangedTask] | None:
    """Returns what differs, or None where the indexed commit is gone, or any folder of either."""
    try:
        old, new = tasks_tree(objects, indexed), tasks_tree(objects, commit)
        return list(changed_tasks(objects, old, new, Unreadable(0)))
    except GitticksError:
        return None


def tasks_tree(objects: Objects, commit: str) -> str | None:
    """Returns the id of the folder of all tasks at a commit; None if it has none."""
    return tree_id_of(objects.find(objects.tree_of(commit), layout.TASKS_FOLDER))
