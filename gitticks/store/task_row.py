"""What the index holds of each task, and how its rows are read: one for rules and listings, and what only pages show.

An impossible value means that the database is damaged: reading it raises a TypeError or a ValueError, and the index is
rebuilt.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from gitticks.model.ids import TaskId
from gitticks.model.status import Status
from gitticks.model.task_row import TaskRow

if TYPE_CHECKING:
    import sqlite3

    from gitticks.model.notes import Entry

Rows: TypeAlias = Iterable[tuple[Any, ...]]
_FENCE = "---"
_TEXTS = frozenset({"id", "title", "born", "closed", "path", "message"})
_NUMBERS = frozenset(
    {
        *("priority", "is_open", "is_epic", "is_workable", "is_begun", "is_merging", "iterations", "cost"),
        *("body_start", "line", "count"),
    }
)
_FILES = frozenset({"data", "history", "config"})
_TIMES = frozenset({"deferred", "asked", "claimed"})
"""What columns hold; those that are named nowhere, text or null."""
_ROWS_AT_ONCE = 1000
_STATUSES = frozenset(map(str, Status))
_BEGINS = {"json": '{"id": "', "label_list": '["'}


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


def read_values(cursor: sqlite3.Cursor) -> Iterator[tuple[Any, ...]]:
    """Yields the rows of a query, read some at a time to save memory.

    Raises:
        ValueError: a column holds what it cannot, so the database is damaged.
        TypeError: likewise.
    """
    names = [name for name, *_ in cursor.description]
    while rows := cursor.fetchmany(_ROWS_AT_ONCE):
        for name, column in zip(names, zip(*rows, strict=True), strict=True):
            _require_possible(name, column)
        yield from rows


def _require_possible(name: str, column: tuple[Any, ...]) -> None:
    """Raises an error where a column holds what it cannot, the quickest way to look at thousands of values."""
    if name in _NUMBERS:
        sum(column)
    elif name in _FILES:
        b"".join(filter(None, column))
    elif name in _TIMES:
        for text in filter(None, column):
            datetime.fromisoformat(text.partition(" ")[0])
    elif name == "status":
        if not _STATUSES.issuperset(column):
            raise ValueError("there is no such status")
    elif name in _BEGINS:
        if any(text and not text.startswith(_BEGINS[name]) for text in set(column)):
            raise ValueError("the JSON is damaged")
    else:
        "".join(column if name in _TEXTS else filter(None, column))


def task_rows(rows: Rows) -> list[TaskRow]:
    """Returns rows as tasks."""
    return list(map(tuple.__new__, repeat(TaskRow), rows))


def details_of(rows: Rows) -> dict[TaskId, TaskDetails]:
    """Returns rows of an id and its details."""
    return {task_id: TaskDetails(*details) for task_id, *details in rows}


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


def entries_by_task(rows: Rows) -> dict[TaskId, tuple[Entry, ...]]:
    """Returns rows of an id and of entries as JSON."""
    return {task_id: entries_from_json(text) for task_id, text in rows}


def first_bytes(rows: Rows) -> bytes | None:
    """Returns the file in the first row, if there is one."""
    return next((data for (data,) in rows), None)


def body(rows: Rows) -> tuple[str, int]:
    """Returns the text below the frontmatter of the one file, and on which of its lines it begins."""
    from gitticks.document.texts import count_line_breaks

    ((data, start),) = rows
    text: str = data.decode()
    above = text[:start]
    if len(above) != start or not above.rstrip().endswith(_FENCE):
        raise ValueError("the file is not the one that the row describes")
    return text[start:], 1 + count_line_breaks(above)
