"""The JSON output of every command: one object, `schema` first, with nulls and defaults written out."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from enum import Enum
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from gitticks.cli.render import say, say_all
from gitticks.model.ids import BOARD_FOLDER, task_path
from gitticks.model.task_row import TaskRow
from gitticks.terminal_safety import safe_json

if TYPE_CHECKING:
    from gitticks.actions.context import Context
    from gitticks.actions.derived_state import Standing
    from gitticks.model.task import Task

Shown: TypeAlias = "Standing[Task] | Standing[TaskRow]"


SCHEMA = 1
_PLAIN = frozenset({str, int, float, bool})
_WORDS = ("false", "true")
_NULL = "null"


def print_object(**body: object) -> None:
    """Prints one object with the schema's number; values may be enums, times, paths and dataclasses."""
    say(_dumped({"schema": SCHEMA, **plain(body)}))


def print_answer(context: Context, lines: Iterable[str], nothing: str = "", /, **body: object) -> None:
    """Prints an answer as it was asked for: as one object, or as lines, with `nothing` on stderr if there are none."""
    if context.as_json:
        print_object(**body)
    else:
        say_all(lines, nothing)


def print_event(event: str, /, **body: object) -> None:
    """Prints one line of a stream: the schema, what happened, and the event's own keys."""
    import json

    say(json.dumps({"schema": SCHEMA, "event": event, **plain(body)}, ensure_ascii=True))


def print_tasks(texts: Iterable[str], **more: object) -> None:
    """Prints `{"schema": 1, "tasks": […]}` around tasks as `task_text` gives them, with `more` keys after them."""
    others = "".join(f', "{name}": {_dumped(plain(value))}' for name, value in more.items())
    say(f'{{"schema": {SCHEMA}, "tasks": [{", ".join(texts)}]{others}}}')


def print_task(text: str | None) -> None:
    """Prints `{"schema": 1, "task": {…}}` around a task as `task_text` gives it; null for no task."""
    say(f'{{"schema": {SCHEMA}, "task": {text or "null"}}}')


def task_text(standing: Shown, **more: object) -> str:
    """Returns a task's JSON: its fields by the frontmatter's names, what is derived, and `more` keys.

    The fields are in the index as the text that is printed here, so a listing of thousands makes none of it again.
    """
    task = standing.task
    if isinstance(task, TaskRow):
        fields = task.json
    else:
        from gitticks.store.index_rows import task_to_json

        fields = task_to_json(task)
    ready = standing.is_ready
    blocked = not ready and standing.is_blocked
    folder = _folder(standing.project_place)
    path = f'{folder}{task_path(task.id)}"' if folder != _NULL else _NULL
    others = "".join([f', "{name}": {_dumped(plain(value))}' for name, value in more.items()]) if more else ""
    return (
        f'{fields[:-1]}, "ready": {_WORDS[ready]}, "blocked": {_WORDS[blocked]}'
        f', "merging": {_WORDS[task.is_merging]}, "conflicted": {_WORDS[standing.is_conflicted]}'
        f', "session_state": "{standing.session_state}", "path": {path}{others}}}'
    )


def task_object(standing: Shown) -> dict[str, Any]:
    """Returns what `task_text` writes, to be put into other JSON."""
    import json

    found: dict[str, Any] = json.loads(task_text(standing))
    return found


@cache
def _folder(main_place: str | None) -> str:
    """Returns the beginning of the JSON of a path on the board, up to what its task says; null without a checkout."""
    return _NULL if main_place is None else _dumped(f"{main_place}/{BOARD_FOLDER}/")[:-1]


def plain(value: object) -> Any:
    """Returns a value as JSON knows it."""
    if value is None or type(value) in _PLAIN:
        return value
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return plain(_keys(value))
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(one) for one in value]
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, date):
        from gitticks.document.values import format_date, format_time  # loads the readers of YAML

        return format_time(value) if isinstance(value, datetime) else format_date(value)
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if hasattr(type(value), "__dataclass_fields__"):
        from dataclasses import fields  # loads inspect

        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}  # type: ignore[arg-type]
    return plain(dict(value)) if isinstance(value, Mapping) else value


def _keys(value: Any) -> dict[str, Any]:
    """Returns a named tuple by its keys; entries and events have those of their lines in files."""
    from gitticks.model.event import Event
    from gitticks.model.notes import Entry

    if isinstance(value, Entry):
        return {"at": value.at, "from": value.kind, "name": value.name, "text": value.text}
    if isinstance(value, Event):
        kept = {"type": value.type, "at": value.at, "actor": value.actor}
        moved = {"from": value.from_status, "to": value.to_status, "reason": value.reason}
        return {**kept, **moved, **value.data}
    named: dict[str, Any] = value._asdict()
    return named


def _dumped(value: object) -> str:
    if (
        isinstance(value, str)
        and value.isascii()
        and value.isprintable()
        and '"' not in value
        and "\\" not in value
    ):
        return f'"{value}"'
    import json

    return safe_json(json.dumps(value, ensure_ascii=False))
