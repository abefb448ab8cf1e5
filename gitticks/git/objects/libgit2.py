"""The object database through libgit2, for long-running and read-heavy processes."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import threading
import time
import zlib
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import pygit2
from pygit2.enums import ObjectType, ReferenceType

from gitticks.errors import GitticksError
from gitticks.git.objects import failures
from gitticks.git.objects.database import AS_IS, Objects, StoredCommit, folders_of
from gitticks.git.objects.failures import (
    errors_of_libgit2,
    errors_of_reading,
    errors_of_writing,
    fetch_missing,
    is_too_large,
    locked,
    moved,
    too_large,
)
from gitticks.git.objects.processes import is_large, write_by_git
from gitticks.git.process import TIME_LIMIT_SECONDS
from gitticks.git.refs import is_object_id
from gitticks.safe_read import read_plain_file

if TYPE_CHECKING:
    from gitticks.git.identity import Identity

_LONGEST_HEADER = 64
_LARGEST_CACHED_TREE = 256 * 1024
"""The folder of all tasks has a thousand entries; by default libgit2 would read it again at every look."""
_FILE, _PROGRAM, _FOLDER = 0o100644, 0o100755, 0o040000
_MOVED_WORDS = ("does not match", "already exists", "not found")
_LOCKED_WORDS = ("failed to lock file", "failed to create locked file")
_KINDS = {int(kind): kind.name.lower() for kind in ObjectType if kind.name is not None}
_sync_switch = threading.Lock()
_Folder = dict[str, "_File | _Folder | None"]
"""Changes by name: files, None for one to remove, and those within a folder."""


class _File(NamedTuple):
    content: bytes
    is_executable: bool


class Libgit2Objects(Objects):
    """A SHA-1 database, read and written by libgit2."""

    @cached_property
    def _folder(self) -> str:
        return f"{self.common_dir}/objects"

    @cached_property
    def _handle(self) -> pygit2.Repository:
        pygit2.settings.cache_object_limit(ObjectType.TREE, _LARGEST_CACHED_TREE)
        # Git has checked the owner, by more rules than libgit2 knows.
        pygit2.settings.owner_validation = False
        with errors_of_reading(f"`{self.common_dir}` cannot be opened"):
            return pygit2.Repository(str(self.common_dir))

    def has(self, object_id: str) -> bool:
        """True if the object is stored here."""
        with self._lock, errors_of_reading(f"the object `{object_id}` cannot be read"):
            return is_object_id(object_id) and object_id in self._handle

    def merge_base(self, one: str, other: str, *, timeout_seconds: float = TIME_LIMIT_SECONDS) -> str | None:
        """Returns the best common ancestor of two commits; git finds those that have other names than their ids."""
        if not (is_object_id(one) and is_object_id(other)):
            return super().merge_base(one, other, timeout_seconds=timeout_seconds)
        with self._lock, errors_of_reading(f"`{one}` and `{other}` cannot be compared"):
            found = self._handle.merge_base(pygit2.Oid(hex=one), pygit2.Oid(hex=other))
        return str(found) if found is not None else None

    def borrow_from(self, folders: Iterable[Path]) -> None:
        """Makes the objects in other folders readable too."""
        self.borrows = True
        for folder in folders:
            self._handle.odb.add_disk_alternate(str(folder))

    def write_blob(self, content: bytes, *, synced: bool = True) -> str:
        """Stores a blob and returns its id."""
        with self._lock, errors_of_writing(self.common_dir):
            made = str(self._handle.create_blob(content))
        if synced:
            self.sync((made,))
        return made

    def write_commit(
        self,
        parents: Sequence[str],
        changes: Mapping[str, bytes | None],
        *,
        author: Identity,
        message: str,
        executable: Mapping[str, bool] = AS_IS,
    ) -> StoredCommit:
        """Stores a commit; a large one by git, as a pack."""
        with self._lock:
            base = self.tree_of(parents[0]) if parents else None
            programs = self._place(base, changes, executable)
            if is_large(changes):
                commit = write_by_git(self, parents, changes, programs, author=author, message=message)
                return StoredCommit(commit, (commit,))
            with errors_of_writing(self.common_dir):
                return self._write_commit(base, parents, _by_folder(changes, programs), author, message)

    def move_ref(
        self, ref: str, old: str | None, new: str | None, message: str, *, who: Identity | None = None
    ) -> None:
        """Moves `ref` from `old` to `new`, atomically against every other process, git included."""
        with self._lock, errors_of_writing(self.common_dir):
            try:
                with _syncing():
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
        changes: _Folder,
        author: Identity,
        message: str,
    ) -> StoredCommit:
        made: list[str] = []
        tree = self._write_tree(base, changes, made)
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
                entry = None if change is None else str(self._handle.create_blob(change.content))
                mode = _PROGRAM if change is not None and change.is_executable else _FILE
                made += [] if entry is None else [entry]
            if entry is not None:
                builder.insert(name, entry, mode)
            elif current is not None:
                builder.remove(name)
        if len(builder) == 0:
            return None
        made.append(str(builder.write()))
        return made[-1]

    def _read(self, object_id: str) -> tuple[str, bytes]:
        try:
            return read_loose(self._folder, object_id) or self._read_packed(object_id)
        except errors_of_libgit2():  # a `with` would cost each good read too
            with errors_of_reading(f"the object `{object_id}` cannot be read"):
                raise

    def _read_packed(self, object_id: str) -> tuple[str, bytes]:
        try:
            return self._read_by_libgit2(object_id)
        except KeyError:
            fetch_missing(self.common_dir, object_id)
            return self._read_by_libgit2(object_id)

    def _read_by_libgit2(self, object_id: str) -> tuple[str, bytes]:
        odb = self._handle.odb
        name = pygit2.Oid(hex=object_id)
        if is_too_large(odb.read_header(name)[1]):
            raise too_large(object_id)
        kind, content = odb.read(name)
        return _KINDS[int(kind)], content


@contextlib.contextmanager
def _syncing() -> Iterator[None]:
    """Lets libgit2 sync what it writes; that switch is the whole process's, and noted as a ref is first looked at."""
    with _sync_switch:
        pygit2.settings.enable_fsync_gitdir(True)
        try:
            yield
        finally:
            pygit2.settings.enable_fsync_gitdir(False)


