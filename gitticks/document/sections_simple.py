"""A short cut past markdown-it-py for bodies in which every heading is plain to see.

Loading a whole Markdown parser costs more than everything else that showing a task does. This reader takes bodies
of paragraphs, lists and headings, gives exactly the headings that markdown-it-py gives for them (a property test
compares them), and declines every body with a construct that could hide a heading or make one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_DOUBTFUL = re.compile(
    r"""
    [\x00-\x09\x0b-\x1f\x7f-\xa0]           # tabs, other line breaks, controls
    | [\U00010000-\U0010ffff]               # letters beyond the first plane
    | ``` | ~~~                             # fences
    | ^[ ]+\#                               # indented: may be a heading, part of a list, or code
    | ^[ ]*(?:=+|-+)[ ]*$                   # underlines make a heading of the line above
    | ^[ >*+.)\d-]*<                        # HTML, which may reach over blank lines
    | ^\#.*[\#\\][ ]*$                      # closing signs are no part of the title
    | ^\#{1,6}[ ]*$                         # without a title
    """,
    re.VERBOSE | re.MULTILINE,
)
_HEADING = re.compile(r"^(\#{1,3})[ ](.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class PlainHeading:
    """A heading of level 1 to 3; `line` counts from 0 within the body, offsets are characters."""

    title: str
    level: int
    line: int
    start: int
    end: int


def find_headings(text: str) -> tuple[PlainHeading, ...] | None:
    """Returns the headings of level 1 to 3, or None where it takes a Markdown parser to tell."""
    return None if _DOUBTFUL.search(text) else tuple(_headings(text))


def _headings(text: str) -> Iterator[PlainHeading]:
    line = counted = 0
    for match in _HEADING.finditer(text):
        title = " ".join(match[2].split())
        line += text.count("\n", counted, match.start())
        counted = match.start()
        yield PlainHeading(title, len(match[1]), line, match.start(), min(match.end() + 1, len(text)))
