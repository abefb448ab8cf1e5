"""Merges files of one JSON object a line: every line of both sides once, in the order of their times."""

from __future__ import annotations

import json
from collections import Counter
from heapq import merge
from itertools import takewhile
from typing import Final

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
