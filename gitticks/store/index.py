"""The query index: what reading commands print, in SQLite, so that they parse no files and load no git library.

It lies in `<common git dir>/gitticks/index.sqlite3` and says which commit of the state branch it was made from, by
which schema and by which reader of files. It is never the truth: at any other commit it is brought forward, at any
doubt it is built anew, and where it cannot be written it is built in memory.
"""

from __future__ import annotations

import json
import os
import sqlite3
import stat
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TypeVar

from gitticks.errors import NotFoundError
from gitticks.git.refs import is_object_id
from gitticks.git.repository import Repository
from gitticks.model.ids import TaskId
from gitticks.model.notes import Entry
from gitticks.model.task import Task
from gitticks.processes import boot_id
from gitticks.store import layout
from gitticks.store.index_rows import entries_from_json, tasks_from_json
from gitticks.store.tip import state_tip

T = TypeVar("T")

SCHEMA_VERSION = 2
"""Raised with every change of the tables or of what a row's JSON holds."""

PARSER_VERSION = 1
"""Raised with every change of what the document package reads out of the same bytes."""

BUSY_SECONDS = 5.0
_ROWS_AT_ONCE = 50

TABLES = """\
CREATE TABLE state (only INTEGER PRIMARY KEY CHECK (only = 1), made_by TEXT NOT NULL, commit_id TEXT NOT NULL);
CREATE TABLE task (
    id TEXT PRIMARY KEY, is_open INTEGER NOT NULL, is_workable INTEGER NOT NULL, is_begun INTEGER NOT NULL,
    is_child INTEGER NOT NULL, priority INTEGER NOT NULL, created TEXT NOT NULL, parent TEXT, awaiting TEXT,
    title TEXT NOT NULL, questions TEXT, json TEXT NOT NULL
);
CREATE INDEX task_workable ON task (is_child, priority, created, id) WHERE is_workable;
CREATE INDEX task_begun ON task (id) WHERE is_begun;
CREATE INDEX task_is_open ON task (is_open);
CREATE INDEX task_awaiting ON task (awaiting) WHERE awaiting IS NOT NULL;
CREATE INDEX task_parent ON task (parent) WHERE parent IS NOT NULL;
CREATE TABLE file (id TEXT PRIMARY KEY, data BLOB NOT NULL, history BLOB);
CREATE TABLE broken (path TEXT PRIMARY KEY, id TEXT, message TEXT NOT NULL);
"""

INSERT_TASK = "INSERT INTO task VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
"""Takes what `index_rows.task_row` returns."""


@dataclass(frozen=True, slots=True)
class BrokenFile:
    """A TASK.md that cannot be read; `message` begins with path, line and column as far as they are known."""

    path: str
    task_id: TaskId | None
    message: str


def made_by() -> str:
    """Returns what an index must have been made by to be believed.

    The boot is part of it: the index is written without syncs, so after a power failure it may be torn.
    """
    return json.dumps([SCHEMA_VERSION, PARSER_VERSION, boot_id() if sys.platform == "linux" else ""])


def index_path(repository: Repository) -> Path:
    """Returns where the repository's index lies."""
    return repository.own_dir / "index.sqlite3"


def connect(database: Path | str, wait_seconds: float | None = None) -> sqlite3.Connection:
    """Opens a database, made if missing, without implicit transactions; statements wait so long for other processes."""
    seconds = BUSY_SECONDS if wait_seconds is None else wait_seconds
    if isinstance(database, Path):
        _refuse_odd_files(database)
    connection = sqlite3.connect(database, timeout=seconds, isolation_level=None)
    if sys.platform == "linux":
        try:
            connection.execute("PRAGMA synchronous = OFF")
        except UnicodeDecodeError:  # so damaged that not even the message about it can be read
            connection.close()
            raise sqlite3.DatabaseError("its schema is no text") from None
    return connection


def _refuse_odd_files(database: Path) -> None:
    """Refuses what is no plain file, or has none for a journal: opening a pipe would wait for its other end."""
    for name in (database, f"{database}-journal"):
        try:
            mode = os.lstat(name).st_mode
        except OSError:
            continue
        if not stat.S_ISREG(mode):
            raise sqlite3.OperationalError(f"`{name}` is no plain file")


def indexed_commit(connection: sqlite3.Connection) -> str | None:
    """Returns the commit that the index was made from; None if it was made by anything but this very version."""
    if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'state'").fetchone() is None:
        return None
    row = connection.execute("SELECT commit_id FROM state WHERE made_by = ?", (made_by(),)).fetchone()
    return row[0] if row is not None and isinstance(row[0], str) and is_object_id(row[0]) else None


def is_whole(connection: sqlite3.Connection, path: Path) -> bool:
    """True unless the file is shorter than it says; SQLite would read what is cut off as zeros."""
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    (page_bytes,) = connection.execute("PRAGMA page_size").fetchone()
    return path.stat().st_size >= int(pages) * int(page_bytes)


def open_index(repository: Repository) -> Index:
    """Returns the index at the state branch's tip, brought up to date if it was not.

    Raises:
        NotFoundError: there is no state branch.
    """
    tip = state_tip(repository)
    connection = _connect_if_current(repository, tip)
    if connection is not None:
        return Index(repository, connection, tip)
    from gitticks.store.indexing import refreshed_index  # loads pygit2 and the YAML reader

    return refreshed_index(repository, tip)


def _connect_if_current(repository: Repository, commit: str) -> sqlite3.Connection | None:
    path = index_path(repository)
    if not path.exists():
        return None
    connection = None
    try:
        connection = connect(path)
        connection.execute("BEGIN")
        if indexed_commit(connection) == commit and is_whole(connection, path):
            return connection
        connection.close()
    except (sqlite3.Error, OSError):
        if connection is not None:
            connection.close()
    return None


