"""Lines and offsets in a text, counted as YAML and CommonMark both count them."""

from __future__ import annotations

import re
from typing import NamedTuple

from gitticks.errors import DocumentError

BLANK = " \t\r\n"

LINE_BREAK = re.compile(r"\r\n|\r|\n")


def with_newlines(text: str, newline: str) -> str:
    """Returns `text` with every line break written as `newline`."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return text if newline == "\n" else text.replace("\n", newline)


def trimmed(text: str) -> str:
    """Returns `text` without blank lines around it; the indentation of its first line stays."""
    return text[line_start(text, len(text) - len(text.lstrip(BLANK))) :].rstrip(BLANK)


def count_line_breaks(text: str, end: int | None = None) -> int:
    """Returns how many line breaks of any of the three kinds stand before the offset `end`."""
    end = len(text) if end is None else end
    return text.count("\n", 0, end) + text.count("\r", 0, end) - text.count("\r\n", 0, end)


class Source(NamedTuple):
    """A piece of a file, which knows the file's path and on which of its lines the piece begins."""

    text: str
    path: str
    first_line: int = 1

    def line(self, offset: int) -> int:
        """Returns the file's line, from 1, that the offset is on."""
        return self.first_line + count_line_breaks(self.text, offset)

    def error(self, problem: str, offset: int, *, hint: str | None = None) -> DocumentError:
        """Returns the error that names the place of `offset`."""
        line, column = self.place(offset)
        return DocumentError(problem, path=self.path, line=line, column=column, hint=hint)

    def place(self, offset: int) -> tuple[int, int]:
        """Returns the file's line and column of an offset, both from 1."""
        return self.line(offset), offset - line_start(self.text, offset) + 1


def line_starts(text: str) -> list[int]:
    """Returns the offset at which each line begins, and last the length of the text."""
    starts = [0, *(match.end() for match in LINE_BREAK.finditer(text))]
    return starts if starts[-1] == len(text) else [*starts, len(text)]


def line_start(text: str, offset: int) -> int:
    """Returns the offset at which the line of `offset` begins."""
    return max(text.rfind("\n", 0, offset), text.rfind("\r", 0, offset)) + 1


def line_end(text: str, offset: int) -> int:
    """Returns the offset behind the line break that ends the line at `offset`, or the length of the text."""
    found = LINE_BREAK.search(text, offset)
    return len(text) if found is None else found.end()


def encodable(text: str) -> str:
    """Returns `text` with U+FFFD for each character that no file of ours can hold."""
    return re.sub("[\0\ud800-\udfff]", "\ufffd", text)


def is_encodable(text: str) -> bool:
    """True unless `text` holds half a surrogate pair, which no file can."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
