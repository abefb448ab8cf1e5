"""A short cut past markdown-it-py for bodies in which every heading is plain to see.

Loading a whole Markdown parser costs more than everything else that showing a task does. This reader takes bodies
of paragraphs, lists and headings, gives exactly the headings that markdown-it-py gives for them (a property test
compares them), and declines every body with a construct that could hide a heading or make one. It uses no patterns:
compiling them would take `gt show` longer than reading its task.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

DEEPEST = 3
_DOUBTFUL = frozenset({*map(chr, range(0x20)), *map(chr, range(0x7F, 0xA1))} - {"\n"})
"""Tabs, line breaks other than LF, and controls."""
_MARKERS = " >*+.)-0123456789"


class PlainHeading(NamedTuple):
    """A heading of level 1 to 3; `line` counts from 0 within the body, offsets are characters."""

    title: str
    level: int
    line: int
    start: int
    end: int


def find_headings(text: str) -> tuple[PlainHeading, ...] | None:
    """Returns the headings of level 1 to 3, or None where it takes a Markdown parser to tell."""
    if "```" in text or "~~~" in text or _has_doubtful_signs(text):
        return None
    lines = text.split("\n")
    return None if any(map(_is_doubtful, lines)) else tuple(_headings(lines, len(text)))


def _has_doubtful_signs(text: str) -> bool:
    if text.isascii():
        return not text.replace("\n", "").isprintable()
    return not _DOUBTFUL.isdisjoint(text)


def _is_doubtful(line: str) -> bool:
    first = line[:1]
    if first == "#":  # closing signs are no part of the title, and there may be none
        return line.rstrip(" ").endswith(("#", "\\"))
    if first == " " and line.lstrip(" ")[:1] == "#":  # may be a heading, part of a list, or code
        return True
    if "<" in line and not line[: line.index("<")].strip(_MARKERS):  # HTML, which may reach over blank lines
        return True
    return first in " =-" and _is_underline(line.strip(" "))


def _is_underline(words: str) -> bool:
    """True for what makes a heading of the line above."""
    return bool(words) and not (words.strip("=") and words.strip("-"))


def _headings(lines: list[str], length: int) -> Iterator[PlainHeading]:
    place = 0
    for number, line in enumerate(lines):
        end = place + len(line) + 1
        if line[:1] == "#":
            title = line.lstrip("#")
            level = len(line) - len(title)
            if level <= DEEPEST and title[:1] == " ":
                yield PlainHeading(" ".join(title.split()), level, number, place, min(end, length))
        place = end
