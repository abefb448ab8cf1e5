"""Which agents can be started here, and the instructions for them in the project's AGENTS.md."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from enum import Enum
from pathlib import Path
from shlex import quote
from typing import NamedTuple

from gitticks.actions.context import Context
from gitticks.actions.named_file import write_named_file
from gitticks.actions.trust import may_settings_run
from gitticks.agents.base import AgentSpec
from gitticks.agents.registry import PRESETS, Registry
from gitticks.document.settings_layers import ResolvedSettings
from gitticks.errors import DocumentError, GitticksError, NotFoundError
from gitticks.model.settings import PermissionMode, Settings
from gitticks.runner.reviewing import Staff, registry_for, require_program
from gitticks.safe_read import read_plain_file, reason_of

_BEGIN = '<!-- gitticks:begin {gap} written by "gt skill --install"; what you change in here is replaced -->'
_END = "<!-- gitticks:end -->"
_MARKER = re.compile(rb"^<!-- gitticks:(begin|end)\b(?: ([0-2]) )?[^\r\n]*(\r?\n|\Z)", re.MULTILINE)
DEFAULT_FILE = "AGENTS.md"
_MARKS = (b"\xff\xfe", b"\xfe\xff")


class KnownAgent(NamedTuple):
    """An agent; `path` and `version` are None where its program is not on PATH or does not say.

    A path that begins in the workspace is relative.
    """

    name: str
    kind: str
    path: str | None
    version: str | None
    is_default: bool
    is_configured: bool
    modes: tuple[PermissionMode, ...]
    resumes: bool
    tells_usage: bool
    tells_cost: bool


def known_agents(context: Context) -> list[KnownAgent]:
    """Returns the configured agents and those found on PATH; outside of a repository those of the defaults.

    A default that there is not is only warned of: this is the list to choose another from.
    """
    from concurrent.futures import ThreadPoolExecutor  # costs start-up time

    try:
        _ = context.repository
    except NotFoundError:
        settings, is_trusted = Settings(), True
    else:
        settings, is_trusted = context.settings, may_settings_run(context)
        context.warnings += [error.in_one_line for error in incomplete_agents(context.resolved_settings)]
    registry = registry_for(settings, context.world.environment)
    default, all_found = _default(context, registry), registry.found()
    # Programs that the settings name are asked for their version only if they may run.
    asked = [found for found in all_found if is_trusted or not found.is_configured]
    with ThreadPoolExecutor() as pool:  # a client may take seconds to start
        versions = dict(
            zip((found.spec.name for found in asked), pool.map(registry.version_of, asked), strict=True)
        )
    return [
        KnownAgent(
            name=found.spec.name,
            kind=found.spec.kind.value,
            path=found.path or _path_in_workspace(found.spec),
            version=versions.get(found.spec.name),
            is_default=found.spec.name == default,
            is_configured=found.is_configured,
            modes=preset.modes,
            resumes=preset.resumes,
            tells_usage=preset.tells_usage,
            tells_cost=preset.tells_cost,
        )
        for found in all_found
        for preset in (PRESETS[found.spec.kind],)
    ]


def _path_in_workspace(spec: AgentSpec) -> str | None:
    program = next(iter(spec.argv), "")
    return program if os.sep in program and not Path(program).is_absolute() else None


def incomplete_agents(found: ResolvedSettings) -> Iterator[DocumentError]:
    """Yields for each agent of the settings that cannot be started what its entry lacks, and where it is."""
    registry = registry_for(found.settings, {})
    for name in found.settings.agents:
        try:
            registry.spec(name)
        except GitticksError as error:
            given = next(keys for keys in found.given if keys[:2] == ("agents", name))
            yield found.error(".".join(given), error.message, hint=error.hint)


def why_unknown(settings: Settings, name: str) -> str | None:
    """Returns that these settings know no agent of a name, with near ones, or what its entry lacks; None if they do."""
    try:
        registry_for(settings, {}).spec(name)
    except GitticksError as error:
        return f"{error.message} ({error.hint})"
    return None


def why_absent(context: Context, name: str) -> str | None:
    """Returns why neither an agent nor a fallback of it can be started here; None if one can."""
    registry = registry_for(context.settings, context.world.environment)
    try:
        require_program(Staff(registry, context.settings).left(registry.spec(name), tuple)[0], registry)
    except GitticksError as error:
        return f"{error.message} ({error.hint})"
    return None


def unknown_in_settings(settings: Settings, environment: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yields the settings that name an agent, or a program of one, that there is not, each with words for it."""
    named = [] if settings.agent is None else [("agent", settings.agent)]
    named += [("reviewers", one.agent) for one in settings.reviewers if one.agent is not None]
    for agent, entry in settings.agents.items():
        named += [(f"agents.{agent}.fallback", name) for name in entry.fallback]
    for setting, name in named:
        unknown = why_unknown(settings, name)
        if unknown is not None:
            yield setting, unknown
    for agent, entry in settings.agents.items():
        words = entry.argv[0].split() if len(entry.argv) == 1 else []
        if len(words) > 1 and not Path(entry.argv[0]).exists():
            yield (
                f"agents.{agent}.argv",
                f"`{entry.argv[0]}` is one word; did you mean `{json.dumps(words)}`?",
            )
    registry = registry_for(settings, environment)
    with suppress(GitticksError):  # an unknown one was named above
        spec = registry.spec(settings.agent or "")
        if registry.path_of(spec) is None and _path_in_workspace(spec) is None:
            yield "agent", f"the program of `{spec.name}` is not on PATH here"


