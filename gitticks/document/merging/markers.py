"""The conflict markers that git leaves in a text: found, and taken apart into the versions that they stand for."""

from __future__ import annotations

import itertools
from dataclasses import dataclass

from gitticks.document.lines import line_starts

_BEGIN, _BASE, _MIDDLE, _END = "<<<<<<<", "|||||||", "=======", ">>>>>>>"


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
    """Returns the marker that a line begins with, or nothing."""
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
