"""Three-way merge of a sequence of keyed parts: YAML keys, sections, entries.

The result keeps the order of the frame, one of the two sides; what only the other one, the guest, has comes behind
the part that it follows there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile
from typing import TypeVar

from gitticks.document.texts import line_starts

K = TypeVar("K", bound=Hashable)

_MOST_PAIRS = 2_000_000
"""Lines that occur often are compared with one another again and again; past so many pairs nobody waits for it."""
_MOST_STEPS = 20_000_000
"""For each run of lines that stayed together all lines are looked at; past so many looks nobody waits either."""
Places = tuple[int, int, int]


def joined_order(frame: Sequence[K], guest: Sequence[K]) -> list[K]:
    """Returns every key of both once, in the order of the frame."""
    known = set(frame)
    followers: dict[K | None, list[K]] = {}
    last: K | None = None
    for key in guest:
        if key in known:
            last = key
        else:
            followers.setdefault(last, []).append(key)
    result = list(followers.get(None, ()))
    for key in frame:
        result.append(key)
        result += followers.get(key, ())
    return result


def numbered(names: Sequence[K]) -> list[tuple[K, int]]:
    """Returns the names as keys that are unique: each with how often it occurred before."""
    seen: dict[K, int] = {}
    keys = []
    for name in names:
        keys.append((name, seen.get(name, 0)))
        seen[name] = seen.get(name, 0) + 1
    return keys


@dataclass(frozen=True, slots=True)
class Stretch:
    """Some lines of the result; `clash` holds those of the other side where both changed the same, else it is None."""

    lines: tuple[str, ...]
    clash: tuple[str, ...] | None = None


def merge_text(base: str, one: str, other: str) -> str | None:
    """Returns the text with the changes of both sides; None if both changed the same lines."""
    if other in (one, base):
        return one
    if one == base:
        return other
    stretches = merge_lines(_lines(base), _lines(one), _lines(other))
    if any(stretch.clash is not None for stretch in stretches):
        return None
    return "".join(line for stretch in stretches for line in stretch.lines)


def union_of_lines(base: str, one: str, other: str) -> str:
    """Returns the text with the changes of both sides, and where both changed the same, the lines of both."""
    if one in (base, other):
        return other
    if other == base:
        return one
    parts: list[str] = []
    for stretch in merge_lines(_lines(base), _lines(one), _lines(other)):
        parts += stretch.lines
        parts += [line for line in stretch.clash or () if line not in stretch.lines]
    whole = (line if line.endswith(("\n", "\r")) else f"{line}\n" for line in parts[:-1])
    return "".join([*whole, *parts[-1:]])


def merge_lines(base: Sequence[str], one: Sequence[str], other: Sequence[str]) -> list[Stretch]:
    """Returns the result in stretches, in order."""
    result: list[Stretch] = []
    start = (0, 0, 0)
    for anchor, length in _anchors(base, one, other):
        result += _between(base, one, other, start, anchor)
        result.append(Stretch(tuple(base[anchor[0] : anchor[0] + length])))
        start = (anchor[0] + length, anchor[1] + length, anchor[2] + length)
    result += _between(base, one, other, start, (len(base), len(one), len(other)))
    return [stretch for stretch in result if stretch.lines or stretch.clash]


def _between(
    base: Sequence[str], one: Sequence[str], other: Sequence[str], start: Places, end: Places
) -> Iterator[Stretch]:
    """Yields what becomes of the lines between two anchors, each given by its places in the three versions."""
    old, mine, theirs = (
        tuple(lines[first:last]) for lines, first, last in zip((base, one, other), start, end, strict=True)
    )
    if mine in (old, theirs):
        yield Stretch(theirs)
    elif theirs == old:
        yield Stretch(mine)
    else:
        yield Stretch(mine, theirs)


def _anchors(base: Sequence[str], one: Sequence[str], other: Sequence[str]) -> Iterator[tuple[Places, int]]:
    """Yields the runs of lines that all three have, as their places and their length."""
    mine, theirs = _kept(base, one), _kept(base, other)
    place = 0
    while place < len(base):
        length = 0
        while (
            place + length < len(base)
            and mine[place + length] == mine[place] + length >= 0
            and theirs[place + length] == theirs[place] + length >= 0
            and mine[place] >= 0
            and theirs[place] >= 0
        ):
            length += 1
        if length:
            yield (place, mine[place], theirs[place]), length
        place += max(1, length)


def _kept(base: Sequence[str], side: Sequence[str]) -> list[int]:
    """Returns for each line of the base where the side has it, -1 where it has not."""
    found = [-1] * len(base)
    head = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(base, side, strict=False)))
    rest = min(len(base), len(side)) - head
    ends = zip(reversed(base[-rest:] if rest else ()), reversed(side[-rest:] if rest else ()), strict=False)
    tail = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], ends))
    found[:head] = range(head)
    if tail:
        found[len(base) - tail :] = range(len(side) - tail, len(side))
    old, new = base[head : len(base) - tail], side[head : len(side) - tail]
    for first, second, length in _matches(old, new):
        found[head + first : head + first + length] = range(head + second, head + second + length)
    return found


def _matches(old: Sequence[str], new: Sequence[str]) -> list[tuple[int, int, int]]:
    counts, neighbours = Counter(new), set(pairwise(new))
    runs = 1 + sum(pair[0] in counts and pair not in neighbours for pair in pairwise(old))
    if sum(counts[line] for line in old) > _MOST_PAIRS or runs * len(old) > _MOST_STEPS:
        return []
    from difflib import SequenceMatcher

    blocks = SequenceMatcher(None, old, new, autojunk=False).get_matching_blocks()
    return [(block.a, block.b, block.size) for block in blocks]


def _lines(text: str) -> list[str]:
    starts = line_starts(text)
    return [text[start:end] for start, end in pairwise(starts)]
