"""How many lines versions of a text are apart, and which of many are the nearest, without comparing them all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from heapq import heapify, heappop, heappush
from itertools import takewhile


def line_distance(one: bytes, other: bytes) -> int:
    """Returns how many lines have to be removed or added to come from one text to the other."""
    first, second = one.splitlines(), other.splitlines()
    head = _count_equal(first, second)
    first, second = first[head:], second[head:]
    tail = _count_equal(first[::-1], second[::-1])
    first, second = first[: len(first) - tail], second[: len(second) - tail]
    matcher = SequenceMatcher(None, first, second, autojunk=False)
    return len(first) + len(second) - 2 * sum(block.size for block in matcher.get_matching_blocks())


def changed_places(one: bytes, other: bytes) -> int:
    """Returns in how many places lines have to be removed, added or replaced to come from one text to the other."""
    matcher = SequenceMatcher(None, one.splitlines(), other.splitlines(), autojunk=False)
    return sum(1 for kind, *_ in matcher.get_opcodes() if kind != "equal")


def nearest_first(versions: Iterable[bytes], text: bytes) -> Iterator[tuple[int, bytes]]:
    """Yields each version behind its distance from the text, the nearest first; equally near ones as they were given.

    Their lines are counted, and only those compared that may be next by that: a comparison of thousands of lines takes
    a thousand times as long.
    """
    known, lines = tuple(versions), text.splitlines()
    counts = Counter(lines)
    waiting = [
        (_least_distance(version.splitlines(), lines, counts), place, False)
        for place, version in enumerate(known)
    ]
    heapify(waiting)
    while waiting:
        distance, place, is_exact = heappop(waiting)
        if is_exact:
            yield distance, known[place]
        else:
            heappush(waiting, (line_distance(known[place], text), place, True))


def _least_distance(version: Sequence[bytes], lines: Sequence[bytes], counts: Counter[bytes]) -> int:
    """Returns how many lines a version is apart at least: where all that both have stands in the same order."""
    shared = sum(min(count, counts[line]) for line, count in Counter(version).items())
    return len(version) + len(lines) - 2 * shared


def _count_equal(one: Sequence[bytes], other: Sequence[bytes]) -> int:
    """Returns how many lines are the same from the beginning."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
