"""Puts the bytes of a changed tree together: nothing is looked at but the tree itself."""

from __future__ import annotations

from collections.abc import Iterable

from gitticks.git.trees import Parts

FILE_MODE = "100644"
FOLDER_MODE = "40000"
_FOLDER = FOLDER_MODE.encode()


class EditedTree:
    """The entries of one tree while some of them are replaced; names are compared as bytes, as git does."""

    def __init__(self, entries: Iterable[Parts] = ()) -> None:
        self._entries = {parts[1]: parts for parts in entries}
        self._is_in_order = True

    def __len__(self) -> int:
        """Returns how many entries there are."""
        return len(self._entries)

    def has(self, name: str) -> bool:
        """True if there is anything of that name."""
        return _bytes(name) in self._entries

    def folder(self, name: str) -> str | None:
        """Returns the id of the folder of that name; None if there is no folder."""
        entry = self._entries.get(_bytes(name))
        return entry[2].hex() if entry is not None and _is_folder(entry) else None

    def put(self, name: str, mode: str, object_id: str) -> None:
        """Sets an entry."""
        entry = (mode.encode(), _bytes(name), bytes.fromhex(object_id))
        old = self._entries.get(entry[1])
        self._is_in_order = self._is_in_order and old is not None and _is_folder(old) == _is_folder(entry)
        self._entries[entry[1]] = entry

    def remove(self, name: str) -> None:
        """Removes an entry; one that is not there may be removed too."""
        self._entries.pop(_bytes(name), None)

    @property
    def content(self) -> bytes:
        """Returns the tree's bytes."""
        entries: Iterable[Parts] = self._entries.values()
        if not self._is_in_order:
            entries = sorted(entries, key=_place)
        return b"".join([b"%s %s\0%s" % entry for entry in entries])


def _bytes(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")


def _is_folder(entry: Parts) -> bool:
    return entry[0] == _FOLDER


def _place(entry: Parts) -> bytes:
    """Returns what git sorts an entry by: a folder's name as if it ended in a slash."""
    return entry[1] + b"/" if _is_folder(entry) else entry[1]
