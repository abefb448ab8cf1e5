"""Reads packed objects by libgit2, and reads and writes loose ones; it loads pygit2, so it is itself imported late.

Trees are updated along the touched paths only; a flat index of all entries would cost every commit a visit to every
task. Everything written is synced, at once or, where a writer asks for that, together with more.
"""

from __future__ import annotations

import contextlib
import time
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import pygit2
from pygit2.enums import FileMode, ObjectType

from gitticks.errors import GitticksError
from gitticks.git.identity import Identity
from gitticks.git.libgit2 import errors_of_reading, errors_of_writing
from gitticks.git.loose import Written, discard_objects, store_object, sync_objects
from gitticks.git.loose_reading import read_loose
from gitticks.git.process import run_git
from gitticks.git.refs import is_object_id
from gitticks.git.repository import Repository
from gitticks.git.tree_edits import FILE_MODE, FOLDER_MODE, EditedTree
from gitticks.git.trees import Entry, Parts, by_name, differing, split_tree, tree_id_of

_FILES = frozenset({int(FileMode.BLOB), int(FileMode.BLOB_EXECUTABLE)})
_TREE = int(FileMode.TREE)
_LARGEST_CACHED_TREE = 256 * 1024
"""The folder of all tasks has a thousand entries; by default libgit2 would read it anew at every look."""

_KINDS = {ObjectType.BLOB: "blob", ObjectType.TREE: "tree", ObjectType.COMMIT: "commit"}
_MOST_WALKED = 1000
_WRONG_CLASS = "the object `{}` is damaged, or not what its place in the tree says"


@dataclass(frozen=True, slots=True)
class Change:
    """A file that differs between two trees; an id is None where the file is missing or is no plain file."""

    path: str
    old: str | None
    new: str | None


