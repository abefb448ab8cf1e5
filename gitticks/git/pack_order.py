"""Puts objects into the order in which packs hold them.

A packed object is often stored as the difference to one near it, that one again to another, fifty deep. libgit2 keeps
what it has unpacked, but only 16 MB of it: read in another order, each object of a large pack costs its whole chain.
Only speed hangs on this, so a pack that cannot be understood is passed over.
"""

from __future__ import annotations

import contextlib
import struct
from collections.abc import Sequence
from mmap import ACCESS_READ, mmap
from pathlib import Path

_MAGIC = b"\xfftOc\x00\x00\x00\x02"
_FANOUT = struct.Struct(">256I")
_NAMES = len(_MAGIC) + _FANOUT.size
_ID_BYTES = 20
_CHECKSUM_BYTES = 4
_OFFSET_BYTES = 4
_IS_LARGE = 1 << 31
_PLACES_OF_A_PACK = 1 << 48


def pack_places(objects_dir: Path, object_ids: Sequence[str]) -> list[int]:
    """Returns for each id a number that grows along the packs; 0 for what lies in none of this folder's packs."""
    places = [0] * len(object_ids)
    for number, index in enumerate(sorted(objects_dir.glob("pack/*.idx")), start=1):
        with contextlib.suppress(OSError, ValueError, IndexError, struct.error):
            _fill(places, object_ids, index, number * _PLACES_OF_A_PACK)
    return places


def _fill(places: list[int], object_ids: Sequence[str], index: Path, base: int) -> None:
    with index.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as content:
        if content[: len(_MAGIC)] != _MAGIC:
            return
        ends = _FANOUT.unpack_from(content, len(_MAGIC))
        for position, object_id in enumerate(object_ids):
            if not places[position]:
                row = _row(content, ends, bytes.fromhex(object_id))
                if row is not None:
                    places[position] = base + _offset(content, ends[-1], row)


def offset_in(index: mmap, object_id: bytes) -> int | None:
    """Returns where in its pack an object begins, by the pack's index; None if it is not there.

    Raises:
        ValueError: the index is of another version.
        struct.error: it is cut off.
    """
    if index[: len(_MAGIC)] != _MAGIC:
        raise ValueError("this is no index of version 2")
    ends = _FANOUT.unpack_from(index, len(_MAGIC))
    row = _row(index, ends, object_id)
    return None if row is None else _offset(index, ends[-1], row)


def _row(content: mmap, ends: Sequence[int], wanted: bytes) -> int | None:
    """Returns which of the sorted ids is the wanted one."""
    first = wanted[0]
    low, high = ends[first - 1] if first else 0, ends[first]
    while low < high:
        middle = (low + high) // 2
        start = _NAMES + middle * _ID_BYTES
        found = content[start : start + _ID_BYTES]
        if found == wanted:
            return middle
        if found < wanted:
            low = middle + 1
        else:
            high = middle
    return None


def _offset(content: mmap, count: int, row: int) -> int:
    """Returns where in the pack the object begins; offsets from 2 GiB up stand in a table of their own."""
    offsets = _NAMES + count * (_ID_BYTES + _CHECKSUM_BYTES)
    start = offsets + row * _OFFSET_BYTES
    offset = int.from_bytes(content[start : start + _OFFSET_BYTES], "big")
    if offset < _IS_LARGE:
        return offset
    large = offsets + count * _OFFSET_BYTES + (offset - _IS_LARGE) * 8
    return int.from_bytes(content[large : large + 8], "big")
