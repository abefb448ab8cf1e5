"""How conflicts are marked in a text: git's conflict markers, and our own comments."""

from __future__ import annotations

import itertools
import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from gitticks.document.sections import parse_blocks
from gitticks.document.texts import Source, line_starts, with_newlines

_BEGIN, _BASE, _MIDDLE, _END = "<<<<<<<", "|||||||", "=======", ">>>>>>>"

WORD: Final = "gitticks conflict"
END_MARK: Final = f"<!-- {WORD}: end -->"
_MARK = re.compile(rf"^<!-- {WORD}: [^\r\n]*-->[ \t]*\r?$", re.MULTILINE)
_VERSION = re.compile(rf"^<!-- {WORD}: version of ([^\n]*?) -->\n", re.MULTILINE)
_TICKS = re.compile(r"^ {0,3}(~{3,})", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Hunk:
    """Where both sides exclude each other; offsets of the text. `base` is None where git did not write it."""

    start: int
    end: int
    ours: str
    base: str | None
    theirs: str


@dataclass(frozen=True, slots=True)
class Sides:
    """The versions that a text with markers was made of; without git's base, that of each hunk counts as empty."""

    base: str
    ours: str
    theirs: str


def find_hunks(text: str) -> tuple[Hunk, ...]:
    """Returns the complete hunks in order; markers that stand alone are text."""
    hunks: list[Hunk] = []
    places: dict[str, tuple[int, int]] = {}
    starts = line_starts(text)
    for start, end in itertools.pairwise(starts):
        kind = _kind(text[start:end])
        if kind == _BEGIN:
            places = {kind: (start, end)}
        elif kind == _END and _MIDDLE in places:
            hunks.append(_hunk(text, places, start, end))
            places = {}
        elif kind and _BEGIN in places and kind not in places and not (kind == _BASE and _MIDDLE in places):
            places[kind] = (start, end)
    return tuple(hunks)


def split_sides(text: str) -> Sides | None:
    """Returns the versions that git merged into a text with markers; None if there is no complete hunk in it."""
    hunks = find_hunks(text)
    if not hunks:
        return None
    base, ours, theirs, place = "", "", "", 0
    for hunk in hunks:
        same = text[place : hunk.start]
        base += same + (hunk.base or "")
        ours += same + hunk.ours
        theirs += same + hunk.theirs
        place = hunk.end
    rest = text[place:]
    return Sides(base + rest, ours + rest, theirs + rest)


def _kind(line: str) -> str:
    found = line[:7]
    if found not in (_BEGIN, _BASE, _MIDDLE, _END):
        return ""
    after = line[7:].rstrip("\r\n")
    is_marker = not after or (after.startswith(" ") and found != _MIDDLE)
    return found if is_marker else ""


def _hunk(text: str, places: dict[str, tuple[int, int]], start: int, end: int) -> Hunk:
    ours_start, middle = places[_BEGIN][1], places[_MIDDLE]
    base = places.get(_BASE)
    ours_end = middle[0] if base is None else base[0]
    return Hunk(
        start=places[_BEGIN][0],
        end=end,
        ours=text[ours_start:ours_end],
        base=None if base is None else text[base[1] : middle[0]],
        theirs=text[middle[1] : start],
    )


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

    Texts are `fenced` where one could hide what follows it.
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
    return {
        line
        for token in parse_blocks(source)
        if token.type in ("fence", "code_block") and token.map
        for line in range(*token.map)
    }