class Objects:
    """The object database of one repository; not to be shared between threads.

    Attributes:
        handle: libgit2's repository, for this package only.
        common_dir: the git directory that it opened.
    """

    def __init__(self, repository: pygit2.Repository, common_dir: Path) -> None:
        self.handle = repository
        self.common_dir = common_dir
        self._folder = common_dir / "objects"
        self._written: Written | None = None
        self._database = repository.odb
        self._sound: set[str] = set()

    @classmethod
    def open(cls, repository: Repository) -> Self:
        """Opens the database that all worktrees of `repository` share.

        Raises:
            GitticksError: libgit2 cannot work with it.
        """
        pygit2.settings.enable_fsync_gitdir(True)
        pygit2.settings.cache_object_limit(ObjectType.TREE, _LARGEST_CACHED_TREE)
        with errors_of_reading(f"`{repository.common_dir}` cannot be opened"):
            return cls(pygit2.Repository(str(repository.common_dir)), repository.common_dir)

    def tree_of(self, commit_id: str) -> str:
        """Returns the id of the commit's tree."""
        return self._links(commit_id, "tree")[0]

    def parents_of(self, commit_id: str) -> tuple[str, ...]:
        """Returns the ids of the commit's parents."""
        return self._links(commit_id, "parent")

    def is_ancestor(self, old: str, new: str) -> bool:
        """True if `new` is the commit `old` or was made on top of it; False for one that is not stored any more.

        Only the commits since the parents of `old` are looked at, so that damage further down stops nobody.
        """
        if old == new or not self.has(old):
            return old == new
        below = {*self.parents_of(old)}
        waiting, seen = deque([new]), set[str]()
        while waiting:
            commit = waiting.popleft()
            if commit == old:
                return True
            if commit in below or commit in seen:
                continue
            if len(seen) == _MOST_WALKED:
                return self._is_ancestor_by_git(old, new)
            seen.add(commit)
            with contextlib.suppress(GitticksError):
                waiting += self.parents_of(commit)
        return False

    def _is_ancestor_by_git(self, old: str, new: str) -> bool:
        asked = ["merge-base", "--is-ancestor", "--end-of-options", old, new]
        return run_git(asked, repository_dir=self.common_dir, check=False).code == 0

    def has(self, object_id: str) -> bool:
        """True if the object is stored here."""
        return object_id in self.handle

    def read_blob(self, object_id: str) -> bytes:
        """Returns the bytes of a blob."""
        return self._content(object_id, ObjectType.BLOB)

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
        tree = EditedTree(() if tree_id is None else self._parts(tree_id))
        for name, change in _by_first_folder(changes).items():
            if isinstance(change, dict):
                self._put_folder(tree, name, change)
            else:
                self._put_file(tree, name, change)
        return self._store("tree", tree.content) if len(tree) else None

    def empty_tree(self) -> str:
        """Stores the tree without entries and returns its id."""
        return self._store("tree", b"")

    def write_commit(self, tree_id: str, parents: tuple[str, ...], *, author: Identity, message: str) -> str:
        """Stores a commit that no ref names yet and returns its id; its time is now, in the local zone."""
        now = int(time.time())
        minutes = time.localtime(now).tm_gmtoff // 60
        zone = f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}{abs(minutes) % 60:02}"
        who = f"{author.name} <{author.email}> {now} {zone}"
        lines = [f"tree {tree_id}", *(f"parent {parent}" for parent in parents)]
        lines += [f"author {who}", f"committer {who}", "", message]
        return self._store("commit", "\n".join(lines).encode())

    def changed_files(self, old_tree: str | None, new_tree: str | None, folder: str = "") -> Iterator[Change]:
        """Yields every plain file that differs between two trees; equal subtrees are never opened."""
        for name, before, after in self.changed_entries(old_tree, new_tree):
            path = f"{folder}{name}"
            file_before, file_after = _file_id(before), _file_id(after)
            if file_before != file_after:
                yield Change(path, file_before, file_after)
            yield from self.changed_files(tree_id_of(before), tree_id_of(after), f"{path}/")

    def changed_entries(
        self, old_tree: str | None, new_tree: str | None
    ) -> Iterator[tuple[str, Entry | None, Entry | None]]:
        """Yields name, old and new entry of everything that differs directly in two trees, sorted by name."""
        if old_tree != new_tree:
            yield from differing(self._parts(old_tree), self._parts(new_tree))

    def _child(self, tree_id: str, name: str) -> Entry | None:
        tree = self._tree(tree_id)
        if name not in tree:
            return None
        found = tree[name]
        mode = int(found.filemode)
        return Entry(name, str(found.id), is_file=mode in _FILES, is_tree=mode == _TREE)

    def _parts(self, tree_id: str | None) -> list[Parts]:
        parts = [] if tree_id is None else split_tree(self._content(tree_id, ObjectType.TREE))
        if parts is None:
            raise GitticksError(_WRONG_CLASS.format(tree_id))
        return parts

    def _content(self, object_id: str, kind: ObjectType) -> bytes:
        """Returns an object's bytes; without the object that libgit2 would make of them."""
        try:
            loose = read_loose(self._folder, object_id)
            found, content = self._read_packed(object_id) if loose is None else loose
        except (pygit2.GitError, KeyError, ValueError, OSError):  # a `with` would cost each good read too
            with errors_of_reading(f"the object `{object_id}` cannot be read"):
                raise
        if found not in (kind, _KINDS[kind]):
            raise GitticksError(_WRONG_CLASS.format(object_id))
        return content

    def _read_packed(self, object_id: str) -> tuple[int, bytes]:
        whole = pygit2.Oid(hex=object_id)
        try:
            return self._database.read(whole)
        except KeyError:
            self._fetch_missing(object_id)
            return self._database.read(whole)

    def _links(self, commit_id: str, key: str) -> tuple[str, ...]:
        """Returns the ids that a commit's header gives under `key`."""
        header = self._content(commit_id, ObjectType.COMMIT).partition(b"\n\n")[0].decode("ascii", "replace")
        words = (line.split(" ") for line in header.split("\n"))
        found = tuple(word[1] for word in words if word[0] == key and len(word) > 1 and is_object_id(word[1]))
        if not found and key == "tree":
            raise GitticksError(_WRONG_CLASS.format(commit_id))
        return found

    def _tree(self, tree_id: str) -> pygit2.Tree:
        tree = self._read(tree_id)
        if not isinstance(tree, pygit2.Tree):
            raise GitticksError(_WRONG_CLASS.format(tree_id))
        return tree

    def _read(self, object_id: str) -> object:
        with errors_of_reading(f"the object `{object_id}` cannot be read"):
            if object_id not in self._sound:
                read_loose(self._folder, object_id)
                self._sound.add(object_id)
            whole = pygit2.Oid(
                hex=object_id
            )  # a string may be a prefix, and libgit2 would look for all that match
            try:
                return self.handle[whole]
            except KeyError:
                self._fetch_missing(object_id)
                return self.handle[whole]

    def _fetch_missing(self, object_id: str) -> None:
        """Lets git bring an object that a partial clone left with its remote; libgit2 cannot."""
        asked = ["cat-file", "-e", object_id]
        if run_git(asked, repository_dir=self.common_dir, check=False, trusted=True).code != 0:
            raise GitticksError(
                f"the object `{object_id}` is missing from `{self.common_dir}`",
                hint="`git fsck` names what is damaged; `git fetch` may bring it back",
            )

    def _store(self, kind: str, content: bytes) -> str:
        with errors_of_writing(self.common_dir):
            if self._written is not None:
                return store_object(self._folder, kind, content, self._written)
            written = Written()
            object_id = store_object(self._folder, kind, content, written)
            sync_objects(self._folder, written.ids, self.has)
            return object_id

    def _put_folder(self, tree: EditedTree, name: str, inner: dict[str, bytes | None]) -> None:
        existing = tree.folder(name)
        if existing is None and tree.has(name):
            if all(content is None for content in inner.values()):
                return
            raise GitticksError(f"`{name}` on the state branch is a file where a folder is needed")
        made = self.update_tree(existing, inner)
        if made is not None:
            tree.put(name, FOLDER_MODE, made)
        else:
            tree.remove(name)

    def _put_file(self, tree: EditedTree, name: str, content: bytes | None) -> None:
        if tree.folder(name) is not None:
            raise GitticksError(f"`{name}` on the state branch is a folder where a file is needed")
        if content is not None:
            tree.put(name, FILE_MODE, self.write_blob(content))
        else:
            tree.remove(name)


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


def _file_id(entry: Entry | None) -> str | None:
    return entry.object_id if entry is not None and entry.is_file else None
