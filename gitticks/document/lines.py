"""Lines as YAML and CommonMark both count them, and places in a text for messages.

`str.splitlines` is unfit here: it also breaks at form feeds, U+0085 and U+2028, which are ordinary characters
of a paragraph.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from gitticks.errors import DocumentError

LINE_BREAK = re.compile(r"\r\n|\r|\n")
_SURROGATE = re.compile("[\ud800-\udfff]")


def line_starts(text: str) -> list[int]:
    """Returns the offset at which each line begins, and last the length of the text."""
    starts = [0, *(match.end() for match in LINE_BREAK.finditer(text))]
    return starts if starts[-1] == len(text) else [*starts, len(text)]


def with_newlines(text: str, newline: str) -> str:
    """Returns `text` with every line break written as `newline`."""
    return LINE_BREAK.sub(lambda _: newline, text)


def trimmed(text: str) -> str:
    """Returns `text` without blank lines around it; the indentation of its first line stays."""
    return re.sub(r"\A(?:[ \t]*(?:\r\n|\r|\n))+", "", text).rstrip(" \t\r\n")


def is_encodable(text: str) -> bool:
    """True unless `text` holds half a surrogate pair, which no file can."""
    return text.isascii() or _SURROGATE.search(text) is None


@dataclass(frozen=True, slots=True)
class Source:
    """A piece of a file, which knows the file's path and on which of its lines the piece begins."""

    text: str
    path: str
    first_line: int = 1

    def line(self, offset: int) -> int:
        """Returns the file's line, from 1, that the offset lies on."""
        return self.first_line + sum(1 for _ in LINE_BREAK.finditer(self.text, 0, offset))

    def error(self, problem: str, offset: int, *, hint: str | None = None) -> DocumentError:
        """Returns the error that names the place of `offset`."""
        begin = 0
        for match in LINE_BREAK.finditer(self.text, 0, offset):
            begin = match.end()
        return DocumentError(
            problem, path=self.path, line=self.line(offset), column=offset - begin + 1, hint=hint
        )
