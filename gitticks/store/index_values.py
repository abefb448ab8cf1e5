"""Reads values of index rows; an impossible one means that the database is damaged.

Each function raises a TypeError or a ValueError then, and the index is rebuilt.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from gitticks.model.ids import TaskId

if TYPE_CHECKING:
    from gitticks.model.notes import Entry
    from gitticks.model.task import Task

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


def entries(rows: list[Any]) -> tuple[Entry, ...]:
    """Returns the entries in the first row, if there is one."""
    if not rows:
        return ()
    return entries_from_json(rows[0][0])


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


def entries_by_task(rows: list[Any]) -> dict[TaskId, tuple[Entry, ...]]:
    """Returns entries by task."""
    return {TaskId(as_text(task_id)): entries([(text,)]) for task_id, text in rows}


def counts(rows: list[Any]) -> dict[TaskId | None, int]:
    """Returns counts by task; the key None is a null."""
    return {None if parent is None else TaskId(as_text(parent)): int(count) for parent, count in rows}


def counts_by_word(rows: list[Any]) -> dict[str, int]:
    """Returns counts by word."""
    return {as_text(word): int(count) for word, count in rows}


def lines(rows: list[Any]) -> dict[TaskId, int]:
    """Returns lines of files by task."""
    return {TaskId(as_text(task_id)): int(line) for task_id, line in rows}


def texts(rows: list[Any]) -> list[tuple[TaskId, bytes, int]]:
    """Returns rows of id, file and the place of its body, once they are looked at."""
    if not all(type(data) is bytes and type(start) is int for _, data, start in rows):
        raise TypeError("a file is kept as bytes")
    return [(TaskId(as_text(task_id)), data, start) for task_id, data, start in rows]


def blob(rows: list[Any]) -> bytes | None:
    """Returns the bytes in the first row, if there is one."""
    if rows and not isinstance(rows[0][0], bytes):
        raise TypeError("a file is kept as bytes")
    return rows[0][0] if rows else None


def blobs(rows: list[Any]) -> dict[TaskId, bytes]:
    """Returns bytes by task."""
    if not all(isinstance(data, bytes) for _, data in rows):
        raise TypeError("a file is kept as bytes")
    return {TaskId(as_text(task_id)): data for task_id, data in rows}


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
    return [TaskId(as_text(value)) for (value,) in rows]


def titles(rows: list[Any]) -> dict[TaskId, str]:
    """Returns titles by task."""
    return {TaskId(as_text(task_id)): as_text(title) for task_id, title in rows}


def as_text(value: object) -> str:
    """Returns a value that must be text."""
    if not isinstance(value, str):
        raise TypeError("names and words are kept as text")
    return value
