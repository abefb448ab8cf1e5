"""Three-way text merges as in git, and the line distance between versions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from difflib import SequenceMatcher
from heapq import heapify, heappop, heappush
from itertools import takewhile
from pathlib import Path

Merge = Callable[[str, bytes, bytes, bytes], bytes | None]
"""Merges the file at a path from base, ours and theirs; None if they conflict."""

_UNION_SUFFIX = ".jsonl"
_KEY = re.compile(rb"\s*[\w.-]+:(?=\s|\Z)")
"""How a line begins that gives something a value."""


def merge_text(path: str, base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
    """Returns the merged text; None if the same lines were changed on both sides, or if it is no text.

    Append-only logs (`*.jsonl`) take the lines of both sides, as the branch's attributes say.
    """
    import tempfile

    from gitticks.git.process import run_git

    with tempfile.TemporaryDirectory(prefix="gitticks-") as folder:
        files = [Path(folder, name) for name in ("ours", "base", "theirs")]
        for file, content in zip(files, (ours, base, theirs), strict=True):
            file.write_bytes(content)
        union = ["--union"] if path.endswith(_UNION_SUFFIX) else []
        arguments = ["merge-file", "--stdout", "--quiet", *union, *map(str, files)]
        merged = run_git(arguments, directory=Path(folder), check=False)
    return merged.stdout if merged.code == 0 else None


def line_distance(one: bytes, other: bytes) -> int:
    """Returns how many lines have to be removed or added, or their values changed, to come from one text to the other.

    A new value counts once: what somebody edits is nearer to the text with the old value than to one without the line.
    """
    first, second = one.splitlines(), other.splitlines()
    head = _count_equal(first, second)
    first, second = first[head:], second[head:]
    tail = _count_equal(first[::-1], second[::-1])
    first, second = first[: len(first) - tail], second[: len(second) - tail]
    blocks = SequenceMatcher(None, first, second, autojunk=False).get_opcodes()
    return sum(
        _count_changes(first[start:end], second[other_start:other_end])
        for kind, start, end, other_start, other_end in blocks
        if kind != "equal"
    )


def changed_places(one: bytes, other: bytes) -> int:
    """Returns in how many places lines have to be removed, added or replaced to come from one text to the other."""
    matcher = SequenceMatcher(None, one.splitlines(), other.splitlines(), autojunk=False)
    return sum(1 for kind, *_ in matcher.get_opcodes() if kind != "equal")


def nearest_first(versions: Iterable[bytes], text: bytes) -> Iterator[tuple[int, bytes]]:
    """Yields each version behind its distance from the text, the nearest first; equally near ones as they were given.

    Their lines are counted, and only those compared that may be next by that: a comparison of thousands of lines takes
    a thousand times as long.
    """
    known, counts = tuple(versions), Counter(text.splitlines())
    waiting = [
        (_least_distance(version.splitlines(), counts), place, False) for place, version in enumerate(known)
    ]
    heapify(waiting)
    while waiting:
        distance, place, is_exact = heappop(waiting)
        if is_exact:
            yield distance, known[place]
        else:
            heappush(waiting, (line_distance(known[place], text), place, True))


def _least_distance(version: Sequence[bytes], counts: Counter[bytes]) -> int:
    """Returns how many lines a version is apart at least: where all that both have is in the same order."""
    own = Counter(version)
    return _count_changes((own - counts).elements(), (counts - own).elements())


def _count_changes(removed: Iterable[bytes], added: Iterable[bytes]) -> int:
    """Returns how many lines change where some are replaced by others; a key that is among both changes its value."""
    gone, new = tuple(removed), tuple(added)
    return len(gone) + len(new) - (_keys(gone) & _keys(new)).total()


def _keys(lines: Iterable[bytes]) -> Counter[bytes]:
    return Counter(found[0] for line in lines if (found := _KEY.match(line)) is not None)


def _count_equal(one: Sequence[bytes], other: Sequence[bytes]) -> int:
    """Returns how many lines are the same from the beginning."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
