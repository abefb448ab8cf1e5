"""What the index holds of each task, and how its rows are read: one for rules and listings, and what only pages show.

An impossible value means that the database is damaged: reading it raises a TypeError or a ValueError, and the index is
rebuilt.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import date, datetime
from itertools import repeat
from operator import index
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from gitticks.model.ids import TaskId
from gitticks.model.status import Status
from gitticks.model.task_row import TaskRow

if TYPE_CHECKING:
    import sqlite3

    from gitticks.model.notes import Entry

K = TypeVar("K")
V = TypeVar("V")
_FENCE = "---"
_TEXTS = frozenset({"id", "title", "status", "born", "closed", "json"})
_NUMBERS = frozenset(
    {"priority", "is_open", "is_epic", "is_workable", "is_begun", "is_merging", "iterations", "cost"}
)
"""What columns hold; those that are named nowhere, text or null."""
_ROWS_AT_ONCE = 1000
_STATUSES = frozenset(map(str, Status))
_JSON_BEGINS = '{"id": "'


class TaskDetails(NamedTuple):
    """What pages and the rarer filters ask of a task as well; `label_list` is JSON."""

    label_list: str | None
    agent: str | None
    reviewer: str | None
    assignee: str | None
    due: str | None
    requires: str | None
    created_by: str | None
    pr: str | None
    iterations: int
    cost: float

    @property
    def labels(self) -> tuple[str, ...]:
        """Returns the labels."""
        text = self.label_list
        if text is None:
            return ()
        if "\\" not in text:
            return tuple(text[2:-2].split('","'))
        import json  # only for a label with quotes or control characters

        return tuple(map(str, json.loads(text)))


ROW_COLUMNS, DETAIL_COLUMNS = TaskRow._fields[:-1], TaskDetails._fields


def read_rows(cursor: sqlite3.Cursor) -> list[TaskRow]:
    """Returns the rows of a query, read some at a time to save memory; raises as `rows_of`."""
    found: list[TaskRow] = []
    while some := cursor.fetchmany(_ROWS_AT_ONCE):
        found += rows_of(some)
    return found


def rows_of(values: list[tuple[Any, ...]]) -> list[TaskRow]:
    """Returns rows of the database as tasks.

    Raises:
        ValueError: a row holds what no task has, so the database is damaged.
        TypeError: likewise.
    """
    if not values:
        return []
    columns = dict(zip(TaskRow._fields, zip(*values, strict=True), strict=True))
    _require_types(columns.items())
    if not _STATUSES.issuperset(columns["status"]):
        raise ValueError("there is no such status")
    for text in filter(None, columns["deferred"]):
        date.fromisoformat(text)
    for text in filter(None, (*columns["asked"], *columns["claimed"])):
        datetime.fromisoformat(text.partition(" ")[0])
    if any(text and not text.startswith(_JSON_BEGINS) for text in set(columns["json"])):
        raise ValueError("the JSON is damaged")
    return list(map(tuple.__new__, repeat(TaskRow), values))


def details_of(values: list[tuple[Any, ...]]) -> dict[TaskId, TaskDetails]:
    """Returns rows of an id and its details; raises as `rows_of`."""
    if not values:
        return {}
    names = ("id", *DETAIL_COLUMNS)
    columns = dict(zip(names, zip(*values, strict=True), strict=True))
    _require_types(columns.items())
    found = {TaskId(row[0]): TaskDetails._make(row[1:]) for row in values}
    for text in filter(None, columns["label_list"]):
        if not (text.startswith('["') and text.endswith('"]')):
            raise ValueError(text)
    return found


def _require_types(columns: Iterable[tuple[str, tuple[Any, ...]]]) -> None:
    """Raises a TypeError where a column holds what it cannot; the quickest way to look at thousands of values."""
    for name, column in columns:
        if name in _NUMBERS:
            sum(column)
        else:
            "".join(column if name in _TEXTS else filter(None, column))


def entries_to_json(entries: tuple[Entry, ...]) -> str:
    """Returns entries as JSON."""
    import json

    return json.dumps([[entry.at.isoformat(), entry.kind.value, entry.name, entry.text] for entry in entries])


def entries_from_json(text: str) -> tuple[Entry, ...]:
    """Returns the entries that `entries_to_json` wrote."""
    import json

    from gitticks.model.notes import Entry
    from gitticks.model.status import ActorKind

    return tuple(
        Entry(datetime.fromisoformat(at), ActorKind(kind), name, body)
        for at, kind, name, body in json.loads(text)
    )


def entries(rows: list[Any]) -> tuple[Entry, ...]:
    """Returns the entries in the first row, if there is one."""
    return entries_from_json(rows[0][0]) if rows else ()


def texts(rows: list[Any]) -> list[tuple[TaskId, bytes, int]]:
    """Returns rows of id, file and the place of its body."""
    return [(as_id(task_id), as_bytes(data), index(start)) for task_id, data, start in rows]


def blob(rows: list[Any]) -> bytes | None:
    """Returns the bytes in the first row, if there is one."""
    return as_bytes(rows[0][0]) if rows else None


def body(rows: list[Any]) -> tuple[str, int]:
    """Returns the text below the frontmatter of the one file, and on which of its lines it begins."""
    from gitticks.document.texts import count_line_breaks

    ((data, start),) = rows
    text: str = data.decode()
    above = text[:start]
    if len(above) != start or not above.rstrip().endswith(_FENCE):
        raise ValueError("the file is not the one that the row describes")
    return text[start:], 1 + count_line_breaks(above)


def ids(rows: list[Any]) -> list[TaskId]:
    """Returns ids."""
    return [as_id(value) for (value,) in rows]


def as_text(value: object) -> str:
    """Returns a value that must be text."""
    if not isinstance(value, str):
        raise TypeError("names and words are kept as text")
    return value


def as_bytes(value: object) -> bytes:
    """Returns a value that must be a file's content."""
    if not isinstance(value, bytes):
        raise TypeError("a file is kept as bytes")
    return value


def as_id(value: object) -> TaskId:
    """Returns a value that must be an id."""
    return TaskId(as_text(value))


def _mapping(key: Callable[[Any], K], value: Callable[[Any], V]) -> Callable[[list[Any]], dict[K, V]]:
    return lambda rows: {key(one): value(other) for one, other in rows}


titles = _mapping(as_id, as_text)
ids_by_task = _mapping(as_id, as_id)
lines = _mapping(as_id, int)
blobs = _mapping(as_id, as_bytes)
entries_by_task = _mapping(as_id, entries_from_json)
counts = _mapping(lambda parent: None if parent is None else as_id(parent), int)
counts_by_word = _mapping(as_text, int)
