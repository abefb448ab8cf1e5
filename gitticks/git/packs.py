"""Reads a few packed objects without libgit2, which takes longer to load than most commands take to work.

Only what nearly every pack is made of is understood: an index of version 2, and objects that are whole or stored as
the difference to another one of the same pack. Of anything else nothing is said here, and libgit2 is asked.
"""

from __future__ import annotations

import contextlib
import struct
import zlib
from hashlib import sha1
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import NamedTuple

from gitticks.git.loose_reading import MOST_BYTES
from gitticks.git.pack_order import offset_in

_KINDS = {1: "commit", 2: "tree", 3: "blob", 4: "tag"}
_BY_OFFSET, _BY_ID = 6, 7
_ID_BYTES = 20
_LONGEST_CHAIN = 4096
_CONTINUES, _SEVEN_BITS, _KIND_BITS, _FOUR_BITS = 0x80, 0x7F, 0x07, 0x0F
_LARGEST_COPY = 0x10000
_SLACK_BYTES = 1024
_ODD = (OSError, ValueError, IndexError, KeyError, OverflowError, struct.error, zlib.error)
"""What reading may raise where the bytes are no pack, or are cut off."""


class _Pack(NamedTuple):
    """One pack and its index, both open."""

    names: mmap
    content: mmap


class Packs:
    """The packs of one database, opened when the first object is asked for."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder / "pack"
        self._packs: list[_Pack] | None = None

    def read(self, object_id: str) -> tuple[str, bytes] | None:
        """Returns kind and content of an object; None if it is in none of the packs, or in one that is odd."""
        try:
            return self._read(object_id)
        except _ODD:
            return None

    def has(self, object_id: str) -> bool:
        """True if the object is in one of the packs; False if it is not, or if they are odd."""
        try:
            return self._find(object_id) is not None
        except _ODD:
            return False

    def _read(self, object_id: str) -> tuple[str, bytes] | None:
        place = self._find(object_id)
        if place is None:
            return None
        kind, content = _whole(*place)
        found = sha1(b"%s %d\0%s" % (kind.encode(), len(content), content), usedforsecurity=False)
        return (kind, content) if found.hexdigest() == object_id else None

    def _find(self, object_id: str) -> tuple[_Pack, int] | None:
        if self._packs is None:
            self._packs = [_open(index) for index in self._folder.glob("*.idx")]
        wanted = bytes.fromhex(object_id)
        for pack in self._packs:
            offset = offset_in(pack.names, wanted)
            if offset is not None:
                return pack, offset
        return None


def _open(index: Path) -> _Pack:
    with contextlib.ExitStack() as opened:
        files = [opened.enter_context(path.open("rb")) for path in (index, index.with_suffix(".pack"))]
        return _Pack(*(mmap(file.fileno(), 0, access=ACCESS_READ) for file in files))


def _whole(pack: _Pack, offset: int) -> tuple[str, bytes]:
    """Returns an object after all differences on the way to it were applied."""
    differences: list[bytes] = []
    for _ in range(_LONGEST_CHAIN):
        kind, base, content = _stored(pack, offset)
        if base is None:
            for difference in reversed(differences):
                content = apply_difference(content, difference)
            return _KINDS[kind], content
        differences.append(content)
        offset = base
    raise ValueError("the objects of a pack rest on one another in a circle")


def _stored(pack: _Pack, offset: int) -> tuple[int, int | None, bytes]:
    """Returns the kind of what is stored at an offset, the offset of what it rests on, and its bytes."""
    first = pack.content[offset]
    kind, size, shift, place = (first >> 4) & _KIND_BITS, first & _FOUR_BITS, 4, offset + 1
    while pack.content[place - 1] & _CONTINUES:
        size |= (pack.content[place] & _SEVEN_BITS) << shift
        shift, place = shift + 7, place + 1
    base = None
    if kind == _BY_OFFSET:
        back, place = _distance(pack.content, place)
        base = offset - back
    elif kind == _BY_ID:
        base = offset_in(pack.names, pack.content[place : place + _ID_BYTES])
        place += _ID_BYTES
        if base is None:
            raise ValueError("an object rests on one of another pack")
    return kind, base, _unpacked(pack.content, place, size)


def _distance(content: mmap, place: int) -> tuple[int, int]:
    """Returns how far back the base begins, and where the number ends; each further byte stands for one more range."""
    back = content[place] & _SEVEN_BITS
    while content[place] & _CONTINUES:
        place += 1
        back = ((back + 1) << 7) | (content[place] & _SEVEN_BITS)
    return back, place + 1


def _unpacked(content: mmap, place: int, size: int) -> bytes:
    """Returns the bytes packed at a place; only as much of the pack is looked at as they can take."""
    if size > MOST_BYTES:
        raise ValueError("it is too large")
    unpacking = zlib.decompressobj()
    whole = unpacking.decompress(content[place : place + size + (size >> 7) + _SLACK_BYTES], size + 1)
    if len(whole) != size or not unpacking.eof:
        raise ValueError("a packed object is cut off")
    return whole


def apply_difference(base: bytes, difference: bytes) -> bytes:
    """Returns what git's difference makes of `base`.

    Raises:
        ValueError: it was not made for this base.
        IndexError: it is cut off.
    """
    base_size, place = _number(difference, 0)
    size, place = _number(difference, place)
    if base_size != len(base) or size > MOST_BYTES:
        raise ValueError("a difference was made for another base, or makes something too large")
    parts: list[bytes] = []
    while place < len(difference):
        order, place = difference[place], place + 1
        if order & _CONTINUES:
            start, place = _packed_number(difference, place, order, 4)
            length, place = _packed_number(difference, place, order >> 4, 3)
            parts.append(base[start : start + (length or _LARGEST_COPY)])
        elif order:
            parts.append(difference[place : place + order])
            place += order
        else:
            raise ValueError("a difference holds what git has not defined")
    made = b"".join(parts)
    if len(made) != size:
        raise ValueError("a difference makes something else than it says")
    return made


def _number(content: bytes, place: int) -> tuple[int, int]:
    number = shift = 0
    while content[place] & _CONTINUES:
        number |= (content[place] & _SEVEN_BITS) << shift
        shift, place = shift + 7, place + 1
    return number | content[place] << shift, place + 1


def _packed_number(content: bytes, place: int, present: int, count: int) -> tuple[int, int]:
    """Returns a number of whose bytes, the lowest first, only those are there whose bit in `present` is set."""
    number = 0
    for position in range(count):
        if present & (1 << position):
            number |= content[place] << (8 * position)
            place += 1
    return number, place
