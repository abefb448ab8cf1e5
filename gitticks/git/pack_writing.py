"""Puts many new objects into one pack, as git does with what it fetches: a file each costs most of a large import.

The pack holds every object that was stored, whether or not it lay here already, so nothing that it is for rests on
another's unsynced file. Nobody sees any of it before all of it is on disk: git knows a pack by its index, and that
is put in place last.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import struct
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

from gitticks.git.disk import sync_files

if TYPE_CHECKING:
    from pathlib import Path

_LEVEL = 1
_ASIDE = "tmp_"
"""Names that begin so are no packs to git, and `git prune` clears them away."""
_KINDS = {"commit": 1, "tree": 2, "blob": 3}
_PACK_HEADER = struct.Struct(">4sII")
_INDEX_HEADER = b"\xfftOc\x00\x00\x00\x02"
_LARGE_OFFSET = 1 << 31
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
_WRITTEN_AT_ONCE = 1 << 20


class NewPack:
    """Objects that are to become a pack; they are kept in memory, compressed, until it is written."""

    def __init__(self) -> None:
        self._records: dict[str, bytes] = {}

    def add(self, kind: str, content: bytes) -> str:
        """Takes an object and returns its id; one that was taken before is kept once."""
        whole = b"%s %d\0%s" % (kind.encode(), len(content), content)
        object_id = hashlib.sha1(whole, usedforsecurity=False).hexdigest()
        if object_id not in self._records:
            self._records[object_id] = _header(kind, len(content)) + zlib.compress(content, _LEVEL)
        return object_id

    def write(self, folder: Path) -> None:
        """Writes the pack into the database `folder`; it is on disk once this returns.

        Raises:
            OSError: it cannot be written; nothing is left of it.
        """
        checksum = hashlib.sha1(usedforsecurity=False)
        pack = [_PACK_HEADER.pack(b"PACK", 2, len(self._records)), *self._records.values()]
        for part in pack:
            checksum.update(part)
        packs = folder / "pack"
        packs.mkdir(exist_ok=True)
        name = f"{packs}/pack-{checksum.hexdigest()}"
        ready = [f"{packs}/{_ASIDE}{what}_{os.getpid()}_{time.time_ns()}" for what in ("pack", "idx")]
        try:
            _write(ready[0], [*pack, checksum.digest()])
            _write(ready[1], [_index(self._records, checksum.digest())])
            sync_files(ready, [str(packs)])
            os.rename(ready[0], f"{name}.pack")  # noqa: PTH104 - strings all the way
            os.rename(ready[1], f"{name}.idx")  # noqa: PTH104 - strings all the way
        except BaseException:
            _remove(*ready)
            if not os.path.exists(f"{name}.idx"):  # noqa: PTH110 - strings all the way
                _remove(f"{name}.pack")
            raise
        sync_files([], [str(packs), str(folder)])


def _header(kind: str, size: int) -> bytes:
    """Returns kind and size of an object as a pack has them: four bits of the size in the first byte, then seven."""
    size, first = size >> 4, _KINDS[kind] << 4 | size & 0x0F
    header = bytearray()
    while size:
        header.append(first | 0x80)
        size, first = size >> 7, size & 0x7F
    header.append(first)
    return bytes(header)


def _index(records: dict[str, bytes], pack_checksum: bytes) -> bytes:
    """Returns the index of version 2: a table by first byte, the ids in order, checksums, offsets."""
    places = dict(
        zip(records, accumulate(map(len, records.values()), initial=_PACK_HEADER.size), strict=False)
    )
    ids = sorted(records)
    by_first_byte = [0] * 256
    for object_id in ids:
        by_first_byte[int(object_id[:2], 16)] += 1
    parts = [
        _INDEX_HEADER,
        _numbers(list(accumulate(by_first_byte))),
        bytes.fromhex("".join(ids)),
        _numbers([zlib.crc32(records[one]) for one in ids]),
        *_offsets([places[one] for one in ids]),
        pack_checksum,
    ]
    index = b"".join(parts)
    return index + hashlib.sha1(index, usedforsecurity=False).digest()


def _offsets(places: Sequence[int]) -> Iterator[bytes]:
    """Yields the table of offsets, and that of those too large for it, to which it then points."""
    large = [place for place in places if place >= _LARGE_OFFSET]
    rows = {place: _LARGE_OFFSET | row for row, place in enumerate(large)}
    yield _numbers([rows.get(place, place) for place in places])
    yield struct.pack(f">{len(large)}Q", *large)


def _numbers(numbers: Sequence[int]) -> bytes:
    return struct.pack(f">{len(numbers)}I", *numbers)


def _write(name: str, parts: Iterable[bytes]) -> None:
    with open(os.open(name, _NEW_FILE, 0o444), "wb", buffering=_WRITTEN_AT_ONCE) as file:  # noqa: PTH123
        file.writelines(parts)


def _remove(*files: str) -> None:
    for file in files:
        with contextlib.suppress(OSError):
            os.unlink(file)  # noqa: PTH108 - strings all the way
