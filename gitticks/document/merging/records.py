"""Merges files of one JSON object a line: every line of both sides once, in the order of their times."""

from __future__ import annotations

import json
from collections import Counter
from os.path import commonpath
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
    one, other = sorted((one, other))
    head = _common_head(one, other)
    mine, theirs = _lines(one[len(head) :]), _lines(other[len(head) :])
    left = Counter(mine)
    extra = []
    for line in theirs:
        left[line] -= 1
        if left[line] < 0:
            extra.append(line)
    return head + b"".join(_by_time(mine, extra))


def _common_head(one: bytes, other: bytes) -> bytes:

    shared = commonpath([one, other])
    return shared[: shared.rfind(b"\n") + 1]


def _lines(data: bytes) -> list[bytes]:
    return [line + b"\n" for line in data.split(b"\n") if line]


def _by_time(mine: list[bytes], theirs: list[bytes]) -> list[bytes]:
    """Returns two runs as one; each keeps its own order, and at one time the smaller line comes first."""
    from heapq import merge

    return [line for _, line in merge(_with_times(mine), _with_times(theirs))]


def _with_times(lines: list[bytes]) -> list[tuple[str, bytes]]:
    """Returns each line behind its time; a line without one stays with the line before."""
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
