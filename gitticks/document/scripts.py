"""What runs programs: the `sh` blocks of `## Script`, and parts of settings and tasks."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from gitticks.document.sections import Body, is_closed, parse_blocks
from gitticks.document.texts import Source
from gitticks.errors import DocumentError
from gitticks.model.notes import Section
from gitticks.model.settings import PermissionMode, PermissionRule, SandboxPreset
from gitticks.model.status import Isolation
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
_LOOSENING: Mapping[tuple[str, ...], frozenset[object] | None] = {
    _MODE: _LOOSE,
    ("permissions", "allow"): None,
    ("permissions", "default"): frozenset({"allow"}),
    ("sandbox", "preset"): frozenset({SandboxPreset.NONE}),
    ("isolation",): frozenset({Isolation.NONE}),
    ("sandbox", "allowed_paths"): None,
    ("sandbox", "allowed_hosts"): None,
    ("approvals", "allowed_signers"): None,
}
"""What gives agents more room, or somebody a say: by any value, or by these."""


@dataclass(frozen=True, slots=True)
class ScriptBlock:
    """One block of shell text; `line` is the file's line on which its fence opens."""

    text: str
    line: int


@dataclass(frozen=True, slots=True)
class Scripts:
    """The blocks for the worker (`sh`) and for the reviewer (`sh reviewer`), each in file order."""

    worker: tuple[ScriptBlock, ...] = ()
    reviewer: tuple[ScriptBlock, ...] = ()


def read_scripts(body: Body) -> Scripts:
    """Returns the blocks of `## Script`; fences of other languages and inside quotes are text.

    Raises:
        DocumentError: a block never ends, so what follows it would be run.
    """
    found = body.find(Section.SCRIPT)
    if not found:
        return Scripts()
    block = found[-1]
    text = body.text[block.text_start : block.end]
    first_line = body.source.line(block.text_start)
    blocks: dict[tuple[str, ...], list[ScriptBlock]] = {("sh",): [], ("sh", "reviewer"): []}
    depth = 0
    for token in parse_blocks(Source(text, body.source.path, first_line)):
        depth += (token.type == "blockquote_open") - (token.type == "blockquote_close")
        words = tuple(token.info.split())
        if token.type != "fence" or depth or words not in blocks or token.map is None:
            continue
        line = first_line + token.map[0]
        if not is_closed(token):
            hint = f"end it with a line that holds only {token.markup}"
            raise DocumentError(
                "this script never ends", path=body.source.path, line=line, column=1, hint=hint
            )
        blocks[words].append(ScriptBlock(token.content, line))
    return Scripts(tuple(blocks["sh",]), tuple(blocks["sh", "reviewer"]))


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
        loosening = _LOOSENING.get(keys, frozenset())
        loosens = loosening is None or (bool(loosening) and value in loosening)
        if (keys in _COMMANDS or is_agent or loosens) and value not in (None, "", (), []):
            yield Runnable(RunnableKind.SETTING, ".".join(keys), _shown(value))


def _shown(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=_parts)


def _parts(value: object) -> object:
    """Returns a rule as people write it, without the lists that it leaves empty."""
    return (
        {name: part for name, part in asdict(value).items() if part}
        if isinstance(value, PermissionRule)
        else str(value)
    )