class Index:
    """All tasks at one commit of the state branch.

    It is a snapshot and keeps writers of the index waiting while it is open, so it is to be closed (or used in a
    `with`) as soon as the questions are answered.
    """

    def __init__(self, repository: Repository, connection: sqlite3.Connection, commit: str) -> None:
        self.commit = commit
        self._repository = repository
        self._connection = connection

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Lets go of the snapshot."""
        self._connection.close()

    def tasks(self, *, open_only: bool = False) -> list[Task]:
        """Returns the tasks, or the open ones, sorted by id."""
        query = "SELECT json FROM task WHERE is_open >= ? ORDER BY id"
        return self._read(_tasks, query, int(open_only))

    def task(self, task_id: TaskId) -> Task:
        """Returns one task.

        Raises:
            NotFoundError: there is none of that id, or its file is broken; the message says which.
        """
        task = self.find_task(task_id)
        if task is not None:
            return task
        for broken in self.broken():
            if broken.task_id == task_id:
                raise NotFoundError(broken.message, hint=f"mend the file: `gt edit {task_id}`")
        raise NotFoundError(f"there is no task `{task_id}`", hint="`gt list` shows the tasks")

    def find_task(self, task_id: TaskId) -> Task | None:
        """Returns one task, or None if there is none of that id that can be read."""
        found = self._read(_tasks, "SELECT json FROM task WHERE id = ?", task_id)
        return found[0] if found else None

    def awaiting(self) -> list[Task]:
        """Returns the tasks that await a person, sorted by id."""
        return self._read(_tasks, "SELECT json FROM task WHERE awaiting IS NOT NULL ORDER BY id")

    def children(self, task_id: TaskId) -> list[Task]:
        """Returns the tasks whose parent is `task_id`, sorted by id."""
        return self._read(_tasks, "SELECT json FROM task WHERE parent = ? ORDER BY id", task_id)

    def open_questions(self, task_id: TaskId) -> tuple[Entry, ...]:
        """Returns the task's questions that nobody has answered, in file order."""
        query = "SELECT questions FROM task WHERE id = ? AND questions IS NOT NULL"
        return self._read(lambda rows: entries_from_json(rows[0][0]) if rows else (), query, task_id)

    def data(self, task_id: TaskId) -> bytes | None:
        """Returns the bytes of the task's TASK.md, also of a broken one; None if there is none."""
        return self._read(_blob, "SELECT data FROM file WHERE id = ?", task_id)

    def history(self, task_id: TaskId) -> bytes:
        """Returns the bytes of the task's history.jsonl; empty if there is none."""
        query = "SELECT history FROM file WHERE id = ? AND history IS NOT NULL"
        return self._read(_blob, query, task_id) or b""

    def workable(self, *, is_child: bool) -> Iterator[Task]:
        """Yields the tasks that `is_workable`, those with a parent or those without, by priority and age.

        They are read as they are asked for.
        """
        query = "SELECT json FROM task WHERE is_workable AND is_child = ? ORDER BY priority, created, id LIMIT ? OFFSET ?"
        offset = 0
        while tasks := self._read(_tasks, query, int(is_child), _ROWS_AT_ONCE, offset):
            yield from tasks
            offset += len(tasks)

    def begun(self) -> list[Task]:
        """Returns the open tasks that are no longer pending, sorted by id."""
        return self._read(_tasks, "SELECT json FROM task WHERE is_begun ORDER BY id")

    def find_ids(self, prefix: str) -> list[TaskId]:
        """Returns the sorted ids that begin with `prefix`, those of broken files too."""
        query = "SELECT id FROM file WHERE substr(id, 1, ?) = ? ORDER BY id"
        return self._read(_ids, query, len(prefix), prefix)

    def titles(self) -> dict[TaskId, str]:
        """Returns the titles by id, sorted by id."""
        return self._read(_titles, "SELECT id, title FROM task ORDER BY id")

    def broken(self) -> tuple[BrokenFile, ...]:
        """Returns the files that cannot be read, sorted by path."""
        return self._read(_broken_files, "SELECT path, id, message FROM broken ORDER BY path")

    def unreadable(self) -> frozenset[TaskId]:
        """Returns the ids of the tasks whose files cannot be read."""
        found = (layout.task_of_path(file.path) for file in self.broken())
        return frozenset(task_id for task_id in found if task_id is not None)

    def _read(self, read: Callable[[list[Any]], T], query: str, *values: object) -> T:
        """Returns what a query's rows say; a damaged database is replaced by one built in memory."""
        try:
            return read(self._connection.execute(query, values).fetchall())
        except (sqlite3.DatabaseError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            from gitticks.store.indexing import rebuilt_in_memory

            self._connection.close()
            self._connection = rebuilt_in_memory(self._repository, self.commit)
            return read(self._connection.execute(query, values).fetchall())


def _tasks(rows: list[Any]) -> list[Task]:
    return tasks_from_json(text for (text,) in rows)


def _blob(rows: list[Any]) -> bytes | None:
    if rows and not isinstance(rows[0][0], bytes):
        raise TypeError("a file is kept as bytes")
    return rows[0][0] if rows else None


def _ids(rows: list[Any]) -> list[TaskId]:
    return [TaskId(_text(value)) for (value,) in rows]


def _titles(rows: list[Any]) -> dict[TaskId, str]:
    return {TaskId(_text(task_id)): _text(title) for task_id, title in rows}


def _broken_files(rows: list[Any]) -> tuple[BrokenFile, ...]:
    return tuple(
        BrokenFile(_text(path), None if task is None else TaskId(_text(task)), _text(words))
        for path, task, words in rows
    )


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("names and words are kept as text")
    return value
