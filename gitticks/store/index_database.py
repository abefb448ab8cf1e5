"""The index's database: its tables, how it is opened, and whether its file can be trusted."""

from __future__ import annotations

import os
import sqlite3
import stat
import sys
from typing import TYPE_CHECKING

from gitticks.git.refs import is_object_id
from gitticks.store.task_row import DETAIL_COLUMNS, ROW_COLUMNS
from gitticks.system import boot_id

if TYPE_CHECKING:
    from pathlib import Path

    from gitticks.git.repository import Repository

INDEX_FILE, MEMORY = "index.sqlite3", ":memory:"
BUSY_SECONDS = 5.0

SCHEMA_VERSION = 8
"""Raised with every change of the tables or of what a row holds."""

PARSER_VERSION = 2
"""Raised with every change of what the document package reads out of the same bytes."""

TASK_COLUMNS = (*ROW_COLUMNS, *DETAIL_COLUMNS, "body_start", "questions")
"""The columns of a task's row: `body_start` counts characters of the file, `questions` are the open ones as JSON."""

# What is listed is in rows of its own, a tenth of all: reading them must not read pages full of JSON and text.
# They are in the order of listings, so that reading the open ones reads neither a closed one nor sorts.
TABLES = (
    (
        "CREATE TABLE state (only INTEGER PRIMARY KEY CHECK (only = 1), made_by TEXT NOT NULL, commit_id TEXT NOT NULL,"
        " config BLOB)"
    ),
    f"CREATE TABLE task ({', '.join(TASK_COLUMNS)}, PRIMARY KEY (is_open, priority, born, id)) WITHOUT ROWID",
    "CREATE TABLE fields (id TEXT PRIMARY KEY, json TEXT NOT NULL)",
    "CREATE TABLE file (id TEXT PRIMARY KEY, data BLOB NOT NULL, history BLOB)",
    "CREATE TABLE conflict (id TEXT PRIMARY KEY, line INTEGER NOT NULL)",
    "CREATE TABLE broken (path TEXT PRIMARY KEY, id TEXT, message TEXT NOT NULL)",
)
INDEXES = (
    "CREATE UNIQUE INDEX task_id ON task (id)",
    "CREATE INDEX task_workable ON task (parent IS NOT NULL, priority, born, id) WHERE is_workable",
    "CREATE INDEX task_begun ON task (id) WHERE is_begun",
    "CREATE INDEX task_awaiting ON task (awaiting) WHERE awaiting IS NOT NULL",
    "CREATE INDEX task_carrier ON task (carrier) WHERE carrier IS NOT NULL",
    "CREATE INDEX task_due ON task (due) WHERE due IS NOT NULL",
    "CREATE INDEX task_parent ON task (parent) WHERE parent IS NOT NULL",
)

INSERT_TASK = f"INSERT INTO task VALUES ({', '.join('?' * len(TASK_COLUMNS))})"  # noqa: S608 (nothing but signs)
INSERT_FIELDS = "INSERT INTO fields VALUES (?, ?)"


def made_by() -> str:
    """Returns what an index must have been made by to be believed.

    The boot is part of it: the index is written without syncs, so after a power failure it may be torn.
    """
    return f"{SCHEMA_VERSION} {PARSER_VERSION} {boot_id() if sys.platform == 'linux' else ''}"


def index_path(repository: Repository) -> Path:
    """Returns where the repository's index is."""
    return repository.own_file(INDEX_FILE)


def connect(database: Path | str, wait_seconds: float | None = None) -> sqlite3.Connection:
    """Opens a database, made if missing, without implicit transactions; statements wait so long for other processes."""
    seconds = BUSY_SECONDS if wait_seconds is None else wait_seconds
    if database != MEMORY:
        _refuse_odd_files(database)
    connection = sqlite3.connect(database, timeout=seconds, isolation_level=None)
    if sys.platform == "linux":
        try:
            connection.execute("PRAGMA synchronous = OFF")
        except UnicodeDecodeError:  # so damaged that not even the message about it can be read
            connection.close()
            raise sqlite3.DatabaseError("its schema is no text") from None
        except sqlite3.Error:
            connection.close()
            raise
    return connection


def _refuse_odd_files(database: Path | str) -> None:
    """Refuses what is not a regular file, or has none for a journal: opening a pipe would wait for its other end."""
    for name in (database, f"{database}-journal"):
        try:
            mode = os.lstat(name).st_mode
        except OSError:
            continue
        if not stat.S_ISREG(mode):
            error = sqlite3.OperationalError(f"`{name}` is not a regular file")
            error.sqlite_errorcode = sqlite3.SQLITE_CANTOPEN
            raise error


def indexed_commit(connection: sqlite3.Connection) -> str | None:
    """Returns the commit that the index was made from; None if it was made by anything but this very version."""
    if connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'state'").fetchone() is None:
        return None
    row = connection.execute("SELECT commit_id FROM state WHERE made_by = ?", (made_by(),)).fetchone()
    return row[0] if row is not None and isinstance(row[0], str) and is_object_id(row[0]) else None


def is_whole(connection: sqlite3.Connection, path: str | Path) -> bool:
    """True unless the file is shorter than it says; SQLite would read what is cut off as zeros."""
    (pages,) = connection.execute("PRAGMA page_count").fetchone()
    (page_bytes,) = connection.execute("PRAGMA page_size").fetchone()
    return os.stat(path).st_size >= int(pages) * int(page_bytes)


def connect_if_current(repository: Repository, commit: str) -> sqlite3.Connection | None:
    """Returns a snapshot of the repository's index if it was made from `commit`, whole and by this very version."""
    path = f"{repository.own_place}/{INDEX_FILE}"
    if not os.path.exists(path):
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
