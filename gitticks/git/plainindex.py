"""The bytes of an index file, read and changed at single entries.

Git reads and writes all of an index to change one entry, in a process of its own. A board of ten thousand files would
pay for that with every commit. So the plain form of the file (version 2, whole, with the extensions that git writes by
default) is changed here in place, as `gitformat-index` describes it; every other form is left to git.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO, Self

_HEADER = struct.Struct(">4sII")
_ENTRY = struct.Struct(">10I20sH")
_EXTENSION = struct.Struct(">4sI")
_TIME = struct.Struct(">I")
_MODIFIED_AT, _SIZE_AT = 8, 36
_TOLD_APART_BY = (2, 3, 5, 9)
"""The words of an entry with the time of the last change, the number of the file and its size."""
_CHECKSUM = 20
_WITHOUT_CHECKSUM = b"\0" * _CHECKSUM
_SIGNATURE, _VERSION = b"DIRC", 2
_TREES = b"TREE"
_UNDERSTOOD = frozenset({_TREES, b"REUC"})
_LONGEST_NAME = 0xFFF
_SPECIAL = 0xC0
"""The bits of an entry by which a person tells git not to look at its file, or that more flags follow."""
_WORD = 0xFFFFFFFF
_VALID_TREE = re.compile(rb"\d+ (\d+)\n.{20}", re.DOTALL)
_MODES = frozenset(struct.pack(">I", mode) for mode in (0o100644, 0o100755, 0o120000, 0o160000))

RESOLVED, BASE, OURS, THEIRS = range(4)
"""The stages of an entry; a path with others than the first is in conflict."""


@dataclass(frozen=True, slots=True)
class IndexEntry:
    """One entry of the index.

    Attributes:
        path: from the top of the checkout.
        object_id: the blob's.
        stage: 0, or the side of a conflict.
        mode: as git writes it, in octal digits.
        status: of the file that holds exactly this blob; None leaves it to git to compare the two.
    """

    path: str
    object_id: str
    stage: int = RESOLVED
    mode: str = "100644"
    status: os.stat_result | None = field(default=None, compare=False)


@dataclass(slots=True)
class PlainIndex:
    """An index file in memory.

    Attributes:
        data: its bytes, without the checksum at their end.
        entries_end: where its entries end and its extensions begin.
        has_checksum: git may be told to leave it out.
    """

    data: bytearray
    entries_end: int
    has_checksum: bool

    @classmethod
    def parse(cls, data: bytes, entries_end: int | None = None) -> Self | None:
        """Returns the index, or None if it has a form that is left to git.

        Args:
            data: the whole file.
            entries_end: where the entries end, if that is known; a walk over all of them finds out.
        """
        if len(data) < _HEADER.size + _CHECKSUM or data[:8] != _HEADER.pack(_SIGNATURE, _VERSION, 0)[:8]:
            return None
        content, checksum = bytearray(memoryview(data)[:-_CHECKSUM]), data[-_CHECKSUM:]
        end = _walk(content) if entries_end is None else entries_end
        if end is None or end < _HEADER.size or not _is_understood(content, end):
            return None
        return cls(content, end, checksum != _WITHOUT_CHECKSUM)

    def write(self, file: BinaryIO) -> None:
        """Writes the bytes of the file."""
        file.write(self.data)
        file.write(
            hashlib.sha1(self.data, usedforsecurity=False).digest()
            if self.has_checksum
            else _WITHOUT_CHECKSUM
        )

    def entries(self, path: str) -> dict[int, IndexEntry]:
        """Returns the entries of a path by stage; empty if the index does not know it."""
        found = {}
        place = self._first(os.fsencode(path), is_whole=True)
        while (
            place is not None and place < self.entries_end and _name_at(self.data, place) == os.fsencode(path)
        ):
            *status, object_id, flags = _ENTRY.unpack_from(self.data, place)
            stage = flags >> 12 & 3
            found[stage] = IndexEntry(path, object_id.hex(), stage, f"{status[6]:o}")
            place = _after(self.data, place)
        return found

    def replace(self, changes: Mapping[str, Sequence[IndexEntry]]) -> bool:
        """Makes these entries all that the index says of each path; False if only git can, and then it is spoilt."""
        for path, entries in changes.items():
            if not self._replace(os.fsencode(path), sorted(entries, key=lambda entry: entry.stage)):
                return False
        self._forget_trees({part for path in changes for part in os.fsencode(path).split(b"/")[:-1]})
        return True

    def distrust(self, second: int, work_tree: Path) -> None:
        """Has git read the files that were written once more since their entries were made in that second."""
        wanted = _TIME.pack(second & _WORD)
        at = self.data.find(wanted, _HEADER.size, self.entries_end)
        while at >= 0:
            place = at - _MODIFIED_AT
            if _is_entry(self.data, place) and not self._is_as_noted(place, work_tree):
                self.data[place + _SIZE_AT : place + _SIZE_AT + _TIME.size] = bytes(_TIME.size)
            at = self.data.find(wanted, at + 1, self.entries_end)

    def _is_as_noted(self, place: int, work_tree: Path) -> bool:
        """True if size and times, to the last digit, are those of the file; where there is none git sees that."""
        with contextlib.suppress(OSError):
            status = os.lstat(os.path.join(os.fsencode(work_tree), _name_at(self.data, place)))  # noqa: PTH118 - bytes
            noted = _ENTRY.unpack_from(self.data, place)
            present = _status_words(IndexEntry("", "", status=status))
            return all(noted[word] == present[word] for word in _TOLD_APART_BY)
        return True

    def _replace(self, name: bytes, entries: list[IndexEntry]) -> bool:
        begin = self._first(name, is_whole=True)
        end, removed = begin, 0
        while end is not None and end < self.entries_end and _name_at(self.data, end) == name:
            end, removed = _after(self.data, end), removed + 1
        if begin is None or end is None:
            begin = end = self._gap(name)
            if begin is None or end is None:
                return False
        new = b"".join(_render(name, entry) for entry in entries)
        self.data[begin:end] = new
        self.entries_end += len(new) - (end - begin)
        count = _HEADER.unpack_from(self.data)[2] + len(entries) - removed
        _HEADER.pack_into(self.data, 0, _SIGNATURE, _VERSION, count)
        return True

    def _gap(self, name: bytes) -> int | None:
        """Returns where an entry of this new name belongs; None where a file and a folder would share a name."""
        if len(name) >= _LONGEST_NAME or self._first(name + b"/") is not None:
            return None
        folders = [name[: at.start()] for at in re.finditer(b"/", name)]
        near = (self._first(folder + b"/") for folder in reversed(folders))
        place = next((found for found in near if found is not None), _HEADER.size)
        while place < self.entries_end:
            other = _name_at(self.data, place)
            if other in folders:
                return None
            if other > name:
                break
            place = _after(self.data, place)
        return place

    def _first(self, start: bytes, *, is_whole: bool = False) -> int | None:
        """Returns where the first entry is whose name begins with `start`, or is it; None if there is none.

        Entries are sorted, so all such entries follow one another. The bytes are searched for the name, and what was
        found must lie where a name lies in an entry: eight bytes apart, behind a mode and its own length.
        """
        wanted = start + b"\0" if is_whole else start
        at = self.data.find(wanted, _HEADER.size, self.entries_end)
        while at >= 0:
            place = at - _ENTRY.size
            if _is_entry(self.data, place) and (not is_whole or _length_at(self.data, place) == len(start)):
                return place
            at = self.data.find(wanted, at + 1, self.entries_end)
        return None

    def _forget_trees(self, folders: set[bytes]) -> None:
        """Marks the trees that git remembers for these folders, and for the top, as unknown.

        Of folders with like names all are: to forget too many costs git a look, one too few would be committed.
        """
        place = self.entries_end
        if place == len(self.data):
            return
        kind, size = _EXTENSION.unpack_from(self.data, place)
        if kind != _TREES:
            return
        trees = self.data[place + _EXTENSION.size : place + _EXTENSION.size + size]
        for folder in folders:
            _forget(trees, folder + b"\0", 0)
        _forget(trees, b"\0", 0, last=0)
        self.data[place : place + _EXTENSION.size + size] = _EXTENSION.pack(kind, len(trees)) + trees


def _forget(trees: bytearray, name: bytes, at: int, last: int | None = None) -> None:
    """Takes number of entries and object id from every remembered tree whose name ends so, up to the place `last`."""
    at = trees.find(name, at)
    while at >= 0 and (last is None or at <= last):
        found = _VALID_TREE.match(trees, at + len(name))
        if found:
            trees[found.start() : found.end()] = b"-1 %s\n" % found[1]
        at = trees.find(name, at + len(name))


def _walk(data: bytearray) -> int | None:
    """Returns where the entries end, after a look at each; None if one has flags that are left to git."""
    place, end = _HEADER.size, len(data)
    for _ in range(_HEADER.unpack_from(data)[2]):
        if place + _ENTRY.size >= end:
            return None
        if data[place + 60] & _SPECIAL or _length_at(data, place) == _LONGEST_NAME:
            return None
        place = _after(data, place)
    return place if place <= end else None


def _is_understood(data: bytearray, place: int) -> bool:
    """True if from here on there are only extensions that stay right when entries change, or are changed with them."""
    while place + _EXTENSION.size <= len(data):
        kind, size = _EXTENSION.unpack_from(data, place)
        if kind not in _UNDERSTOOD:
            return False
        place += _EXTENSION.size + size
    return place == len(data)


def _is_entry(data: bytearray, place: int) -> bool:
    """True if an entry begins at this place, as far as a look at it tells."""
    if place < _HEADER.size or (place - _HEADER.size) % 8 != 0:
        return False
    at, length = place + _ENTRY.size, _length_at(data, place)
    has_mode = bytes(data[place + 24 : place + 28]) in _MODES
    return has_mode and data.find(b"\0", at, at + length + 1) == at + length


def _length_at(data: bytearray, place: int) -> int:
    return (data[place + 60] << 8 | data[place + 61]) & _LONGEST_NAME


def _name_at(data: bytearray, place: int) -> bytes:
    at = place + _ENTRY.size
    return bytes(data[at : at + _length_at(data, place)])


def _after(data: bytearray, place: int) -> int:
    """Returns where the next entry is: each is filled up with one to eight zero bytes."""
    return place + (_ENTRY.size + _length_at(data, place) + 8 & ~7)


def _render(name: bytes, entry: IndexEntry) -> bytes:
    fixed = _ENTRY.pack(*_status_words(entry), bytes.fromhex(entry.object_id), entry.stage << 12 | len(name))
    return (fixed + name).ljust(_ENTRY.size + len(name) + 8 & ~7, b"\0")


def _status_words(entry: IndexEntry) -> tuple[int, ...]:
    """Returns what git compares with the file to see whether it is unchanged; zeros make it read the file."""
    mode, status = int(entry.mode, 8), entry.status
    if status is None:
        return (0, 0, 0, 0, 0, 0, mode, 0, 0, 0)
    second = 1_000_000_000
    times = (*divmod(status.st_ctime_ns, second), *divmod(status.st_mtime_ns, second))
    words = (*times, status.st_dev, status.st_ino, mode, status.st_uid, status.st_gid, status.st_size)
    return tuple(word & _WORD for word in words)
