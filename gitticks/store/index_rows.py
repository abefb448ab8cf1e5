"""Turns tasks into rows of the query index and back; plain JSON, so that reading a row loads no YAML."""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Iterable
from dataclasses import MISSING, fields
from datetime import date, datetime
from enum import StrEnum
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from gitticks.model.notes import Entry
from gitticks.model.status import ActorKind, Awaiting, Isolation, Requires, Status, TaskType, Verdict
from gitticks.model.task import Approval, Claim, Task, Usage

if TYPE_CHECKING:
    from gitticks.document.taskfile import ReadFile


def _defaults() -> dict[str, object]:
    """Returns what each field is when its key is missing; fields that are always written have no default."""
    found: dict[str, object] = {}
    for field in fields(Task):
        if field.default is not MISSING:
            found[field.name] = field.default
        elif field.default_factory is not MISSING:
            found[field.name] = field.default_factory()
    return found


def _words(kind: type[StrEnum]) -> Callable[[Any], object]:
    """Returns a reader of an enum's values; a table is several times faster than calling the enum."""
    return {member.value: member for member in kind}.__getitem__


def _approval(values: dict[str, Any]) -> Approval:
    return Approval(values["by"], datetime.fromisoformat(values["at"]), values["head"], values["strength"])


def _claim(values: dict[str, Any]) -> Claim:
    since, expires = (datetime.fromisoformat(values[name]) for name in ("since", "expires"))
    return Claim(values["runner"], values["host"], since, expires)


def _plain(value: object) -> object:
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Approval | Claim | Usage):
        return {field.name: getattr(value, field.name) for field in fields(value)}
    return dict(value)  # type: ignore[call-overload]


_DEFAULTS = _defaults()
_NAMES = tuple(field.name for field in fields(Task))
_DEFAULT_VALUES = tuple(_DEFAULTS.get(name, MISSING) for name in _NAMES)
_values_of = attrgetter(*_NAMES)
_encode = json.JSONEncoder(default=_plain, ensure_ascii=False, separators=(",", ":")).encode
_READERS: dict[str, Callable[[Any], object]] = {
    "type": _words(TaskType),
    "status": _words(Status),
    "labels": tuple,
    "blocked_by": tuple,
    "requires": _words(Requires),
    "asked": _words(Requires),
    "awaiting": _words(Awaiting),
    "verdict": _words(Verdict),
    "approval": _approval,
    "defer_until": date.fromisoformat,
    "isolation": _words(Isolation),
    "usage": lambda values: Usage(**values),
    "claim": _claim,
    "asked_at": datetime.fromisoformat,
    "responded_at": datetime.fromisoformat,
    "created": datetime.fromisoformat,
    "updated": datetime.fromisoformat,
    "closed": datetime.fromisoformat,
}


def task_row(file: ReadFile, questions: tuple[Entry, ...]) -> tuple[object, ...]:
    """Returns the row of a task, in the order of the table's columns.

    Args:
        file: the task's file.
        questions: those that nobody has answered.
    """
    from gitticks.model.queries import by_priority_and_age, is_begun, is_workable  # reading a row needs none

    task = file.task
    priority, created, _ = by_priority_and_age(task)
    return (
        task.id,
        task.is_open,
        is_workable(task),
        is_begun(task),
        task.parent is not None,
        priority,
        created,
        task.parent,
        None if task.awaiting is None else task.awaiting.value,
        task.title,
        entries_to_json(questions) if questions else None,
        task_to_json(task),
    )


def task_to_json(task: Task) -> str:
    """Returns the task as compact JSON, without the fields that have their defaults."""
    written = zip(_NAMES, _values_of(task), _DEFAULT_VALUES, strict=True)
    return _encode(
        {name: value for name, value, default in written if value is not default and value != default}
    )


def task_from_json(text: str) -> Task:
    """Returns the task that `task_to_json` wrote."""
    return _task(json.loads(text))


def tasks_from_json(texts: Iterable[str]) -> list[Task]:
    """Returns the tasks of many rows.

    The rows are read as one array, which halves that part, and without the cyclic collector, which would walk over
    all tasks made so far again and again and find nothing.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        return [_task(values) for values in json.loads(f"[{','.join(texts)}]")]
    finally:
        if was_enabled:
            gc.enable()


def _task(values: dict[str, Any]) -> Task:
    for name in _READERS.keys() & values.keys():
        values[name] = _READERS[name](values[name])
    return Task(**values)


def entries_to_json(entries: tuple[Entry, ...]) -> str:
    """Returns entries as JSON."""
    return json.dumps([[entry.at.isoformat(), entry.kind.value, entry.name, entry.text] for entry in entries])


def entries_from_json(text: str) -> tuple[Entry, ...]:
    """Returns the entries that `entries_to_json` wrote."""
    return tuple(
        Entry(datetime.fromisoformat(at), ActorKind(kind), name, body)
        for at, kind, name, body in json.loads(text)
    )
