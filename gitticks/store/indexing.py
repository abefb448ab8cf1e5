"""Builds the index and keeps it current: a writer with its own commit, a reader after others' commits."""

from __future__ import annotations

import contextlib
import os
import sqlite3
from contextlib import AbstractContextManager
from pathlib import Path

from gitticks.errors import GitticksError
from gitticks.git.locks import hold_lock
from gitticks.git.objects import Objects, objects_for_many
from gitticks.git.objects.trees import tree_id_of
from gitticks.git.repository import Repository
from gitticks.store import index_database, layout
from gitticks.store.index_contents import (
    ChangedTask,
    Unreadable,
    changed_tasks,
    forget_tasks,
    write_broken,
    write_tasks,
)
from gitticks.store.index_database import (
    INDEXES,
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
"""How long a commit waits for others who write the index; the state lock is held meanwhile, so a reader does it then."""
_READERS_WAIT_SECONDS = 0.25
"""How long a write waits for readers; one that takes longer, such as a list in a pager, goes on with the old file."""
_MOST_UNREADABLE = 100
"""So many files are named one by one where git's objects are damaged; of more it is the repository that is broken."""

_MANY_SHARDS = 150
"""In so many folders there are tasks enough for reading them by libgit2 to outweigh its loading."""


def refreshed(repository: Repository, commit: str) -> sqlite3.Connection:
    """Returns the database at `commit`, from the file brought up to date if that can be, else built in memory."""
    connection = None
    with contextlib.suppress(sqlite3.Error, OSError, GitticksError):
        connection = _refreshed_file(repository, commit)
    return connection or built_in_memory(repository.objects, commit)


def rebuilt_in_memory(repository: Repository, commit: str) -> sqlite3.Connection:
    """Returns a fresh index at `commit` after the file turned out damaged; the file is removed."""
    with contextlib.suppress(OSError, GitticksError):
        path = index_path(repository)
        damaged = path.stat()
        with _index_lock(repository, None):
            now = path.stat()
            if os.path.samestat(now, damaged) and now.st_mtime_ns == damaged.st_mtime_ns:
                path.unlink()
                _journal(path).unlink(missing_ok=True)
    return built_in_memory(repository.objects, commit)


def update_index(repository: Repository, commit: str) -> None:
    """Brings the index file to `commit`; if that fails, the next reader does it."""
    with contextlib.suppress(sqlite3.Error, OSError, GitticksError):
        _refreshed_file(repository, commit, _WRITERS_WAIT_SECONDS).close()


def _refreshed_file(
    repository: Repository, commit: str, wait_seconds: float | None = None
) -> sqlite3.Connection:
    """Returns a connection to the index file, at `commit`, within a transaction that holds it there.

    Whoever writes the file or puts another in its place holds a lock: two files of one name would share a journal.
    """
    path, objects = index_path(repository), repository.objects
    with _index_lock(repository, wait_seconds):
        connection = _brought_forward(path, objects, commit, wait_seconds) if path.exists() else None
        if connection is None:
            _replace_file(path, objects, commit)
            connection = connect(path, wait_seconds)
            connection.execute("BEGIN")
    is_current = False
    try:
        is_current = indexed_commit(connection) == commit  # the question begins the snapshot
    finally:
        if not is_current:
            connection.close()
    if not is_current:
        raise sqlite3.OperationalError("another process moved the index between two transactions")
    return connection


def _index_lock(repository: Repository, wait_seconds: float | None) -> AbstractContextManager[object]:
    seconds = index_database.BUSY_SECONDS if wait_seconds is None else wait_seconds
    return hold_lock(repository.own_file("index.lock"), wait_seconds=seconds)


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
            if not _is_written(connection, objects, commit, changes):
                _replace_file(path, objects, commit, since=(connection, changes))
                connection.close()
                connection = connect(path, wait_seconds)
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


def _is_written(
    connection: sqlite3.Connection, objects: Objects, commit: str, changes: list[ChangedTask]
) -> bool:
    """Writes what changed into the file; False, with nothing written, where somebody does not stop reading it."""
    (usual,) = connection.execute("PRAGMA busy_timeout").fetchone()
    connection.execute(f"PRAGMA busy_timeout = {int(_READERS_WAIT_SECONDS * 1000)}")
    try:
        _write_changes(connection, objects, commit, changes)
    except sqlite3.OperationalError as error:
        if _code(error) != sqlite3.SQLITE_BUSY:
            raise
        connection.execute("ROLLBACK")
        return False
    connection.execute(f"PRAGMA busy_timeout = {usual}")  # reading waits for other writers as ever
    return True


def _write_changes(
    connection: sqlite3.Connection, objects: Objects, commit: str, changes: list[ChangedTask]
) -> None:
    connection.execute("BEGIN IMMEDIATE")
    forget_tasks(connection, changes)
    write_tasks(connection, objects, changes, Unreadable(0))
    _write_state(connection, objects, commit)
    connection.execute("COMMIT")


def _code(error: sqlite3.DatabaseError) -> int:
    return getattr(error, "sqlite_errorcode", 0) & _PRIMARY_CODE


def _is_passing(error: sqlite3.DatabaseError) -> bool:
    """True if the file may be sound, and only cannot be used now."""
    return _code(error) in _PASSING


def _replace_file(
    path: Path,
    objects: Objects,
    commit: str,
    since: tuple[sqlite3.Connection, list[ChangedTask]] | None = None,
) -> None:
    """Builds the index aside, where a crash or a full disk does no harm, and puts it in the file's place.

    It is copied from a connection where only some tasks changed `since`; whoever reads the old file keeps it.
    """
    aside = path.with_name(f"{path.name}.new")
    aside.unlink(missing_ok=True)
    try:
        aside.touch()  # SQLite itself would let nobody else write to it
        connection = connect(aside)
        try:
            connection.execute("PRAGMA journal_mode = OFF")
            if since is None:
                _build(connection, objects, commit, Unreadable(0))
            else:
                old, changes = since
                # Not by opening the file: closing it would end this process's locks on it.
                old.backup(connection)
                _write_changes(connection, objects, commit, changes)
        finally:
            connection.close()
        _journal(path).unlink(missing_ok=True)
        aside.replace(path)
    except BaseException:
        aside.unlink(missing_ok=True)
        raise


def built_in_memory(objects: Objects, commit: str) -> sqlite3.Connection:
    """Returns an index that nobody else sees; it may lack tasks, which it names, so it is never kept."""
    unreadable = Unreadable(_MOST_UNREADABLE)
    connection = connect(MEMORY)
    _build(connection, objects, commit, unreadable)
    write_broken(connection, ((path, None, message) for path, message in unreadable.messages.items()))
    return connection


def _journal(path: Path) -> Path:
    return path.with_name(f"{path.name}-journal")


def _build(connection: sqlite3.Connection, objects: Objects, commit: str, unreadable: Unreadable) -> None:
    """Fills an empty database with what the commit holds; indexes are made faster when the rows are there."""
    tasks = tasks_tree(objects, commit)
    if tasks is not None and len(objects.folder(tasks)) > _MANY_SHARDS:
        objects = objects_for_many(objects)
    changes = list(changed_tasks(objects, None, tasks, unreadable))
    connection.execute("BEGIN")
    for statement in TABLES:
        connection.execute(statement)
    write_tasks(connection, objects, changes, unreadable)
    for statement in INDEXES:
        connection.execute(statement)
    _write_state(connection, objects, commit)
    connection.execute("COMMIT")


def _write_state(connection: sqlite3.Connection, objects: Objects, commit: str) -> None:
    config = None
    with contextlib.suppress(GitticksError):  # whoever asks for the settings says what is damaged
        entry = objects.find(objects.tree_of(commit), layout.CONFIG_PATH)
        if entry is not None and entry.is_file:
            config = objects.read_blob(entry.object_id)
    connection.execute("INSERT OR REPLACE INTO state VALUES (1, ?, ?, ?)", (made_by(), commit, config))


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
