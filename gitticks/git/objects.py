"""Reads and writes the objects of a repository: loose ones, and a few packed ones, without libgit2.

Loading libgit2 takes longer than a commit, so that is left until something is asked that only it can answer.
Trees are updated along the touched paths only; a flat index of all entries would cost every commit a visit to every
task. Everything written is synced, at once or, where a writer asks for that, together with more.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Self

from gitticks.git.libgit2 import errors_of_libgit2, errors_of_reading, errors_of_writing
from gitticks.git.loose import Written, discard_objects, store_object, sync_objects
from gitticks.git.loose_reading import read_loose
from gitticks.git.packs import Packs
from gitticks.git.plain_refs import zone_at
from gitticks.git.refs import is_object_id
from gitticks.git.repository import Repository
from gitticks.git.tree_edits import edit_tree
from gitticks.git.trees import Entry, Parts, by_name, damaged, differing, split_tree, walk_differences

if TYPE_CHECKING:
    import pygit2

    from gitticks.git.identity import Identity
    from gitticks.git.pack_writing import NewPack

_MOST_READ_BY_HAND = 64
"""So many packed objects are read before libgit2 is worth its loading."""
_MOST_TREES_KEPT = 32
"""The folder of all tasks has a thousand entries, and each change looks at it several times."""


@dataclass(frozen=True, slots=True)
class Change:
    """A file that differs between two trees; an id is None where the file is missing or is no plain file."""

    path: str
    old: str | None
    new: str | None


class Objects:
    """The object database of one repository; not to be shared between threads.

    Attributes:
        common_dir: the git directory that it opened.
    """

    def __init__(self, common_dir: Path) -> None:
        self.common_dir = common_dir
        self._folder = common_dir / "objects"
        self._written: Written | None = None
        self._new_pack: NewPack | None = None
        self._packs = Packs(self._folder)
        self._read_by_hand = 0
        self._trees: dict[str, dict[bytes, Parts]] = {}

    @classmethod
    def open(cls, repository: Repository) -> Self:
        """Opens the database that all worktrees of `repository` share."""
        return cls(repository.common_dir)

    @cached_property
    def handle(self) -> pygit2.Repository:
        """Returns libgit2's repository, for this package only; the first time it loads pygit2.

        Raises:
            GitticksError: libgit2 cannot work with it.
        """
        from gitticks.git.libgit2 import open_handle

        return open_handle(self.common_dir)

    def tree_of(self, commit_id: str) -> str:
        """Returns the id of the commit's tree."""
        return self._links(commit_id, "tree")[0]

    def parents_of(self, commit_id: str) -> tuple[str, ...]:
        """Returns the ids of the commit's parents."""
        return self._links(commit_id, "parent")

    def is_ancestor(self, old: str, new: str) -> bool:
        """True if `new` is the commit `old` or was made on top of it; False for one that is not stored any more."""
        from gitticks.git.ancestry import is_made_on_top  # seldom asked

        return is_made_on_top(self, old, new)

    def has(self, object_id: str) -> bool:
        """True if the object is stored here."""
        if os.path.exists(f"{self._folder}/{object_id[:2]}/{object_id[2:]}"):  # noqa: PTH110 - asked often
            return True
        return self._packs.has(object_id) or object_id in self.handle

    def read_blob(self, object_id: str) -> bytes:
        """Returns the bytes of a blob."""
        return self._content(object_id, "blob")

    def folder(self, tree_id: str) -> dict[str, Entry]:
        """Returns the tree's entries by name, in git's order."""
        return by_name(self._parts(tree_id))

    def entries(self, tree_id: str) -> tuple[Entry, ...]:
        """Returns the tree's entries in git's order."""
        return tuple(self.folder(tree_id).values())

    def names(self, tree_id: str) -> tuple[str, ...]:
        """Returns the names in the tree, in git's order."""
        return tuple(self.folder(tree_id))

    def find(self, tree_id: str, path: str) -> Entry | None:
        """Returns the entry at `path` below the tree, or None; no symbolic link is followed."""
        *folders, name = path.split("/")
        for folder in folders:
            inner = self._child(tree_id, folder)
            if inner is None or not inner.is_tree:
                return None
            tree_id = inner.object_id
        return self._child(tree_id, name)

    @contextlib.contextmanager
    def unsynced(self) -> Iterator[Written]:
        """Leaves what is stored inside it to a later `sync`, and gives what that will have to be told.

        Outside of it each object is on disk once its id was returned.
        """
        written, before = Written(), self._written
        self._written = written
        try:
            yield written
        finally:
            self._written = before

    @contextlib.contextmanager
    def packed(self) -> Iterator[None]:
        """Puts all that is stored inside it into one pack, which is on disk at its end; before, none of it can be read.

        Raises:
            GitticksError: the pack cannot be written; nothing is left of it.
        """
        from gitticks.git.pack_writing import NewPack  # only where very much is written

        self._new_pack = pack = NewPack()
        try:
            yield
        finally:
            self._new_pack = None
        with errors_of_writing(self.common_dir):
            pack.write(self._folder)
        self._packs = Packs(self._folder)

    def sync(self, object_ids: Iterable[str]) -> None:
        """Waits until the objects are on disk; they may be another process's.

        Raises:
            LostObjectError: one is not stored any more.
            GitticksError: something could not be written; none of them may be relied on.
        """
        with errors_of_writing(self.common_dir):
            sync_objects(self._folder, object_ids, self.has)

    def discard(self, object_ids: Iterable[str]) -> None:
        """Removes new objects that could not be brought to the disk."""
        discard_objects(self._folder, object_ids)

    def write_blob(self, content: bytes) -> str:
        """Stores a blob and returns its id."""
        return self._store("blob", content)

    def update_tree(self, tree_id: str | None, changes: Mapping[str, bytes | None]) -> str | None:
        """Stores the tree with `changes` made to it and returns its id; None if nothing is left in it.

        Args:
            tree_id: the tree to begin with; None for an empty one.
            changes: file contents by path below the tree; None removes the file, also one that is not there.

        Raises:
            GitticksError: a folder of a changed path is a file in the tree, or the other way round.
        """
        return edit_tree(tree_id, changes, read=self._parts, store=self._store)

    def empty_tree(self) -> str:
        """Stores the tree without entries and returns its id."""
        return self._store("tree", b"")

    def write_commit(self, tree_id: str, parents: tuple[str, ...], *, author: Identity, message: str) -> str:
        """Stores a commit that no ref names yet and returns its id; its time is now, in the local zone."""
        now = int(time.time())
        who = f"{author.name} <{author.email}> {now} {zone_at(now)}"
        lines = [f"tree {tree_id}", *(f"parent {parent}" for parent in parents)]
        lines += [f"author {who}", f"committer {who}", "", message]
        return self._store("commit", "\n".join(lines).encode())

    def changed_files(self, old_tree: str | None, new_tree: str | None, folder: str = "") -> Iterator[Change]:
        """Yields every plain file that differs between two trees; equal subtrees are never opened."""
        for path, before, after in walk_differences(self.changed_entries, (old_tree, new_tree), folder):
            file_before, file_after = _file_id(before), _file_id(after)
            if file_before != file_after:
                yield Change(path, file_before, file_after)

    def refuse_excess(self, old: str | None, new: str) -> None:
        """Refuses a commit that holds more than anybody makes, before a checkout follows it from `old`.

        Raises:
            GitticksError: it does, or a tree is damaged.
        """
        for _ in self.changed_files(None if old is None else self.tree_of(old), self.tree_of(new)):
            pass

    def changed_entries(
        self, old_tree: str | None, new_tree: str | None
    ) -> Iterator[tuple[str, Entry | None, Entry | None]]:
        """Yields name, old and new entry of everything that differs directly in two trees, sorted by name."""
        if old_tree != new_tree:
            yield from differing(self._parts(old_tree), self._parts(new_tree))

    def _child(self, tree_id: str, name: str) -> Entry | None:
        parts = self._split(tree_id).get(name.encode("utf-8", "surrogateescape"))
        return None if parts is None else by_name([parts])[name]

    def _parts(self, tree_id: str | None) -> list[Parts]:
        return [] if tree_id is None else list(self._split(tree_id).values())

    def _split(self, tree_id: str) -> dict[bytes, Parts]:
        """Returns the tree's entries by name; the last few trees are kept."""
        found = self._trees.get(tree_id)
        if found is None:
            parts = split_tree(self._content(tree_id, "tree"))
            if parts is None:
                raise damaged(tree_id)
            if len(self._trees) >= _MOST_TREES_KEPT:
                del self._trees[next(iter(self._trees))]
            found = self._trees[tree_id] = {entry[1]: entry for entry in parts}
        return found

    def _content(self, object_id: str, kind: str) -> bytes:
        """Returns an object's bytes; without the object that libgit2 would make of them."""
        try:
            found, content = read_loose(self._folder, object_id) or self._read_packed(object_id)
        except errors_of_libgit2():  # a `with` would cost each good read too
            with errors_of_reading(f"the object `{object_id}` cannot be read"):
                raise
        if found != kind:
            raise damaged(object_id)
        return content

    def _read_packed(self, object_id: str) -> tuple[str, bytes]:
        if self._read_by_hand < _MOST_READ_BY_HAND and "handle" not in self.__dict__:
            self._read_by_hand += 1
            found = self._packs.read(object_id)
            if found is not None:
                return found
        try:
            return self._reader(object_id)
        except KeyError:
            from gitticks.git.missing import fetch_missing

            fetch_missing(self.common_dir, object_id)
            return self._reader(object_id)

    @cached_property
    def _reader(self) -> Callable[[str], tuple[str, bytes]]:
        from gitticks.git.libgit2 import reader_of

        return reader_of(self.handle)

    def _links(self, commit_id: str, key: str) -> tuple[str, ...]:
        """Returns the ids that a commit's header gives under `key`."""
        header = self._content(commit_id, "commit").partition(b"\n\n")[0].decode("ascii", "replace")
        words = (line.split(" ") for line in header.split("\n"))
        found = tuple(word[1] for word in words if word[0] == key and len(word) > 1 and is_object_id(word[1]))
        if not found and key == "tree":
            raise damaged(commit_id)
        return found

    def _store(self, kind: str, content: bytes) -> str:
        if self._new_pack is not None:
            return self._new_pack.add(kind, content)
        with errors_of_writing(self.common_dir):
            if self._written is not None:
                return store_object(self._folder, kind, content, self._written)
            written = Written()
            object_id = store_object(self._folder, kind, content, written)
            sync_objects(self._folder, written.ids, self.has)
            return object_id


def _file_id(entry: Entry | None) -> str | None:
    return entry.object_id if entry is not None and entry.is_file else None
