"""The object database through libgit2, for long-running and read-heavy processes."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from gitticks.errors import GitticksError
from gitticks.git.objects.database import Objects, StoredCommit
from gitticks.git.objects.failures import (
    errors_of_libgit2,
    errors_of_reading,
    errors_of_writing,
    locked,
    moved,
)
from gitticks.git.objects.fast_import import is_large, write_by_git
from gitticks.git.objects.loose_files import is_too_large, read_loose, too_large
from gitticks.git.refs import is_object_id

if TYPE_CHECKING:
    import pygit2

    from gitticks.git.identity import Identity
    from gitticks.git.indexfile import IndexEntry
    from gitticks.git.objects.kept_index import KeptIndex

_LARGEST_CACHED_TREE = 256 * 1024
"""The folder of all tasks has a thousand entries; by default libgit2 would read it again at every look."""
_FILE, _FOLDER = 0o100644, 0o040000
_MOVED_WORDS = ("does not match", "already exists", "not found")
_LOCKED_WORDS = ("failed to lock file", "failed to create locked file")
_synced = threading.Lock()
"""Held while libgit2's switch for syncing, which is the whole process's, is on."""


class Libgit2Objects(Objects):
    """A SHA-1 database, read and written by libgit2."""

    _index: KeptIndex | None = None

    @cached_property
    def _handle(self) -> pygit2.Repository:
        import pygit2
        from pygit2.enums import ObjectType

        pygit2.settings.cache_object_limit(ObjectType.TREE, _LARGEST_CACHED_TREE)
        with errors_of_reading(f"`{self.common_dir}` cannot be opened"):
            return pygit2.Repository(str(self.common_dir))

    def has(self, object_id: str) -> bool:
        """True if the object is stored here."""
        with self._lock, errors_of_reading(f"the object `{object_id}` cannot be read"):
            return is_object_id(object_id) and object_id in self._handle

    def merge_base(self, one: str, other: str) -> str | None:
        """Returns the best common ancestor of two commits; None if they have none."""
        with self._lock, errors_of_reading(f"`{one}` and `{other}` cannot be compared"):
            found = self._handle.merge_base(self._oid(hex=one), self._oid(hex=other))
        return str(found) if found is not None else None

    def borrow_from(self, folders: Iterable[Path]) -> None:
        """Makes the objects in other folders readable too."""
        for folder in folders:
            self._handle.odb.add_disk_alternate(str(folder))

    def change_index(self, file: Path, entries: Mapping[str, Sequence[IndexEntry]]) -> bool:
        """Changes an index that libgit2 knows how to read, and has no conflicts in it."""
        from gitticks.git.objects.kept_index import KeptIndex  # loads pygit2

        with self._lock:
            kept, self._index = self._index, None
            try:
                index = kept if kept is not None and kept.file == file else KeptIndex(file)
                if not index.change(entries):
                    return False
            except errors_of_libgit2():
                return False
            self._index = index
        return True

    def write_blob(self, content: bytes, *, synced: bool = True) -> str:
        """Stores a blob and returns its id."""
        with self._lock, errors_of_writing(self.common_dir):
            made = str(self._handle.create_blob(content))
        if synced:
            self.sync((made,))
        return made

    def write_commit(
        self, parents: Sequence[str], changes: Mapping[str, bytes | None], *, author: Identity, message: str
    ) -> StoredCommit:
        """Stores a commit; a large one by git, as a pack."""
        with self._lock:
            base = self.tree_of(parents[0]) if parents else None
            self._require_room(base, changes)
            if is_large(changes):
                commit = write_by_git(
                    self.common_dir, self.object_format, parents, changes, author=author, message=message
                )
                return StoredCommit(commit, (commit,))
            with errors_of_writing(self.common_dir):
                return self._write_commit(base, parents, changes, author, message)

    def move_ref(
        self, ref: str, old: str | None, new: str | None, message: str, *, who: Identity | None = None
    ) -> None:
        """Moves `ref` from `old` to `new`, atomically against every other process, git included."""
        with self._lock, errors_of_writing(self.common_dir):
            try:
                self._move_ref(ref, old, new, message, who)
            except errors_of_libgit2() as error:
                words = str(error)
                if any(sign in words for sign in _MOVED_WORDS):
                    raise moved(ref) from error
                if any(sign in words for sign in _LOCKED_WORDS):
                    raise locked(self.common_dir, ref) from error
                raise

    def _move_ref(
        self, ref: str, old: str | None, new: str | None, message: str, who: Identity | None
    ) -> None:
        """Relies on libgit2's comparison with the value that a reference object was read with, under the ref's lock.

        So the object is read again for each move, and nothing is ever created by force, which would skip the comparison.
        """
        import pygit2

        with _synced:
            pygit2.settings.enable_fsync_gitdir(True)  # which libgit2 notes as it first looks at a ref
            try:
                self._move_synced(ref, old, new, message, who)
            finally:
                pygit2.settings.enable_fsync_gitdir(False)

    def _move_synced(
        self, ref: str, old: str | None, new: str | None, message: str, who: Identity | None
    ) -> None:
        from pygit2.enums import ReferenceType

        current = self._handle.references.get(ref)
        if current is not None and current.type == ReferenceType.SYMBOLIC:
            raise GitticksError(
                f"`{ref}` is a symbolic ref", hint=f"`git symbolic-ref --delete {ref}` removes it"
            )
        if old != (None if current is None else str(current.target)):
            raise moved(ref)
        if who is not None:
            self._handle.set_ident(who.name, who.email)
        if current is None:
            if new is not None:
                self._handle.references.create(ref, new, force=False)
        elif new is None:
            current.delete()
        else:
            current.set_target(new, message)

    def _write_commit(
        self,
        base: str | None,
        parents: Sequence[str],
        changes: Mapping[str, bytes | None],
        author: Identity,
        message: str,
    ) -> StoredCommit:
        import pygit2

        made: list[str] = []
        tree = self._write_tree(base, _by_folder(changes), made)
        if tree is None:
            tree = str(self._handle.TreeBuilder().write())
            made.append(tree)
        now = int(time.time())
        minutes = time.localtime(now).tm_gmtoff // 60
        who = pygit2.Signature(author.name, author.email, now, minutes, "utf-8")
        commit = str(self._handle.create_commit(None, who, who, message, tree, list(parents)))
        return StoredCommit(commit, (*made, commit))

    def _write_tree(self, tree: str | None, changes: _Folder, made: list[str]) -> str | None:
        """Stores the changed tree and returns its id, None if it is empty; adds what was stored to `made`."""
        builder = self._handle.TreeBuilder() if tree is None else self._handle.TreeBuilder(tree)
        for name, change in changes.items():
            current = builder.get(name)
            if isinstance(change, dict):
                inner = str(current.id) if current is not None and current.filemode == _FOLDER else None
                if inner is None and not _adds(change):
                    continue
                entry, mode = self._write_tree(inner, change, made), _FOLDER
            else:
                entry, mode = None if change is None else str(self._handle.create_blob(change)), _FILE
                made += [] if entry is None else [entry]
            if entry is not None:
                builder.insert(name, entry, mode)
            elif current is not None:
                builder.remove(name)
        if len(builder) == 0:
            return None
        made.append(str(builder.write()))
        return made[-1]

    @cached_property
    def _loose(self) -> Path:
        return self.common_dir / "objects"

    def _read(self, object_id: str) -> tuple[str, bytes]:
        try:
            return read_loose(self._loose, object_id) or self._read_packed(object_id)
        except errors_of_libgit2():  # a `with` would cost each good read too
            with errors_of_reading(f"the object `{object_id}` cannot be read"):
                raise

    def _read_packed(self, object_id: str) -> tuple[str, bytes]:
        try:
            return self._read_by_libgit2(object_id)
        except KeyError:
            from gitticks.git.maintenance import fetch_missing

            fetch_missing(self.common_dir, object_id)
            return self._read_by_libgit2(object_id)

    def _read_by_libgit2(self, object_id: str) -> tuple[str, bytes]:
        odb = self._handle.odb
        name = self._oid(hex=object_id)
        if is_too_large(odb.read_header(name)[1]):
            raise too_large(object_id)
        kind, content = odb.read(name)
        return self._kinds[int(kind)], content

    @cached_property
    def _oid(self) -> type[pygit2.Oid]:
        import pygit2

        return pygit2.Oid

    @cached_property
    def _kinds(self) -> Mapping[int, str]:
        from pygit2.enums import ObjectType

        return {int(kind): kind.name.lower() for kind in ObjectType if kind.name is not None}


_Folder = dict[str, "bytes | _Folder | None"]
"""Changes by name: contents of files, None for one to remove, and those within a folder."""


def _by_folder(changes: Mapping[str, bytes | None]) -> _Folder:
    top: _Folder = {}
    for path, content in changes.items():
        *folders, name = path.split("/")
        inner = top
        for folder in folders:
            found = inner.setdefault(folder, {})
            if not isinstance(found, dict):  # a file to remove, in whose place a folder comes
                found = inner[folder] = {}
            inner = found
        inner.setdefault(name, content)
    return top


def _adds(changes: _Folder) -> bool:
    """True if anything in the folder is more than removed."""
    return any(
        _adds(change) if isinstance(change, dict) else change is not None for change in changes.values()
    )
