"""The tables of the query index, and by whom an index must have been made to be believed."""

from __future__ import annotations

import sys

from gitticks.store.indexed_task import COLUMNS, PAGE_COLUMNS
from gitticks.system import boot_id

SCHEMA_VERSION = 4
"""Raised with every change of the tables or of what a row holds."""

PARSER_VERSION = 1
"""Raised with every change of what the document package reads out of the same bytes."""

TASK_COLUMNS = (*COLUMNS, *PAGE_COLUMNS, "body_start", "questions", "is_open", "is_workable", "is_begun")
"""The columns of a task's row: `body_start` counts characters of the file, `questions` are the open ones as JSON, and three
traits are told again, to be asked for."""

# What is listed lies in rows of its own, a tenth of all: reading them must not read pages full of JSON and text.
TABLES = f"""\
CREATE TABLE state (only INTEGER PRIMARY KEY CHECK (only = 1), made_by TEXT NOT NULL, commit_id TEXT NOT NULL);
CREATE TABLE task ({", ".join(TASK_COLUMNS)}, PRIMARY KEY (id));
CREATE INDEX task_workable ON task (parent IS NOT NULL, priority, born, id) WHERE is_workable;
CREATE INDEX task_begun ON task (id) WHERE is_begun;
CREATE INDEX task_awaiting ON task (awaiting) WHERE awaiting IS NOT NULL;
CREATE INDEX task_parent ON task (parent) WHERE parent IS NOT NULL;
CREATE TABLE fields (id TEXT PRIMARY KEY, json TEXT NOT NULL);
CREATE TABLE file (id TEXT PRIMARY KEY, data BLOB NOT NULL, history BLOB);
CREATE TABLE conflict (id TEXT PRIMARY KEY, line INTEGER NOT NULL);
CREATE TABLE broken (path TEXT PRIMARY KEY, id TEXT, message TEXT NOT NULL);
"""

INSERT_TASK = f"INSERT INTO task VALUES ({', '.join('?' * len(TASK_COLUMNS))})"  # noqa: S608 (nothing but signs)
INSERT_FIELDS = "INSERT INTO fields VALUES (?, ?)"


def made_by() -> str:
    """Returns what an index must have been made by to be believed.

    The boot is part of it: the index is written without syncs, so after a power failure it may be torn.
    """
    return f"{SCHEMA_VERSION} {PARSER_VERSION} {boot_id() if sys.platform == 'linux' else ''}"
