"""Makes the query index and keeps it in step: by the writer with its own commit, by any reader after foreign ones.

Only task files whose blobs differ between the indexed commit and the wanted one are read. So an index that was
brought forward is, row for row, the one that a fresh build gives.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from gitticks.document.taskfile import ReadFile, TaskFile, read_file
from gitticks.errors import DocumentError, GitticksError
from gitticks.git.objects import Objects
from gitticks.git.repository import Repository
from gitticks.git.trees import Entry as TreeEntry
from gitticks.git.trees import tree_id_of
from gitticks.model.ids import TaskId, is_valid_id, task_folder
from gitticks.model.notes import Entry, Section, open_questions
from gitticks.model.task import Task
from gitticks.store import layout
from gitticks.store.index import INSERT_TASK, TABLES, Index, connect, index_path, indexed_commit, made_by
from gitticks.store.index_rows import task_row
from gitticks.store.tip import state_tip

_TABLE_NAMES = ("state", "task", "file", "broken")
_MEMORY = ":memory:"
_WRITERS_WAIT_SECONDS = 0.25
"""How long a commit waits for readers of the index; the state lock is held meanwhile, so the next reader does it."""


@dataclass(frozen=True, slots=True)
class Entries:
    """What the index reads of one task's folder: its TASK.md and its history.jsonl, each None where it is missing."""

    task: TreeEntry | None = None
    history: TreeEntry | None = None


@dataclass(frozen=True, slots=True)
class ChangedTask:
    """A task one of whose files differs between two commits; `path` is that of its TASK.md."""

    path: str
    entries: Entries


def refreshed_index(repository: Repository, commit: str, objects: Objects | None = None) -> Index:
    """Returns the index at `commit`, from the file brought up to date if that can be, else built in memory."""
    objects = objects or Objects.open(repository)
    connection = None
    with contextlib.suppress(sqlite3.Error, OSError):
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
            _bring_to(connection, objects, commit)
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
    connection = connect(_MEMORY)
    connection.execute("BEGIN")
    _bring_to(connection, objects, commit)
    connection.execute("COMMIT")
    return connection


def _remove_file(repository: Repository) -> None:
    path = index_path(repository)
    for name in (path, path.with_name(f"{path.name}-journal")):
        with contextlib.suppress(OSError):
            name.unlink()


def _bring_to(connection: sqlite3.Connection, objects: Objects, commit: str) -> None:
    """Makes the rows those of `commit`, from those of the indexed commit if there is one."""
    indexed = indexed_commit(connection)
    old_tree = None
    if indexed is not None:
        with contextlib.suppress(GitticksError):
            old_tree = _tasks_tree(objects, indexed)
    if indexed is None or old_tree is None:
        _make_tables(connection)
        old_tree = None
    for change in _changed_tasks(objects, old_tree, _tasks_tree(objects, commit)):
        _write_change(connection, objects, change)
    connection.execute("INSERT OR REPLACE INTO state VALUES (1, ?, ?)", (made_by(), commit))


def _make_tables(connection: sqlite3.Connection) -> None:
    for name in _TABLE_NAMES:
        connection.execute(f"DROP TABLE IF EXISTS {name}")
    for statement in TABLES.split(";\n"):
        connection.execute(statement)


def _tasks_tree(objects: Objects, commit: str) -> str | None:
    return tree_id_of(objects.find(objects.tree_of(commit), layout.TASKS_FOLDER))


def _changed_tasks(objects: Objects, old: str | None, new: str | None) -> Iterator[ChangedTask]:
    """Yields the task files that differ, opening no folder that is the same on both sides, and none inside a task's."""
    for between, old_shard, new_shard in objects.changed_entries(old, new):
        folders = objects.changed_entries(tree_id_of(old_shard), tree_id_of(new_shard))
        for name, old_folder, new_folder in folders:
            before, after = _entries(objects, old_folder), _entries(objects, new_folder)
            if before != after:
                yield ChangedTask(f"{layout.TASKS_FOLDER}/{between}/{name}/{layout.TASK_FILE}", after)


def _entries(objects: Objects, folder: TreeEntry | None) -> Entries:
    tree = tree_id_of(folder)
    if tree is None:
        return Entries()
    return Entries(objects.find(tree, layout.TASK_FILE), objects.find(tree, layout.HISTORY_FILE))


def _write_change(connection: sqlite3.Connection, objects: Objects, change: ChangedTask) -> None:
    task_id = layout.task_of_path(change.path)
    connection.execute("DELETE FROM broken WHERE path = ?", (change.path,))
    if task_id is not None:
        connection.execute("DELETE FROM task WHERE id = ?", (task_id,))
        connection.execute("DELETE FROM file WHERE id = ?", (task_id,))
    if change.entries.task is None:
        return
    try:
        _write_task(connection, objects, change.path, change.entries)
    except DocumentError as error:
        connection.execute("INSERT INTO broken VALUES (?, ?, ?)", (change.path, task_id, error.message))


def _write_task(connection: sqlite3.Connection, objects: Objects, path: str, entries: Entries) -> None:
    task_id = layout.task_of_path(path)
    if task_id is None:
        raise DocumentError(_misplaced(path), path=path)
    data = _content(objects, entries.task)
    if data is None:
        raise DocumentError("is no plain file", path=path)
    connection.execute(
        "INSERT INTO file VALUES (?, ?, ?)", (task_id, data, _content(objects, entries.history))
    )
    file, questions = read_for_index(data, path)
    if file.task.id != task_id:
        problem = f"the id is `{file.task.id}`, but the folder's name says `{task_id}`"
        raise DocumentError(problem, path=path)
    connection.execute(INSERT_TASK, task_row(file, questions))


def _content(objects: Objects, entry: TreeEntry | None) -> bytes | None:
    return objects.read_blob(entry.object_id) if entry is not None and entry.is_file else None


def read_for_index(data: bytes, path: str) -> tuple[ReadFile, tuple[Entry, ...]]:
    """Returns what the index keeps of a task's file: the task and its open questions.

    The one place where the index reads files; sections are looked at only where the word can be found.
    """
    file = read_file(data, path)
    if b"questions" not in data.lower():
        return file, ()
    return file, open_questions(TaskFile.parse(data, path).entries(Section.QUESTIONS))


def _misplaced(path: str) -> str:
    name = path.split("/")[-2]
    if not is_valid_id(name):
        return "the folder's name is no task id"
    return f"the task belongs in `{task_folder(TaskId(name))}`"
