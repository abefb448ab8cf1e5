"""The index's content: which task files differ between two commits, and their rows.

Only task files whose blobs differ are read. So an index that was brought forward is, row for row, the one that a
fresh build gives.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import NamedTuple

from gitticks.document.entries import read_entries
from gitticks.document.merging.three_way import conflict_line
from gitticks.document.sections import Body
from gitticks.document.taskfile import ReadFile, read_file
from gitticks.errors import DocumentError, GitticksError
from gitticks.git.objects import Objects
from gitticks.git.objects.failures import TooLargeError
from gitticks.git.objects.trees import Entry as TreeEntry
from gitticks.git.objects.trees import tree_id_of
from gitticks.model.ids import TaskId, is_valid_id
from gitticks.model.notes import Entry, Section, open_questions
from gitticks.store import layout
from gitticks.store.index_database import INSERT_FIELDS, INSERT_TASK
from gitticks.store.index_rows import task_row, task_to_json

CONFLICT_WORDS = (b"gitticks conflict", b"<<<<<<<")
"""Without any of them a file holds no conflict."""
_ROWS_AT_ONCE = 1000
_FEW = 50
"""So many files are read one by one."""


class ChangedTask(NamedTuple):
    """A task whose TASK.md or history.jsonl differs between two commits; each is None where it is missing now."""

    path: str
    task: TreeEntry | None
    history: TreeEntry | None


class Unreadable:
    """The files and folders that cannot be read because git's objects are damaged or gone, as messages by path."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.messages: dict[str, str] = {}

    def add(self, path: str, error: GitticksError) -> None:
        """Notes one, or raises the error if there are more than `most` already."""
        if len(self.messages) >= self._most:
            raise error
        self.messages[path] = f"{path}: {error.message}"


def changed_tasks(
    objects: Objects, old: str | None, new: str | None, unreadable: Unreadable
) -> Iterator[ChangedTask]:
    """Yields the tasks that differ, opening no folder that is the same on both sides, and none inside a task's."""
    for between, *shards in _differing(objects, layout.TASKS_FOLDER, (old, new), unreadable):
        shard = f"{layout.TASKS_FOLDER}/{_utf8(between)}"
        old_shard, new_shard = map(tree_id_of, shards)
        for name, *folders in _differing(objects, shard, (old_shard, new_shard), unreadable):
            folder = f"{shard}/{_utf8(name)}"
            try:
                before, after = (_files(objects, entry) for entry in folders)
            except GitticksError as error:
                unreadable.add(folder, error)
                continue
            if before != after:
                yield ChangedTask(f"{folder}/{layout.TASK_FILE}", *after)


def _differing(
    objects: Objects, path: str, trees: tuple[str | None, str | None], unreadable: Unreadable
) -> list[tuple[str, TreeEntry | None, TreeEntry | None]]:
    try:
        return list(objects.changed_entries(*trees))
    except GitticksError as error:
        unreadable.add(path, error)
        return []


def _files(objects: Objects, folder: TreeEntry | None) -> tuple[TreeEntry | None, TreeEntry | None]:
    tree = tree_id_of(folder)
    if tree is None:
        return None, None
    entries = objects.folder(tree)
    return entries.get(layout.TASK_FILE), entries.get(layout.HISTORY_FILE)


def _utf8(name: str) -> str:
    """Returns the name as a database can hold it: what is not UTF-8 as escapes."""
    return (
        name
        if name.isascii()
        else name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    )


def forget_tasks(connection: sqlite3.Connection, changes: list[ChangedTask]) -> None:
    """Deletes the rows of the changed tasks."""
    ids = [(task_id,) for change in changes if (task_id := layout.task_of_path(change.path)) is not None]
    connection.executemany("DELETE FROM task WHERE id = ?", ids)
    connection.executemany("DELETE FROM fields WHERE id = ?", ids)
    connection.executemany("DELETE FROM file WHERE id = ?", ids)
    connection.executemany("DELETE FROM conflict WHERE id = ?", ids)
    connection.executemany("DELETE FROM broken WHERE path = ?", [(change.path,) for change in changes])


