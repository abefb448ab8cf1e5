"""The query index in SQLite, so that reading commands parse no files and load no git library.

It is in `<common git dir>/gitticks/index.sqlite3` and says which commit of the state branch it was made from, by
which schema and by which reader of files. It is never the truth: at any other commit it is brought forward, at any
doubt it is rebuilt, and where it cannot be written it is built in memory.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Self, TypeVar

from gitticks.errors import NotFoundError
from gitticks.model.ids import TaskId
from gitticks.model.queries import Candidates, Graph, by_priority_and_age
from gitticks.model.task_row import TaskRow
from gitticks.store import layout
from gitticks.store import task_row as values_of
from gitticks.store.index_database import connect_if_current
from gitticks.store.layout import state_tip
from gitticks.store.task_row import DETAIL_COLUMNS, ROW_COLUMNS, TaskDetails

if TYPE_CHECKING:
    from datetime import date

    from gitticks.git.repository import Repository
    from gitticks.model.notes import Entry
    from gitticks.model.task import Task


T = TypeVar("T")
_ROWS_AT_ONCE, _TEXTS_AT_ONCE, _WORDS_AT_ONCE = 50, 500, 500
_NO_ID_REACHES = "\x7f"
_ROW = ", ".join(f"task.{name}" for name in ROW_COLUMNS)
_NEEDS_PEOPLE = "is_open AND (awaiting IS NOT NULL OR (is_begun AND status = 'stuck') OR task.id IN (SELECT id FROM conflict))"
_DETAILS = f"SELECT {', '.join(('id', *DETAIL_COLUMNS))} FROM task WHERE"  # noqa: S608 (nothing but signs)


class BrokenFile(NamedTuple):
    """A TASK.md that cannot be read; `message` begins with path, line and column as far as they are known."""

    path: str
    task_id: TaskId | None
    message: str


def open_index(repository: Repository) -> Index:
    """Returns the index at the state branch's tip, brought up to date if it was not."""
    tip = state_tip(repository)
    connection = connect_if_current(repository, tip)
    if connection is not None:
        return Index(repository, connection, tip)
    from gitticks.store.indexing import refreshed  # loads pygit2 and the YAML reader

    return Index(repository, refreshed(repository, tip), tip)


