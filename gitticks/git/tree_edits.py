"""Makes a changed tree out of an old one: only the trees on the way to what changes are looked at and stored anew."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TypeAlias

from gitticks.errors import GitticksError
from gitticks.git.trees import Parts

Read: TypeAlias = Callable[[str], Iterable[Parts]]
"""Gives the entries of the tree of an id."""

Store: TypeAlias = Callable[[str, bytes], str]
"""Stores an object of a kind, `blob` or `tree`, and gives its id."""

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


def edit_tree(
    tree_id: str | None, changes: Mapping[str, bytes | None], *, read: Read, store: Store
) -> str | None:
    """Stores the tree with `changes` made to it and returns its id; None if nothing is left in it.

    Args:
        tree_id: the tree to begin with; None for an empty one.
        changes: file contents by path below the tree; None removes the file, also one that is not there.
        read: how trees are read.
        store: how trees and files are stored.

    Raises:
        GitticksError: a folder of a changed path is a file in the tree, or the other way round.
    """
    tree = EditedTree(() if tree_id is None else read(tree_id))
    for name, change in _by_first_folder(changes).items():
        if isinstance(change, dict):
            _put_folder(tree, name, change, read, store)
        else:
            _put_file(tree, name, change, store)
    return store("tree", tree.content) if len(tree) else None


def _put_folder(
    tree: EditedTree, name: str, inner: dict[str, bytes | None], read: Read, store: Store
) -> None:
    existing = tree.folder(name)
    if existing is None and tree.has(name):
        if all(content is None for content in inner.values()):
            return
        raise _in_the_way(name, "a file where a folder is needed")
    made = edit_tree(existing, inner, read=read, store=store)
    if made is not None:
        tree.put(name, FOLDER_MODE, made)
    else:
        tree.remove(name)


def _put_file(tree: EditedTree, name: str, content: bytes | None, store: Store) -> None:
    if tree.folder(name) is not None:
        raise _in_the_way(name, "a folder where a file is needed")
    if content is not None:
        tree.put(name, FILE_MODE, store("blob", content))
    else:
        tree.remove(name)


def _in_the_way(name: str, what: str) -> GitticksError:
    return GitticksError(f"`{name}` on the state branch is {what}", hint="`gt doctor` says where it lies")


def _by_first_folder(
    changes: Mapping[str, bytes | None],
) -> dict[str, dict[str, bytes | None] | bytes | None]:
    grouped: dict[str, dict[str, bytes | None] | bytes | None] = {}
    for path, content in changes.items():
        name, _, rest = path.partition("/")
        inner = grouped.setdefault(name, {} if rest else content)
        if bool(rest) != isinstance(inner, dict):
            raise GitticksError(f"`{name}` would be a file and a folder at once")
        if isinstance(inner, dict):
            inner[rest] = content
    return grouped


def _bytes(name: str) -> bytes:
    return name.encode("utf-8", "surrogateescape")


def _is_folder(entry: Parts) -> bool:
    return entry[0] == _FOLDER


def _place(entry: Parts) -> bytes:
    """Returns what git sorts an entry by: a folder's name as if it ended in a slash."""
    return entry[1] + b"/" if _is_folder(entry) else entry[1]
