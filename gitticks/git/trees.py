"""What a tree says, read from its bytes: libgit2's objects, one for each entry, cost more than all else of a walk."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from shlex import quote
from typing import NamedTuple, TypeAlias

from gitticks.errors import GitticksError

_FOLDER, _LINK, _SUBMODULE, _KIND, _EXECUTABLE = 0o040000, 0o120000, 0o160000, 0o170000, 0o100
_ENTRY = re.compile(rb"([0-7]{1,7}) ([^\0]+)\0(.{20})", re.DOTALL)
_BYTES_BESIDE_MODE_AND_NAME = 22
_USUAL = {b"100644": (True, False), b"100755": (True, False), b"40000": (False, True)}
DEEPEST = 200
"""Git sets no limit, but whoever follows folders into one another needs room for each."""

Parts: TypeAlias = tuple[bytes, bytes, bytes]
"""Mode, name and id of an entry, as they are stored."""


class Entry(NamedTuple):
    """One entry of a tree; `is_file` is True for plain files only, not for symbolic links and submodules."""

    name: str
    object_id: str
    is_file: bool
    is_tree: bool


def split_tree(content: bytes) -> list[Parts] | None:
    """Returns the entries of a tree in git's order, or None if the bytes are no tree."""
    found = _ENTRY.findall(content)
    length = sum(len(mode) + len(name) + _BYTES_BESIDE_MODE_AND_NAME for mode, name, _ in found)
    return found if length == len(content) else None


def by_name(entries: Iterable[Parts]) -> dict[str, Entry]:
    """Returns entries by name, in their order; a name that is no UTF-8 holds half surrogate pairs, as in `os.listdir`."""
    named: dict[str, Entry] = {}
    for mode, raw_name, raw_id in entries:
        name = raw_name.decode("utf-8", "surrogateescape")
        is_file, is_tree = _USUAL.get(mode) or _kind(mode)
        named[name] = Entry(name, raw_id.hex(), is_file, is_tree)
    return named


def differing(old: list[Parts], new: list[Parts]) -> Iterator[tuple[str, Entry | None, Entry | None]]:
    """Yields name, old and new entry of everything that differs, sorted by name."""
    same = set(old).intersection(new)
    before = by_name(parts for parts in old if parts not in same)
    after = by_name(parts for parts in new if parts not in same)
    for name in sorted(before.keys() | after.keys()):
        if before.get(name) != after.get(name):
            yield name, before.get(name), after.get(name)


def _kind(mode: bytes) -> tuple[bool, bool]:
    """Tells files and folders apart as libgit2 does, for the modes that old and hostile trees hold."""
    number = int(mode, 8)
    kind = number & _KIND
    is_file = kind != _FOLDER and (bool(number & _EXECUTABLE) or kind not in (_LINK, _SUBMODULE))
    return is_file, kind == _FOLDER


def tree_id_of(entry: Entry | None) -> str | None:
    """Returns the id of the tree that an entry names; None for anything else."""
    return entry.object_id if entry is not None and entry.is_tree else None


def refuse_too_deep(folder: str) -> None:
    """Refuses a folder, with a slash at its end, that lies in more others than anybody makes by hand.

    Raises:
        GitticksError: it does; the message names the outermost ones.
    """
    if folder.count("/") > DEEPEST:
        top = "/".join(folder.split("/", 3)[:3])
        raise GitticksError(
            f"`{top}` holds more than {DEEPEST} folders in one another",
            hint=f"`git log --all -- {quote(top)}` says who put them there",
        )