def _default(context: Context, registry: Registry) -> str | None:
    try:
        return registry.default_spec().name
    except GitticksError as error:
        context.warnings.append(f"the setting `agent`: {error.message}")
        return None


def with_block(content: bytes, text: str) -> bytes:
    """Returns a file's bytes with a block of this text: in place of the one that is there, else at the end."""
    before, after, gap, newline = _around_block(content)
    lines = [_BEGIN.format(gap=gap), "", *text.strip().split("\n"), "", _END, ""]
    return before + newline.join(line.encode() for line in lines) + after


def without_block(content: bytes) -> bytes:
    """Returns a file's bytes without the block, and without the line breaks that came with it."""
    before, after, gap, newline = _around_block(content)
    for _ in range(gap):
        before = before.removesuffix(newline)
    return before + after


def _around_block(content: bytes) -> tuple[bytes, bytes, int, bytes]:
    """Returns what is before and after the block, how many line breaks were put before it for it, and its own."""
    marks = list(_MARKER.finditer(content))
    if not marks:
        newline = b"\r\n" if b"\r\n" in content else b"\n"
        there = content[len(content.rstrip(b"\r\n")) :].count(b"\n")
        gap = max(0, 2 - there) if content else 0
        return content + newline * gap, b"", gap, newline
    if [mark[1] for mark in marks] != [b"begin", b"end"]:
        lines = [content.count(b"\n", 0, mark.start()) + 1 for mark in marks]
        shown = ", ".join(
            f"`{mark[1].decode()}` in line {line}" for mark, line in zip(marks, lines, strict=True)
        )
        raise GitticksError(
            f"the markers of its block are damaged: {shown}",
            hint="keep one begin and one end marker, or delete them",
        )
    begin, end = marks
    return content[: begin.start()], content[end.end() :], int(begin[2] or 0), begin[3]


class Done(Enum):
    """What became of the file."""

    CREATED = "created"
    ADDED = "block added"
    RENEWED = "block renewed"
    CURRENT = "is current"
    TAKEN_OUT = "block removed"
    DELETED = "deleted, because it was empty otherwise"
    HAD_NONE = "has no block"


def instructions() -> str:
    """Returns the text for agents."""
    return Path(__file__).with_name("agents_instructions.md").read_text("utf-8")


def install(file: Path) -> Done:
    """Puts the block into the file, made if missing, or brings the one that is there up to date."""
    content, rest, wanted = _versions(file)
    if wanted == content:
        return Done.CURRENT
    _write(file, content, wanted)
    if content is None:
        return Done.CREATED
    return Done.ADDED if rest == content else Done.RENEWED


def remove(file: Path) -> Done:
    """Takes the block out and leaves the rest byte for byte; a file with nothing else in it is deleted."""
    content, rest, _ = _versions(file)
    if content is None or rest == content:
        return Done.HAD_NONE
    if rest:
        _write(file, content, rest)
        return Done.TAKEN_OUT
    Path(os.path.realpath(file)).unlink()  # a link stays, as it was before
    return Done.DELETED


def check(file: Path) -> None:
    """Returns if the file holds the block of this version."""
    content, rest, wanted = _versions(file)
    shown = "" if file.name == DEFAULT_FILE else f" {quote(str(file))}"
    hint = f"`gt skill --install{shown}`"
    if content is None or rest == content:
        raise GitticksError(f"`{file}` has no instructions from gitticks", hint=hint)
    if wanted != content:
        raise GitticksError(f"`{file}` has instructions from another version, or they were edited", hint=hint)


def _versions(file: Path) -> tuple[bytes | None, bytes, bytes]:
    """Returns what the file holds, and what it would hold without the block and with that of this version."""
    content = _read(file)
    try:
        return content, without_block(content or b""), with_block(content or b"", instructions())
    except GitticksError as error:
        raise GitticksError(f"`{file}`: {error.message}", hint=error.hint) from None


def _read(file: Path) -> bytes | None:
    try:
        content = read_plain_file(file)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise GitticksError(
            f"`{file}` cannot be read: {reason_of(error)}", hint=f"name a text file, such as `{DEFAULT_FILE}`"
        ) from error
    if content.startswith(_MARKS) or b"\0" in content:
        raise GitticksError(f"`{file}` is not UTF-8 text", hint="save it as UTF-8")
    return content


def _write(file: Path, expected: bytes | None, content: bytes) -> None:
    """Replaces the file, or the one that a link leads to, whole or not at all; nothing that was saved meanwhile is lost."""

    def refuse_changed() -> None:
        if _read(file) != expected:
            raise GitticksError(f"`{file}` has just been changed", hint="run the command again")

    write_named_file(file, content, before_replacing=refuse_changed)
