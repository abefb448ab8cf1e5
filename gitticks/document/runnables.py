"""Finds in settings and tasks what would run programs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from gitticks.document.script_heading import may_hold_script
from gitticks.errors import DocumentError
from gitticks.model.notes import Section
from gitticks.model.settings import PermissionMode
from gitticks.model.trust import Runnable, RunnableKind

if TYPE_CHECKING:
    from gitticks.document.settings import Layer

_COMMANDS = frozenset(
    {("verify", "test"), ("verify", "build"), ("verify", "scripts"), ("setup", "run"), ("notify",)}
)
_HARMLESS_OF_AGENTS = frozenset({"model", "fallback", "prompt"})
"""What an agent's entry says that changes neither the program, nor what it gets, nor what it may do."""

_MODE = ("permissions", "mode")
_LOOSE = frozenset({PermissionMode.AUTO_ALL, PermissionMode.YOLO})
"""With these, agents run what they like without asking; the default and what is stricter need nobody's trust."""


def runnables_of_settings(text: str) -> tuple[Runnable, ...]:
    """Returns the commands that a config.yaml names, in the order of their names; none of one that cannot be read."""
    from gitticks.document.settings import file_layer

    try:
        layer = file_layer(text)
    except DocumentError:
        return ()
    return tuple(sorted(_of_layer(layer), key=lambda one: one.name))


def runnable_of_task(task_id: str, data: bytes) -> Runnable | None:
    """Returns the script of a task's file; None if it has none that could be run."""
    if not may_hold_script(data):
        return None
    from gitticks.document.taskfile import TaskFile

    try:
        file = TaskFile.parse(data, task_id)
        scripts = file.scripts
    except DocumentError:
        return None
    blocks = [*scripts.worker, *scripts.reviewer]
    if not blocks:
        return None
    return Runnable(RunnableKind.SCRIPT, task_id, (file.section(Section.SCRIPT) or "").strip())


def _of_layer(layer: Layer) -> Iterator[Runnable]:
    values: Mapping[tuple[str, ...], object] = layer.values
    for keys, value in values.items():
        is_agent = keys[0] == "agents" and keys[-1] not in _HARMLESS_OF_AGENTS
        loosens = keys == _MODE and value in _LOOSE
        if (keys in _COMMANDS or is_agent or loosens) and value not in (None, "", (), []):
            yield Runnable(RunnableKind.SETTING, ".".join(keys), _shown(value))


def _shown(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
