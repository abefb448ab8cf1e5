"""Keeps the instructions in the file that coding agents read, which is the project's own."""

from __future__ import annotations

import os
from enum import Enum
from pathlib import Path
from shlex import quote

from gitticks.actions.named_file import write_named_file
from gitticks.actions.skill.block import with_block, without_block
from gitticks.errors import GitticksError
from gitticks.safe_read import read_plain_file

DEFAULT_FILE = "AGENTS.md"
_MARKS = (b"\xff\xfe", b"\xfe\xff")


class Done(Enum):
    """What became of the file."""

    CREATED = "created"
    ADDED = "block added"
    RENEWED = "block renewed"
    CURRENT = "is current"
    TAKEN_OUT = "block taken out"
    DELETED = "deleted, as nothing else was in it"
    HAD_NONE = "has no block"


def instructions() -> str:
    """Returns the text for agents."""
    return Path(__file__).with_name("instructions.md").read_text("utf-8")


def install(file: Path) -> Done:
    """Puts the block into the file, made if missing, or brings the one that is there up to date.

    Raises:
        GitticksError: the file's markers are damaged, or it is no text.
    """
    content = _read(file)
    wanted = _with_block(file, content or b"")
    if wanted == content:
        return Done.CURRENT
    _write(file, content, wanted)
    if content is None:
        return Done.CREATED
    return Done.ADDED if _without_block(file, content) == content else Done.RENEWED


def remove(file: Path) -> Done:
    """Takes the block out and leaves the rest byte for byte; a file with nothing else in it is deleted.

    Raises:
        GitticksError: the file's markers are damaged, or it is no text.
    """
    content = _read(file)
    rest = None if content is None else _without_block(file, content)
    if rest == content:
        return Done.HAD_NONE
    if rest:
        _write(file, content, rest)
        return Done.TAKEN_OUT
    Path(os.path.realpath(file)).unlink()  # a link stays, as it was before
    return Done.DELETED


def check(file: Path) -> None:
    """Returns if the file holds the block of this version.

    Raises:
        GitticksError: it does not.
    """
    content = _read(file)
    shown = "" if file.name == DEFAULT_FILE else f" {quote(str(file))}"
    hint = f"`gt skill --install{shown}`"
    if content is None or _without_block(file, content) == content:
        raise GitticksError(f"`{file}` has no instructions of gitticks", hint=hint)
    if _with_block(file, content) != content:
        raise GitticksError(
            f"`{file}` has the instructions of another version, or they were changed", hint=hint
        )


def _with_block(file: Path, content: bytes) -> bytes:
    try:
        return with_block(content, instructions())
    except GitticksError as error:
        raise GitticksError(f"`{file}`: {error.message}", hint=error.hint) from None


def _without_block(file: Path, content: bytes) -> bytes:
    try:
        return without_block(content)
    except GitticksError as error:
        raise GitticksError(f"`{file}`: {error.message}", hint=error.hint) from None


def _read(file: Path) -> bytes | None:
    try:
        content = read_plain_file(file)
    except FileNotFoundError:
        return None
    if content.startswith(_MARKS) or b"\0" in content:
        raise GitticksError(f"`{file}` is no UTF-8 text", hint="save it as UTF-8")
    return content


def _write(file: Path, expected: bytes | None, content: bytes) -> None:
    """Replaces the file, or the one that a link leads to, whole or not at all; nothing that was saved meanwhile is lost."""

    def refuse_changed() -> None:
        if _read(file) != expected:
            raise GitticksError(f"`{file}` was changed just now", hint="repeat the command")

    write_named_file(file, content, before_replacing=refuse_changed)
