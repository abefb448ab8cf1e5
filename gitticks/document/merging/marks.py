"""How a task's file says that two people wrote the same part differently: both texts, between comments.

Comments leave the file a valid task, are shown by no renderer, and are found again line for line.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from gitticks.document.lines import Source, line_starts
from gitticks.document.merging.markers import find_hunks
from gitticks.document.texts import with_newlines

WORD: Final = "gitticks conflict"
END_MARK: Final = f"<!-- {WORD}: end -->"
_MARK = re.compile(rf"^<!-- {WORD}: [^\r\n]*-->[ \t]*\r?$", re.MULTILINE)
_VERSION = re.compile(rf"^<!-- {WORD}: version of ([^\n]*?) -->\n", re.MULTILINE)
_TICKS = re.compile(r"^ {0,3}(~{3,})", re.MULTILINE)


@dataclass(frozen=True, slots=True, order=True)
class Version:
    """One of the texts that exclude each other, and when its side was last written, in words."""

    time: str
    text: str


def mark(words: str) -> str:
    """Returns the line that marks a conflict, without its line break."""
    return f"<!-- {WORD}: {words} -->"


def marked(versions: Iterable[Version], *, fenced: bool = False) -> str:
    """Returns the texts between marks, the oldest first and each once; LF line breaks, one at the end.

    Args:
        versions: what excludes each other; their texts without blank lines around them.
        fenced: in code fences, where a text could hide what follows it.
    """
    kept: dict[str, Version] = {}
    for version in sorted(versions):
        kept.setdefault(version.text, version)
    parts = [f"{mark(f'version of {one.time}')}\n\n{_body(one.text, fenced)}\n" for one in kept.values()]
    return "".join(parts) + END_MARK + "\n"


def _body(text: str, fenced: bool) -> str:
    if fenced:
        fence = "~" * max(3, 1 + max((len(found[1]) for found in _TICKS.finditer(text)), default=0))
        text = f"{fence}markdown\n{text}\n{fence}"
    return f"{text}\n" if text else ""


def versions_of(text: str) -> tuple[Version, ...] | None:
    """Returns the texts of a part that is nothing but a marked conflict; None for every other text."""
    text = with_newlines(text, "\n")
    if WORD not in text or not text.endswith(END_MARK) or text.count(END_MARK) != 1:
        return None
    found = list(_VERSION.finditer(text))
    if len(found) < 2 or found[0].start() != 0:  # noqa: PLR2004
        return None
    ends = [*(one.start() for one in found[1:]), len(text) - len(END_MARK)]
    return tuple(
        Version(one[1], text[one.end() : end].strip("\n")) for one, end in zip(found, ends, strict=True)
    )


def conflict_line(source: Source) -> int | None:
    """Returns the line of the file on which a conflict begins that nobody has settled; None if there is none.

    Found are our marks and the complete markers of git, outside of code.
    """
    text = source.text
    found = [one.start() for one in _MARK.finditer(text)] if WORD in text else []
    if "<<<<<<<" in text:
        found += [one.start for one in find_hunks(text)]
    if not found:
        return None
    code, starts = _lines_of_code(source), line_starts(text)
    lines = (bisect_right(starts, offset) - 1 for offset in sorted(found))
    return next((source.first_line + line for line in lines if line not in code), None)


def _lines_of_code(source: Source) -> set[int]:
    from gitticks.document.sections import parse_blocks

    return {
        line
        for token in parse_blocks(source)
        if token.type in ("fence", "code_block") and token.map
        for line in range(*token.map)
    }