class Index:
    """All tasks at one commit of the state branch.

    It is a snapshot: a write waits a moment for it, then leaves it the old file, so it is to be closed (or used in a
    `with`) as soon as the questions are answered.
    """

    def __init__(self, repository: Repository, connection: sqlite3.Connection, commit: str) -> None:
        self.commit = commit
        self.is_open = True
        self._repository = repository
        self._connection = connection

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Lets go of the snapshot."""
        self.is_open = False
        self._connection.close()

    def tasks(self, *, open_only: bool = False) -> list[Task]:
        """Returns the whole tasks, or the open ones, sorted by id."""
        query = "SELECT json FROM fields JOIN task USING (id) WHERE is_open >= ? ORDER BY id"
        return self._read(self._whole_tasks, query, int(open_only))

    def task(self, task_id: TaskId) -> Task:
        """Returns one whole task."""
        found = self._read(self._whole_tasks, "SELECT json FROM fields WHERE id = ?", task_id)
        if found:
            return found[0]
        for broken in self.broken():
            if broken.task_id == task_id:
                raise NotFoundError(broken.message, hint=f"fix the file: `gt edit {task_id}`")
        raise NotFoundError(f"there is no task `{task_id}`", hint="`gt list` shows the tasks")

    def listed(self, *, open_only: bool = False, with_json: bool = False) -> list[TaskRow]:
        """Returns the rows of the tasks, or of the open ones, by priority and age."""
        wanted = f"is_open {'= 1' if open_only else '>= 0'} ORDER BY is_open, priority, born, task.id"
        return self._tasks(wanted, with_json=with_json)

    def graph(self, tasks: Iterable[TaskRow]) -> Graph[TaskRow]:
        """Returns the graph of these tasks, which are all or the open ones."""
        return Graph.of(tasks, self.unreadable(), self.carriers())

    def beginning(self, word: str) -> list[TaskRow]:
        """Returns the rows of the tasks whose ids begin with a word, in no order."""
        return self._tasks("task.id >= ? AND task.id < ?", word, word + _NO_ID_REACHES)

    def by_strangers(self, known: Iterable[str], only: TaskId | None = None) -> dict[TaskId, str]:
        """Returns who wrote each open task, or `only` one, that is by none of the `known` names.

        It is empty where nobody is known.
        """
        names = tuple(known)
        if not names:
            return {}
        marks = ", ".join("?" * len(names))
        wanted = f"is_open AND created_by NOT IN ({marks}){'' if only is None else ' AND id = ?'}"
        values = names if only is None else (*names, only)
        return self._read(dict, f"SELECT id, created_by FROM task WHERE {wanted}", *values)  # noqa: S608 (nothing but signs)

    def details(self, *, open_only: bool = False) -> dict[TaskId, TaskDetails]:
        """Returns what pages show in addition to the rows, of all tasks or the open ones."""
        return self._read(values_of.details_of, f"{_DETAILS} is_open >= ?", int(open_only))

    def details_of(self, task_id: TaskId) -> TaskDetails:
        """Returns what a page shows in addition to a task's row.

        Raises:
            KeyError: there is no such task that can be read.
        """
        return self._read(values_of.details_of, f"{_DETAILS} id = ?", task_id)[task_id]

    def find(self, task_id: TaskId, *, with_json: bool = False) -> TaskRow | None:
        """Returns one task's row, or None if there is none of that id that can be read."""
        found = self._tasks("task.id = ?", task_id, with_json=with_json)
        return found[0] if found else None

    def known(self, words: Iterable[str]) -> dict[TaskId, TaskRow]:
        """Returns the rows of the tasks whose ids are among these words, by id."""
        asked = list(words)
        found: dict[TaskId, TaskRow] = {}
        for first in range(0, len(asked), _WORDS_AT_ONCE):
            some = asked[first : first + _WORDS_AT_ONCE]
            wanted = f"task.id IN ({', '.join('?' * len(some))})"
            found |= {task.id: task for task in self._tasks(wanted, *some)}
        return found

    def awaiting(self) -> list[TaskRow]:
        """Returns the rows of the tasks that await a person, sorted by id."""
        return self._tasks("awaiting IS NOT NULL ORDER BY task.id")

    def needing_people(self, *, with_json: bool = False) -> list[TaskRow]:
        """Returns the rows of the open tasks that await a person, are stuck or in conflict, in no order."""
        return self._tasks(_NEEDS_PEOPLE, with_json=with_json)

    def reviewers(self) -> dict[TaskId, str]:
        """Returns who is to answer, of those of `needing_people` that say so."""
        query = f"SELECT id, reviewer FROM task WHERE reviewer IS NOT NULL AND {_NEEDS_PEOPLE}"  # noqa: S608
        return self._read(dict, query)

    def children(self, task_id: TaskId) -> list[TaskRow]:
        """Returns the rows of the tasks whose parent is `task_id`, sorted by id."""
        return self._tasks("parent = ? ORDER BY task.id", task_id)

    def below(self, task_ids: Iterable[TaskId]) -> dict[TaskId, TaskRow]:
        """Returns the rows of the tasks below these, however deep, in no order."""
        found: dict[TaskId, TaskRow] = {}
        wanted = (
            "task.id IN (WITH RECURSIVE below (id) AS (SELECT id FROM task WHERE parent = ?"
            " UNION SELECT task.id FROM task JOIN below ON task.parent = below.id) SELECT id FROM below)"
        )
        for task_id in task_ids:
            if task_id not in found:
                found |= {one.id: one for one in self._tasks(wanted, task_id)}
        return found

    def workable(self, *, is_child: bool) -> Iterator[TaskRow]:
        """Yields the rows of workable tasks, those with a parent or those without, by priority and age.

        They are read as they are asked for.
        """
        wanted = "is_workable AND (parent IS NOT NULL) = ? ORDER BY priority, born, task.id LIMIT ? OFFSET ?"
        offset = 0
        while found := self._tasks(wanted, int(is_child), _ROWS_AT_ONCE, offset):
            yield from found
            offset += len(found)

    def open_first(self, count: int) -> list[TaskRow]:
        """Returns the rows of so many open tasks, and of those with the first and the last id, by priority and age."""
        ids = "task.id IN (SELECT id FROM task WHERE is_open = 1 ORDER BY"
        within = f"{ids} priority, born, id LIMIT ?) OR {ids} id LIMIT 1) OR {ids} id DESC LIMIT 1)"
        return self._tasks(f"({within}) ORDER BY priority, born, task.id", count)

    def begun(self) -> list[TaskRow]:
        """Returns the rows of the open tasks that are no longer pending, sorted by id."""
        return self._tasks("is_begun ORDER BY task.id")

    def has_tasks(self) -> bool:
        """True if there is any task that can be read."""
        return bool(self._read(list, "SELECT id FROM task LIMIT 1"))

    def agents(self) -> set[str]:
        """Returns the agents that open tasks name."""
        query = "SELECT DISTINCT agent FROM task WHERE is_open AND agent IS NOT NULL"
        return set(self._read(_first_of_each, query))

    def open_questions(self, task_id: TaskId) -> tuple[Entry, ...]:
        """Returns the task's questions that nobody has answered, in file order."""
        query = "SELECT id, questions FROM task WHERE id = ? AND questions IS NOT NULL"
        return self._read(values_of.entries_by_task, query, task_id).get(task_id, ())

    def questions_of_all(self) -> dict[TaskId, tuple[Entry, ...]]:
        """Returns the open questions of all tasks that await a person and have any."""
        query = "SELECT id, questions FROM task WHERE awaiting IS NOT NULL AND questions IS NOT NULL"
        return self._read(values_of.entries_by_task, query)

    def closed_children(self) -> dict[TaskId | None, int]:
        """Returns how many closed tasks name each task as parent, if any; under None those that name none."""
        query = "SELECT parent, count(*) AS count FROM task WHERE NOT is_open GROUP BY parent"
        return self._read(dict, query)

    def data(self, task_id: TaskId) -> bytes | None:
        """Returns the bytes of the task's TASK.md, also of a broken one; None if there is none."""
        return self._read(values_of.first_bytes, "SELECT data FROM file WHERE id = ?", task_id)

    def body(self, task_id: TaskId) -> tuple[str, int]:
        """Returns the text below the frontmatter of a task's TASK.md, and on which line of the file it begins."""
        query = "SELECT data, body_start FROM file JOIN task USING (id) WHERE id = ?"
        return self._read(values_of.body, query, task_id)

    def texts(self, *, open_only: bool) -> Iterator[tuple[TaskId, bytes, int]]:
        """Yields id and bytes of each TASK.md that can be read, or of open tasks, and at which character its body begins.

        They are read some at a time, in the order of their ids.
        """
        query = (
            "SELECT id, data, body_start FROM task JOIN file USING (id)"
            " WHERE id > ? AND is_open >= ? ORDER BY id LIMIT ?"
        )
        last = ""
        while found := self._read(list, query, last, int(open_only), _TEXTS_AT_ONCE):
            yield from found
            last = found[-1][0]

    def history(self, task_id: TaskId) -> bytes:
        """Returns the bytes of the task's history.jsonl; empty if there is none."""
        query = "SELECT history FROM file WHERE id = ? AND history IS NOT NULL"
        return self._read(values_of.first_bytes, query, task_id) or b""

    def histories(self) -> dict[TaskId, bytes]:
        """Returns the bytes of every history.jsonl that there is, by task."""
        return self._read(dict, "SELECT id, history FROM file WHERE history IS NOT NULL")

    def find_ids(self, prefix: str) -> list[TaskId]:
        """Returns the sorted ids that begin with `prefix`, those of broken files too."""
        query = "SELECT id FROM file WHERE id >= ? AND id < ? ORDER BY id"
        return self._read(_first_of_each, query, prefix, prefix + _NO_ID_REACHES)

    def carriers(self) -> dict[TaskId, TaskId]:
        """Returns the tasks that are done and whose code is on the branch of an open epic, each with the epic."""
        query = (
            "SELECT id, carrier FROM task WHERE carrier IS NOT NULL"
            " AND EXISTS (SELECT 1 FROM task AS epic WHERE epic.id = task.carrier AND epic.is_open)"
        )
        return self._read(dict, query)

    def overdue(self, today: date) -> dict[TaskId, str]:
        """Returns the open tasks that were due before this day, each with the day."""
        query = "SELECT id, due FROM task WHERE due < ? AND is_open"
        return self._read(dict, query, today.isoformat())

    def status_counts(self) -> dict[str, int]:
        """Returns how many tasks have each status that any has."""
        return self._read(dict, "SELECT status, count(*) AS count FROM task GROUP BY status")

    def team_settings(self) -> bytes:
        """Returns the bytes of config.yaml; empty if there is none."""
        return self._read(values_of.first_bytes, "SELECT config FROM state WHERE config IS NOT NULL") or b""

    def titles(self) -> dict[TaskId, str]:
        """Returns the titles by id, sorted by id."""
        return self._read(dict, "SELECT id, title FROM task ORDER BY id")

    def broken(self) -> tuple[BrokenFile, ...]:
        """Returns the files that cannot be read, sorted by path."""
        query = "SELECT path, id AS task, message FROM broken ORDER BY path"
        return self._read(lambda rows: tuple(BrokenFile(*row) for row in rows), query)

    def conflicts(self) -> dict[TaskId, int]:
        """Returns the tasks with a conflict that nobody has settled, each with the line of its file."""
        return self._read(dict, "SELECT id, line FROM conflict ORDER BY id")

    def to_fix(self) -> tuple[BrokenFile, ...]:
        """Returns the files that a person has to fix: those that cannot be read, then those with a conflict."""
        found = self.conflicts()
        if not found:
            return self.broken()
        from gitticks.model.ids import task_path

        words = (
            "both versions of a conflict are here, marked; keep what is right, delete the rest and the marks"
        )
        return (
            *self.broken(),
            *(
                BrokenFile(task_path(one), one, f"{task_path(one)}:{line}: {words}")
                for one, line in found.items()
            ),
        )

    def unreadable(self) -> frozenset[TaskId]:
        """Returns the ids of the tasks whose files cannot be read."""
        found = (layout.task_of_path(file.path) for file in self.broken())
        return frozenset(task_id for task_id in found if task_id is not None)

    def _tasks(self, wanted: str, *values: object, with_json: bool = False) -> list[TaskRow]:
        rest = "fields.json FROM task JOIN fields USING (id)" if with_json else "'' FROM task"
        return self._read(values_of.task_rows, f"SELECT {_ROW}, {rest} WHERE {wanted}", *values)

    def _whole_tasks(self, rows: values_of.Rows) -> list[Task]:
        """Returns the whole tasks of rows of their JSON; a process that lives long asks for the same again and again."""
        texts = _first_of_each(rows)
        if not texts:
            return []
        from gitticks.store.index_rows import tasks_from_json, tasks_read_before

        return tasks_read_before(texts) if self._repository.does_much else tasks_from_json(texts)

    def _read(self, read: Callable[[values_of.Rows], T], query: str, *values: object) -> T:
        """Returns what is read from a query's answer; a damaged database is replaced by one built in memory."""
        try:
            return read(values_of.read_values(self._connection.execute(query, values)))
        except (sqlite3.DatabaseError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
            from gitticks.store.indexing import rebuilt_in_memory

            self._connection.close()
            self._connection = rebuilt_in_memory(self._repository, self.commit)
            return read(values_of.read_values(self._connection.execute(query, values)))


def _first_of_each(rows: values_of.Rows) -> list[Any]:
    return [first for first, *_ in rows]


class IndexedTasks(Mapping[TaskId, TaskRow]):
    """Every readable task by id; `known` are tasks that need not be read again."""

    def __init__(self, index: Index, known: Iterable[TaskRow] = ()) -> None:
        self._index = index
        self._read: dict[TaskId, TaskRow | None] = {task.id: task for task in known}

    def __getitem__(self, task_id: TaskId) -> TaskRow:
        """Returns one task."""
        if task_id not in self._read:
            self._read[task_id] = self._index.find(task_id)
        task = self._read[task_id]
        if task is None:
            raise KeyError(task_id)
        return task

    def __iter__(self) -> Iterator[TaskId]:
        """Yields the ids in their order."""
        return iter(self._index.titles())

    def __len__(self) -> int:
        """Returns how many there are."""
        return len(self._index.titles())


def graph_over(index: Index) -> Graph[TaskRow]:
    """Returns the graph of all tasks of the index, of which it reads those that it is asked about."""
    begun = index.begun()
    return Graph.over(IndexedTasks(index, begun), begun, index.unreadable())


def candidates_in(index: Index) -> Candidates[TaskRow]:
    """Returns where the index finds workable tasks."""
    return Candidates(
        below=lambda epics: _workable_below(index, epics),
        children=index.workable(is_child=True),
        single=index.workable(is_child=False),
    )


def _workable_below(index: Index, epics: Iterable[TaskId]) -> list[TaskRow]:
    found = index.below(epics).values()
    return sorted((task for task in found if task.is_workable), key=by_priority_and_age)