def write_tasks(
    connection: sqlite3.Connection, objects: Objects, changes: list[ChangedTask], unreadable: Unreadable
) -> None:
    """Adds the rows of the changed tasks that are there now."""
    waiting = (change for change in changes if change.task is not None)
    while batch := list(islice(waiting, _ROWS_AT_ONCE)):
        rows = _Rows(objects, _contents(objects, batch), unreadable)
        for change in batch:
            rows.read(change)
        connection.executemany("INSERT INTO file VALUES (?, ?, ?)", rows.files)
        connection.executemany(INSERT_TASK, rows.tasks)
        connection.executemany(INSERT_FIELDS, rows.fields)
        connection.executemany("INSERT INTO conflict VALUES (?, ?)", rows.conflicts)
        write_broken(connection, rows.broken)


def write_broken(connection: sqlite3.Connection, rows: Iterable[tuple[str, TaskId | None, str]]) -> None:
    """Adds rows of path, task and message; two odd names may look the same."""
    connection.executemany("INSERT OR REPLACE INTO broken VALUES (?, ?, ?)", rows)


def _contents(objects: Objects, changes: list[ChangedTask]) -> dict[str, bytes]:
    """Returns contents by id, read at once where there are many; few are read when they are needed."""
    entries = (entry for change in changes for entry in (change.task, change.history))
    wanted = [entry.object_id for entry in entries if entry is not None and entry.is_file]
    return objects.read_blobs(wanted) if len(wanted) > _FEW else {}


class _Rows:
    """The rows of some files."""

    def __init__(self, objects: Objects, contents: Mapping[str, bytes], unreadable: Unreadable) -> None:
        self._objects, self._contents, self._unreadable = objects, contents, unreadable
        self.files: list[tuple[TaskId, bytes, bytes | None]] = []
        self.tasks: list[tuple[object, ...]] = []
        self.fields: list[tuple[TaskId, str]] = []
        self.conflicts: list[tuple[TaskId, int]] = []
        self.broken: list[tuple[str, TaskId | None, str]] = []

    def read(self, change: ChangedTask) -> None:
        """Adds what one task's files say."""
        task_id = layout.task_of_path(change.path)
        try:
            self._read(change, task_id)
        except DocumentError as error:
            self.broken.append((change.path, task_id, error.message))
        except GitticksError as error:
            self._unreadable.add(change.path, error)

    def _read(self, change: ChangedTask, task_id: TaskId | None) -> None:
        if task_id is None:
            name = change.path.split("/")[-2]
            misplaced = "the task is in the wrong folder: `gt doctor` says where it belongs"
            problem = misplaced if is_valid_id(name) else "the folder's name is not a task id"
            raise DocumentError(problem, path=change.path)
        try:
            data, history = (self._content(entry) for entry in (change.task, change.history))
        except TooLargeError as error:
            raise DocumentError(error.message, path=change.path, hint=error.hint) from None
        if data is None:
            raise DocumentError("is not a regular file", path=change.path)
        self.files.append((task_id, data, history))
        file, questions = read_for_index(data, change.path)
        if file.task.id != task_id:
            problem = f"the id is `{file.task.id}`, but the folder's name says `{task_id}`"
            raise DocumentError(problem, path=change.path)
        self.tasks.append(task_row(file, questions))
        self.fields.append((task_id, task_to_json(file.task)))
        if any(word in data for word in CONFLICT_WORDS):  # few files have one that asks for a closer look
            line = conflict_line(file.body_source)
            self.conflicts += [] if line is None else [(task_id, line)]

    def _content(self, entry: TreeEntry | None) -> bytes | None:
        if entry is None or not entry.is_file:
            return None
        found = self._contents.get(entry.object_id)
        return self._objects.read_blob(entry.object_id) if found is None else found


def read_for_index(data: bytes, path: str) -> tuple[ReadFile, tuple[Entry, ...]]:
    """Returns what the index keeps of a task's file: the task and its open questions.

    The one place where the index reads files; sections are looked at only where the word can be found.
    """
    file = read_file(data, path)
    if b"questions" not in data.lower():
        return file, ()
    body = Body(file.body_source, file.newline)
    return file, open_questions(read_entries(body, Section.QUESTIONS))
