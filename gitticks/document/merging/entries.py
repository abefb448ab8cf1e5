"""Merges the entries of `## Notes` and `## Questions`, and history lines: all of both sides, by time."""

from __future__ import annotations

import json
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from heapq import merge
from itertools import takewhile
from typing import Final, NamedTuple

from gitticks.document.entries import escape, heading_line, place_entries
from gitticks.document.sections import Body
from gitticks.document.texts import Source, trimmed
from gitticks.model.notes import Entry, Section
from gitticks.model.status import ActorKind

_TIME_KEYS: Final = ("at", "timestamp", "time")


def merge_records(base: bytes, one: bytes, other: bytes) -> bytes:
    """Returns the lines of both sides; what both began with stays in front, as long as neither changed it.

    A line cut off by a crash keeps its bytes and gets a line break.
    """
    if other in (one, base):
        return one
    if one == base:
        return other
    mine, theirs = (_with_times(_lines(data)) for data in sorted((one, other)))
    count = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(mine, theirs, strict=False)))
    left = Counter(line for _, line in mine[count:])
    extra = []
    for time, line in theirs[count:]:
        left[line] -= 1
        if left[line] < 0:
            extra.append((time, line))
    return b"".join(line for _, line in [*mine[:count], *merge(mine[count:], extra)])


def _lines(data: bytes) -> list[bytes]:
    return [line + b"\n" for line in data.split(b"\n") if line]


def _with_times(lines: list[bytes]) -> list[tuple[str, bytes]]:
    """Returns each line behind its time; a line without one, or with an older one, stays with the line before."""
    last, result = "", []
    for line in lines:
        last = max(last, _time(line))
        result.append((last, line))
    return result


def _time(line: bytes) -> str:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return ""
    found = (value.get(key) for key in _TIME_KEYS) if isinstance(value, dict) else ()
    return next((time for time in found if isinstance(time, str)), "")


class Piece(NamedTuple):
    """An entry and its bytes without blank lines around them; LF line breaks."""

    entry: Entry
    raw: str

    @property
    def heading(self) -> tuple[object, ...]:
        """Returns what tells the entry from others."""
        return (self.entry.at, self.entry.kind, self.entry.name)

    @property
    def safe(self) -> str:
        """Returns the entry so that nothing in it can hide what follows it."""
        return f"{heading_line(self.entry)}\n\n{escape(self.entry.text, keep_fences=False)}".rstrip()


def split_entries(text: str, section: Section) -> tuple[str, list[Piece]]:
    """Returns what is above a section's first entry, and its entries in file order."""
    heading = f"## {section.value}\n"
    whole = heading + text
    placed = place_entries(Body(Source(whole, "")), section)
    if not placed:
        return text, []
    pieces = [Piece(one.entry, trimmed(whole[one.start : one.text_start] + one.raw)) for one in placed]
    return whole[len(heading) : placed[0].start], pieces


def merge_entries(
    base: Sequence[Piece], frame: Sequence[Piece], guest: Sequence[Piece], section: Section
) -> list[Piece]:
    """Returns the entries of both sides; an entry that one side rewrote and the other left stands as rewritten."""
    known = frozenset(piece.entry for piece in base)
    waiting: dict[tuple[object, ...], deque[Piece]] = {}
    for piece in _without(frame, guest):
        waiting.setdefault((*piece.heading, piece.entry in known), deque()).append(piece)
    places: dict[Piece, deque[int]] = {}
    for place, piece in enumerate(frame):
        places.setdefault(piece, deque()).append(place)
    result, extra = list(frame), []
    for piece in _without(guest, frame):
        is_old = piece.entry in known
        others = waiting.get((*piece.heading, not is_old))  # the same entry, which just one side rewrote
        if not others:
            extra.append(piece)
            continue
        place = places[others.popleft()].popleft()
        if not is_old:
            result[place] = piece
    return _interleaved(result, guest, extra, section)


def _without(pieces: Iterable[Piece], others: Iterable[Piece]) -> list[Piece]:
    left = Counter(piece.entry for piece in others)
    result = []
    for piece in pieces:
        if left[piece.entry]:
            left[piece.entry] -= 1
        else:
            result.append(piece)
    return result


def _interleaved(
    frame: list[Piece], guest: Sequence[Piece], extra: list[Piece], section: Section
) -> list[Piece]:
    """Returns the frame's entries with the guest's extra ones, each behind the common entry that it follows there."""
    places: dict[Entry, list[int]] = {}
    for place, piece in enumerate(frame):
        places.setdefault(piece.entry, []).append(place)
    waiting = Counter(id(piece) for piece in extra)
    followers: dict[int, list[Piece]] = {}
    anchors, last = {-1}, -1
    for piece in guest:
        if waiting[id(piece)]:
            followers.setdefault(last, []).append(piece)
        elif places.get(piece.entry):
            last = max(last, places[piece.entry].pop(0))
            anchors.add(last)
    ordered = sorted(anchors)
    result: list[Piece] = []
    for anchor, end in zip(ordered, [*ordered[1:], len(frame)], strict=True):
        result += frame[anchor : anchor + 1] if anchor >= 0 else []
        result += _by_time(frame[anchor + 1 : end], followers.get(anchor, []), section)
    return result


def _by_time(one: list[Piece], other: list[Piece], section: Section) -> list[Piece]:
    """Returns two runs of entries as one; each keeps its own order."""
    if not one or not other:
        return one or other
    merged: list[list[Piece]] = []
    for mine, theirs in zip(_ranked(one, section), _ranked(other, section), strict=True):
        groups = list(mine), list(theirs)
        while groups[0] and groups[1]:
            merged.append(groups[_key(groups[1][0]) < _key(groups[0][0])].pop(0))
        merged += groups[0] or groups[1]
    return [piece for group in merged for piece in group]


def _key(group: list[Piece]) -> tuple[object, ...]:
    first = group[0].entry
    return (first.at, first.kind.value, first.name, first.text)


def _ranked(pieces: list[Piece], section: Section) -> tuple[list[list[Piece]], ...]:
    """Returns answers to what is above, then questions with their answers, then open questions, as groups."""
    if section is not Section.QUESTIONS:
        return [], [[piece] for piece in pieces], []
    answers: list[list[Piece]] = []
    asked: list[list[Piece]] = []
    was_answer = True
    for piece in pieces:
        is_answer = piece.entry.kind is ActorKind.HUMAN
        if is_answer and not asked:
            answers.append([piece])
        elif was_answer and not is_answer:
            asked.append([piece])
        else:
            asked[-1].append(piece)
        was_answer = is_answer
    is_open = bool(asked) and asked[-1][-1].entry.kind is not ActorKind.HUMAN
    return answers, asked[:-1] if is_open else asked, asked[-1:] if is_open else []
