"""The JSON of every command: one object, `schema` first, tasks with nulls and defaults written out."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from enum import Enum
from pathlib import Path
from typing import Any

from gitticks.actions.standing import Standing
from gitticks.cli.render import say
from gitticks.cli.text import is_harmful
from gitticks.document.times import format_date, format_time
from gitticks.model.event import Event
from gitticks.model.notes import Entry
from gitticks.model.task import Task

SCHEMA = 1
_PLAIN = frozenset({str, int, float, bool})
_TASK_FIELDS = tuple(field.name for field in fields(Task))


def print_object(**body: object) -> None:
    """Prints one object with the schema's number; values may be enums, times, paths and dataclasses."""
    say(_safe(json.dumps({"schema": SCHEMA, **plain(body)}, ensure_ascii=False)))


def print_tasks(standings: Iterable[Standing]) -> None:
    """Prints `{"schema": 1, "tasks": […]}`."""
    print_object(tasks=[task_object(standing) for standing in standings])


def print_task(standing: Standing | None, **more: object) -> None:
    """Prints `{"schema": 1, "task": {…}}`, with `more` keys inside the task; null for no task."""
    print_object(task=None if standing is None else {**task_object(standing), **more})


def task_object(standing: Standing) -> dict[str, Any]:
    """Returns a task's fields by the frontmatter's names, and what is derived."""
    task = standing.task
    return {
        **{name: plain(getattr(task, name)) for name in _TASK_FIELDS},
        "phase": task.status.phase.value,
        "ready": standing.is_ready,
        "blocked": standing.is_blocked,
        "merging": task.is_merging,
        "path": plain(standing.path),
    }


def entry_object(entry: Entry) -> dict[str, Any]:
    """Returns a note, a question or an answer."""
    return {
        "at": format_time(entry.at),
        "from": entry.kind.value,
        "name": entry.name,
        "text": entry.text,
    }


def event_object(event: Event) -> dict[str, Any]:
    """Returns an event with the keys that its line in history.jsonl has."""
    return {
        "type": event.type.value,
        "at": format_time(event.at),
        "actor": plain(event.actor),
        "from": plain(event.from_status),
        "to": plain(event.to_status),
        "reason": event.reason,
        **plain(event.data),
    }


def plain(value: object) -> Any:
    """Returns a value as JSON knows it."""
    if value is None or type(value) in _PLAIN:
        return value
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, datetime):
        return format_time(value)
    if isinstance(value, date):
        return format_date(value)
    if isinstance(value, Path):
        return str(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(one) for one in value]
    return value


def _safe(text: str) -> str:
    """Returns JSON text in which characters that could steer a terminal, or that no file can hold, are escapes."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(json.dumps(char)[1:-1] if is_harmful(char) else char for char in text)
