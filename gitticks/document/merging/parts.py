"""A text as a row of parts that are known by a key and merged one by one: keys of YAML, sections, entries.

The result keeps the order of the frame, one of the two sides; what only the other one, the guest, has comes behind
the part that it follows there.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import TypeVar

K = TypeVar("K", bound=Hashable)


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
