"""Lines as YAML and CommonMark both count them, and places in a text for messages.

`str.splitlines` is unfit here: it also breaks at form feeds, U+0085 and U+2028, which are ordinary characters
of a paragraph.
"""

from __future__ import annotations

import re

from gitticks.document.texts import Source, count_line_breaks, trimmed, with_newlines

__all__ = [
    "LINE_BREAK",
    "Source",
    "count_line_breaks",
    "encodable",
    "is_encodable",
    "line_end",
    "line_starts",
    "trimmed",
    "with_newlines",
]

LINE_BREAK = re.compile(r"\r\n|\r|\n")
_SURROGATE = re.compile("[\ud800-\udfff]")
_NOT_IN_FILES = re.compile("[\0\ud800-\udfff]")


def line_starts(text: str) -> list[int]:
    """Returns the offset at which each line begins, and last the length of the text."""
    starts = [0, *(match.end() for match in LINE_BREAK.finditer(text))]
    return starts if starts[-1] == len(text) else [*starts, len(text)]


def line_end(text: str, offset: int) -> int:
    """Returns the offset behind the line break that ends the line at `offset`, or the length of the text."""
    found = LINE_BREAK.search(text, offset)
    return len(text) if found is None else found.end()


def encodable(text: str) -> str:
    """Returns `text` with U+FFFD for each character that no file of ours can hold."""
    return _NOT_IN_FILES.sub("\ufffd", text)


def is_encodable(text: str) -> bool:
    """True unless `text` holds half a surrogate pair, which no file can."""
    return text.isascii() or _SURROGATE.search(text) is None
