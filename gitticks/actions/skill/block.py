"""The marked block in a file that is otherwise somebody else's: put in, replaced and taken out, as bytes.

The first marker tells how many line breaks were added before it, so that taking the block out gives back the very
file that it was put into.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from gitticks.errors import GitticksError

_BEGIN = '<!-- gitticks:begin {gap} written by "gt skill --install"; what you change in here is replaced -->'
_END = "<!-- gitticks:end -->"
_MARKER = re.compile(rb"^<!-- gitticks:(begin|end)\b(?: ([0-2]) )?[^\r\n]*(\r?\n|\Z)", re.MULTILINE)
_BREAKS = re.compile(rb"(?:\r?\n){0,2}\Z")


def with_block(content: bytes, text: str) -> bytes:
    """Returns a file's bytes with a block of this text: in place of the one that is there, else at the end.

    Raises:
        GitticksError: its markers do not make one block.
    """
    place = _find(content)
    if place is not None:
        return content[: place.begin] + _block(text, place.gap, place.newline) + content[place.end :]
    newline = b"\r\n" if b"\r\n" in content else b"\n"
    missing = 0 if not content else 2 - len(_breaks_at_end(content))
    return content + newline * missing + _block(text, missing, newline)


def without_block(content: bytes) -> bytes:
    """Returns a file's bytes without the block, and without the line breaks that came with it.

    Raises:
        GitticksError: its markers do not make one block.
    """
    place = _find(content)
    if place is None:
        return content
    before = content[: place.begin]
    for _ in range(place.gap):
        before = before.removesuffix(place.newline)
    return before + content[place.end :]


def _block(text: str, gap: int, newline: bytes) -> bytes:
    lines = [_BEGIN.format(gap=gap), "", *text.strip().split("\n"), "", _END, ""]
    return newline.join(line.encode() for line in lines)


class _Place(NamedTuple):
    """Where the block begins and ends, how many line breaks were put before it, and its own."""

    begin: int
    end: int
    gap: int
    newline: bytes


def _find(content: bytes) -> _Place | None:
    marks = list(_MARKER.finditer(content))
    if not marks:
        return None
    if [mark[1] for mark in marks] != [b"begin", b"end"]:
        lines = [content.count(b"\n", 0, mark.start()) + 1 for mark in marks]
        shown = ", ".join(
            f"`{mark[1].decode()}` in line {line}" for mark, line in zip(marks, lines, strict=True)
        )
        raise GitticksError(
            f"the markers of its block are damaged: {shown}",
            hint="make them one begin and one end, or delete them",
        )
    begin, end = marks
    return _Place(begin.start(), end.end(), int(begin[2] or 0), begin[3])


def _breaks_at_end(content: bytes) -> list[bytes]:
    found = _BREAKS.search(content)
    return [] if found is None else found[0].splitlines()
