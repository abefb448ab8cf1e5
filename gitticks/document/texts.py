"""Texts of files that people write: what is taken for one, and lines and offsets, counted as YAML and CommonMark both do."""

from __future__ import annotations

import re
from typing import NamedTuple

from gitticks.errors import DocumentError
from gitticks.terminal_safety import escaped

MOST_BYTES = 1_000_000
MOST_LINES = 20_000
BYTE_ORDER_MARK = "\ufeff"
BLANK = " \t\r\n"

LINE_BREAK = re.compile(r"\r\n|\r|\n")
_CONFLICT = re.compile(r"(?:\A|(?<=[\r\n]))<<<<<<<")


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
    r"""Returns `text` as a file of ours can hold it: `\xe9` for such a byte that is not UTF-8, U+FFFD for what is left."""
    text = re.sub("[\udc80-\udcff]", lambda byte: escaped(byte[0]), text)
    return re.sub("[\0\ud800-\udfff]", "\ufffd", text)


def is_encodable(text: str) -> bool:
    """True unless `text` holds half a surrogate pair, which no file can."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def decode(data: bytes, path: str) -> str:
    """Returns the text of a file that people and gitticks both write."""
    if len(data) > MOST_BYTES:
        raise _too_large("1 MB", path)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        before = Source(data[: error.start].decode("utf-8"), path)
        hint = "save the file as UTF-8"
        raise before.error("this is not UTF-8", len(before.text), hint=hint) from None
    if "\0" in text:
        raise Source(text, path).error(
            "the file contains a NUL character", text.index("\0"), hint="delete it"
        )
    _refuse_many_lines(text, path)
    return text


def refuse_excess(text: str, path: str) -> None:
    """Refuses a file that no command could read within its time."""
    if not is_encodable(text):
        raise DocumentError(
            "the text contains a character that a file cannot have", path=path, hint="delete it"
        )
    if len(text) > MOST_BYTES or len(text.encode()) > MOST_BYTES:
        raise _too_large("1 MB", path)
    _refuse_many_lines(text, path)


def _refuse_many_lines(text: str, path: str) -> None:
    if count_line_breaks(text) > MOST_LINES:
        raise _too_large(f"{MOST_LINES} lines", path)


def _too_large(limit: str, path: str) -> DocumentError:
    hint = "move long text to a file of its own"
    return DocumentError(f"the file is larger than {limit}", path=path, hint=hint)


def refuse_conflict(source: Source) -> None:
    """Refuses text that a merge left unfinished, which no YAML parser would name so well."""
    place = find_conflict(source.text)
    if place is not None:
        raise conflict_error(source, place)


def find_conflict(text: str) -> int | None:
    """Returns where the first conflict marker of a merge begins, if there is one."""
    found = _CONFLICT.search(text)
    return None if found is None else found.start()


def conflict_error(source: Source, offset: int) -> DocumentError:
    """Returns the error that names the place of a conflict marker."""
    hint = "keep the lines that are right, delete the others and the markers, then commit it"
    return source.error("the YAML contains the conflict markers of a merge", offset, hint=hint)
