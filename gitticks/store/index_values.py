"""Reads values of index rows; an impossible one means that the database is damaged.

Each function raises a TypeError or a ValueError then, and the index is rebuilt.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import index
from typing import TYPE_CHECKING, Any, TypeVar

from gitticks.model.ids import TaskId

if TYPE_CHECKING:
    from gitticks.model.notes import Entry
    from gitticks.model.task import Task

K = TypeVar("K")
V = TypeVar("V")
_FENCE = "---"


def whole_tasks(rows: list[Any]) -> list[Task]:
    """Returns the whole tasks of rows of their JSON."""
    if not rows:
        return []
    from gitticks.store.index_rows import tasks_from_json

    return tasks_from_json(text for (text,) in rows)


def whole_tasks_again(rows: list[Any]) -> list[Task]:
    """Returns the same where they are asked for again and again."""
    from gitticks.store.index_rows import tasks_read_before

    return tasks_read_before([text for (text,) in rows])


def entries_to_json(entries: tuple[Entry, ...]) -> str:
    """Returns entries as JSON."""
    import json

    return json.dumps([[entry.at.isoformat(), entry.kind.value, entry.name, entry.text] for entry in entries])


def entries_from_json(text: str) -> tuple[Entry, ...]:
    """Returns the entries that `entries_to_json` wrote."""
    import json
    from datetime import datetime

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
        raise ValueError("the file is another one than the row tells of")
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
    """Returns a reader of rows with two columns."""
    return lambda rows: {key(one): value(other) for one, other in rows}


titles = _mapping(as_id, as_text)
lines = _mapping(as_id, int)
blobs = _mapping(as_id, as_bytes)
entries_by_task = _mapping(as_id, entries_from_json)
counts = _mapping(lambda parent: None if parent is None else as_id(parent), int)
counts_by_word = _mapping(as_text, int)
