"""Makes the query index and keeps it in step: by the writer with its own commit, by any reader after foreign ones."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Mapping

from gitticks.errors import GitticksError
from gitticks.git.objects import Objects
from gitticks.git.repository import Repository
from gitticks.git.trees import tree_id_of
from gitticks.model.ids import TaskId
from gitticks.model.task import Task
from gitticks.store import layout
from gitticks.store.index import TABLES, Index, connect, index_path, indexed_commit, made_by
from gitticks.store.index_contents import (
    ChangedTask,
    Unreadable,
    changed_tasks,
    forget_tasks,
    write_broken,
    write_tasks,
)
from gitticks.store.tip import state_tip

_TABLE_NAMES = ("state", "task", "file", "broken")
_MEMORY = ":memory:"
_WRITERS_WAIT_SECONDS = 0.25
"""How long a commit waits for readers of the index; the state lock is held meanwhile, so the next reader does it."""
_MOST_UNREADABLE = 100
"""So many files are named one by one where git's objects are damaged; of more it is the repository that is broken."""


def refreshed_index(repository: Repository, commit: str, objects: Objects | None = None) -> Index:
    """Returns the index at `commit`, from the file brought up to date if that can be, else built in memory."""
    objects = objects or Objects.open(repository)
    connection = None
    with contextlib.suppress(sqlite3.Error, OSError, GitticksError):
        connection = _refreshed_file(repository, objects, commit)
    return Index(repository, connection or _built_in_memory(objects, commit), commit)


def rebuilt_in_memory(repository: Repository, commit: str) -> sqlite3.Connection:
    """Returns a fresh index at `commit` after the file turned out damaged; the file is removed."""
    _remove_file(repository)
    return _built_in_memory(Objects.open(repository), commit)


def update_index(repository: Repository, objects: Objects, commit: str) -> None:
    """Brings the index file to `commit`; if that fails, the next reader does it."""
    with contextlib.suppress(sqlite3.Error, OSError, GitticksError):
        _refreshed_file(repository, objects, commit, _WRITERS_WAIT_SECONDS).close()


def tasks_at(repository: Repository, objects: Objects, commit: str) -> Mapping[TaskId, Task]:
    """Returns every readable task by id at any commit of the state branch."""
    if commit == state_tip(repository):
        index = refreshed_index(repository, commit, objects)
    else:
        index = Index(repository, _built_in_memory(objects, commit), commit)
    with index:
        return {task.id: task for task in index.tasks()}


def _refreshed_file(
    repository: Repository, objects: Objects, commit: str, wait_seconds: float | None = None
) -> sqlite3.Connection:
    """Returns a connection to the index file, at `commit`, within a transaction that holds it there."""
    try:
        return _opened_at(repository, objects, commit, wait_seconds)
    except sqlite3.OperationalError:
        raise  # read-only, locked or full: the file may be sound
    except sqlite3.DatabaseError:
        _remove_file(repository)
        return _opened_at(repository, objects, commit, wait_seconds)


def _opened_at(
    repository: Repository, objects: Objects, commit: str, wait_seconds: float | None
) -> sqlite3.Connection:
    path = index_path(repository)
    path.parent.mkdir(parents=True, exist_ok=True)
    connection = connect(path, wait_seconds)
    try:
        connection.execute("BEGIN")
        if indexed_commit(connection) != commit:
            connection.execute("ROLLBACK")
            connection.execute("BEGIN IMMEDIATE")
            _bring_to(connection, objects, commit, Unreadable(0))
            connection.execute("COMMIT")
            connection.execute("BEGIN")
            _require_commit(connection, commit)
    except BaseException:
        connection.close()
        raise
    return connection


def _require_commit(connection: sqlite3.Connection, commit: str) -> None:
    """Refuses an index that another process moved on between two transactions."""
    if indexed_commit(connection) != commit:
        raise sqlite3.OperationalError("the index was moved")


def _built_in_memory(objects: Objects, commit: str) -> sqlite3.Connection:
    """Returns an index that nobody else sees; it may lack tasks, which it names, so it is never kept."""
    unreadable = Unreadable(_MOST_UNREADABLE)
    connection = connect(_MEMORY)
    connection.execute("BEGIN")
    _bring_to(connection, objects, commit, unreadable)
    write_broken(connection, ((path, None, message) for path, message in unreadable.messages.items()))
    connection.execute("COMMIT")
    return connection


def _remove_file(repository: Repository) -> None:
    path = index_path(repository)
    for name in (path, path.with_name(f"{path.name}-journal")):
        with contextlib.suppress(OSError):
            name.unlink()


def _bring_to(connection: sqlite3.Connection, objects: Objects, commit: str, unreadable: Unreadable) -> None:
    """Makes the rows those of `commit`, from those of the indexed commit if there is one."""
    indexed = indexed_commit(connection)
    changes = None if indexed is None else _changes_since(objects, indexed, commit)
    if changes is not None:
        forget_tasks(connection, changes)
        write_tasks(connection, objects, changes, unreadable)
    else:
        tables, indexes = _statements()
        _run(connection, [*(f"DROP TABLE IF EXISTS {name}" for name in _TABLE_NAMES), *tables])
        changes = list(changed_tasks(objects, None, _tasks_tree(objects, commit), unreadable))
        write_tasks(connection, objects, changes, unreadable)
        _run(connection, indexes)
    connection.execute("INSERT OR REPLACE INTO state VALUES (1, ?, ?)", (made_by(), commit))


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
        old, new = _tasks_tree(objects, indexed), _tasks_tree(objects, commit)
        return list(changed_tasks(objects, old, new, Unreadable(0)))
    except GitticksError:
        return None


def _tasks_tree(objects: Objects, commit: str) -> str | None:
    return tree_id_of(objects.find(objects.tree_of(commit), layout.TASKS_FOLDER))