def _by_folder(changes: Mapping[str, bytes | None], programs: Collection[str]) -> _Folder:
    top: _Folder = {}
    written = {path for path, content in changes.items() if content is not None}
    for path, content in changes.items():
        if content is None and not written.isdisjoint(folders_of(path)):
            continue  # it goes with the folder, in whose place a file comes
        *folders, name = path.split("/")
        inner = top
        for folder in folders:
            found = inner.setdefault(folder, {})
            if not isinstance(found, dict):  # a file to remove, in whose place a folder comes
                found = inner[folder] = {}
            inner = found
        inner.setdefault(name, None if content is None else _File(content, path in programs))
    return top


def _adds(changes: _Folder) -> bool:
    """True if anything in the folder is more than removed."""
    return any(
        _adds(change) if isinstance(change, dict) else change is not None for change in changes.values()
    )


def read_loose(folder: Path | str, object_id: str) -> tuple[str, bytes] | None:
    """Returns kind and content of a loose object of the SHA-1 database `folder`; None if it has no file of its own.

    libgit2 must not touch a damaged one: up to 1.9 it never returns from a file that is cut off (its issue 7342), and it
    writes outside of its memory where an object is longer than it claims (7177).

    Raises:
        ValueError: the file is damaged, or holds another object.
        OSError: it is not a plain file, or cannot be read.
        TooLargeError: the object is too large to be read.
    """
    try:
        packed = read_plain_file(f"{folder}/{object_id[:2]}/{object_id[2:]}", 2 * failures.MOST_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if error.errno == errno.EFBIG:
            raise too_large(object_id) from None
        raise
    whole = _unpacked(packed)
    if is_too_large(len(whole)):
        raise too_large(object_id)
    if hashlib.sha1(whole, usedforsecurity=False).hexdigest() != object_id:
        raise ValueError("its file contains something else")
    header, _, content = whole.partition(b"\0")
    kind, _, size = header[:_LONGEST_HEADER].partition(b" ")
    if size != b"%d" % len(content):
        raise ValueError("its file has the wrong size")
    return kind.decode("ascii", "replace"), content


def _unpacked(packed: bytes) -> bytes:
    """Returns what was packed, or as much of it as shows that it is too large."""
    unpacking = zlib.decompressobj()
    try:
        whole = unpacking.decompress(packed, failures.MOST_BYTES + 1)
    except zlib.error as error:
        raise ValueError(f"its file is damaged: {error}") from None
    if not unpacking.eof and len(whole) <= failures.MOST_BYTES:
        raise ValueError("its file is cut off")
    return whole
