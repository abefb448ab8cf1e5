"""Converts tasks to rows of the index, and rows back to tasks.

A row's JSON is the very text that `--json` prints of a task's own fields, so that listing thousands prints it as it
is there; and it is what whole tasks are read from, which loads no YAML.
"""

from __future__ import annotations

import gc
import json
from collections.abc import Callable, Iterable
from dataclasses import fields
from datetime import date, datetime
from enum import StrEnum
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from gitticks.document.values import format_date, format_time
from gitticks.model.notes import Entry
from gitticks.model.status import Awaiting, Isolation, Requires, Status, TaskType, Verdict
from gitticks.model.task import Approval, Claim, Task, Usage
from gitticks.store.task_row import entries_to_json
from gitticks.terminal_safety import safe_json

if TYPE_CHECKING:
    from gitticks.document.taskfile import ReadFile

PHASE = "phase"
_NAMES = tuple(field.name for field in fields(Task))
_VALUES = attrgetter(*_NAMES)
_PRINTED = json.JSONEncoder(ensure_ascii=False).encode
_COMPACT = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


def _words(kind: type[StrEnum]) -> Callable[[Any], object]:
    """Returns a reader of an enum's values; a table is several times faster than calling the enum."""
    return {member.value: member for member in kind}.__getitem__


def _approval(values: dict[str, Any]) -> Approval:
    return Approval(values["by"], datetime.fromisoformat(values["at"]), values["head"], values["strength"])


def _claim(values: dict[str, Any]) -> Claim:
    since, expires = (datetime.fromisoformat(values[name]) for name in ("since", "expires"))
    return Claim(values["runner"], values["host"], since, expires)


def _written(parts: Approval | Claim | Usage) -> dict[str, object]:
    values = parts._asdict().items()
    return {name: format_time(value) if isinstance(value, datetime) else value for name, value in values}


_TIMES = ("asked_at", "responded_at", "created", "updated", "closed")
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
    "due": date.fromisoformat,
    "defer_until": date.fromisoformat,
    "isolation": _words(Isolation),
    "usage": lambda values: Usage(**values),
    "claim": _claim,
    **dict.fromkeys(_TIMES, datetime.fromisoformat),
}
_WRITERS: dict[str, Callable[[Any], object]] = {
    "approval": _written,
    "due": format_date,
    "defer_until": format_date,
    "usage": _written,
    "claim": _written,
    "agent_sessions": dict,
    **dict.fromkeys(_TIMES, format_time),
}


def task_row(file: ReadFile, questions: tuple[Entry, ...]) -> tuple[object, ...]:
    """Returns the row of a task, in the order of `TASK_COLUMNS`; what follows from the task alone is its own to say."""
    task = file.task
    return (
        task.id,
        task.title,
        task.status.value,
        task.priority,
        task.parent,
        _word(task.awaiting),
        task.born,
        " ".join(task.blocked_by) or None,
        task.defer_until and task.defer_until.isoformat(),
        task.asked_at and task.asked_at.isoformat(),
        task.closed.isoformat() if task.closed else "",
        task.claim and f"{task.claim.expires.isoformat()} {task.claim.runner}",
        task.carrier,
        task.is_open,
        task.is_epic,
        task.is_workable,
        task.is_begun,
        task.is_merging,
        _COMPACT(task.labels) if task.labels else None,
        task.agent,
        task.reviewer,
        task.assignee,
        task.due and task.due.isoformat(),
        _word(task.requires),
        task.created_by,
        task.pr,
        task.usage.iterations,
        task.usage.cost,
        file.body_start,
        entries_to_json(questions) if questions else None,
    )


def _word(word: StrEnum | None) -> str | None:
    return None if word is None else word.value


def task_to_json(task: Task) -> str:
    """Returns the task's fields by the frontmatter's names, with nulls and defaults, and its phase."""
    values: dict[str, Any] = dict(zip(_NAMES, _VALUES(task), strict=True))
    for name, write in _WRITERS.items():
        if values[name] is not None:
            values[name] = write(values[name])
    values[PHASE] = task.status.phase
    return safe_json(_PRINTED(values))


_known: dict[str, Task] = {}
_MOST_KNOWN = 5000


def tasks_read_before(texts: list[str]) -> list[Task]:
    """Returns the tasks of many rows, and reads only those that were not asked for before: for a process that lives long."""
    global _known  # noqa: PLW0603 - replaced as a whole, for other threads may read it
    known = _known
    new = [text for text in texts if text not in known]
    read = {**known, **dict(zip(new, tasks_from_json(new), strict=True))} if new else known
    if new and len(texts) <= _MOST_KNOWN:
        _known = read if len(read) <= _MOST_KNOWN else {text: read[text] for text in texts}
    return [read[text] for text in texts]


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
    del values[PHASE]
    for name, read in _READERS.items():
        if values[name] is not None:
            values[name] = read(values[name])
    return Task(**values)
