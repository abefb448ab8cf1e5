"""The object database as the rest of gitticks sees it: read by id, changed by whole commits.

What both backends share stands here. A backend says how an object is read and how a commit is stored; everything else
follows from that. What is stored is on disk only after `sync`, so that several writers can share one wait for the disk.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import os
import re
import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from gitticks.errors import GitticksError
from gitticks.git.disk import sync_files
from gitticks.git.objects.failures import LostObjectError, errors_of_writing, is_too_large
from gitticks.git.objects.trees import (
    Entry,
    Parts,
    by_name,
    damaged,
    differing,
    entry_of,
    file_id,
    is_folder,
    split_tree,
    walk_differences,
)
from gitticks.git.process import TIME_LIMIT_SECONDS, GitError, printable, run_git
from gitticks.git.refs import OBJECT_ID

if TYPE_CHECKING:
    from gitticks.git.identity import Identity

AS_IS: Mapping[str, bool] = MappingProxyType({})
"""Nothing becomes executable, and nothing that is stops to be so."""
MoveRef = Callable[[str, str | None, str | None], None]
"""Moves a ref from one object id to another."""
_MOST_TREES_KEPT = 32
"""The folder of all tasks has a thousand entries, and each change looks at it several times."""
_MOST_CONTENTS_KEPT = 64
_LARGEST_KEPT = 64 * 1024
"""A change reads its task's files and the newest commits several times, and so does whatever follows it."""
_MOST_WALKED = 1000
_LINKS = {key: re.compile(rf"^{key} ({OBJECT_ID})(?= |$)", re.MULTILINE) for key in ("tree", "parent")}
"""By what they are: the lines of a commit's header that name other objects."""


class Change(NamedTuple):
    """A file that differs between two trees; an id is None where the file is missing or is not a plain file."""

    path: str
    old: str | None
    new: str | None


class StoredCommit(NamedTuple):
    """A commit that no ref names yet, and the objects that must be on disk before one does."""

    id: str
    objects: tuple[str, ...]


class Objects(ABC):
    """The object database that all worktrees of one repository share; threads may share it.

    `object_format` is the hash that names objects, `sha1` or `sha256`; `borrows` is true once `borrow_from` was called.
    """

    def __init__(self, common_dir: Path, object_format: str) -> None:
        self.common_dir = common_dir
        self.object_format = object_format
        self.borrows = False
        self._lock = threading.RLock()
        self._trees: dict[str, dict[bytes, Parts]] = {}
        self._contents: dict[str, tuple[str, bytes]] = {}

    @abstractmethod
    def has(self, object_id: str) -> bool:
        """True if the object is stored here."""

    @abstractmethod
    def write_blob(self, content: bytes, *, synced: bool = True) -> str:
        """Stores a blob and returns its id; it is on disk unless the caller will `sync` it."""

    @abstractmethod
    def write_commit(
        self,
        parents: Sequence[str],
        changes: Mapping[str, bytes | None],
        *,
        author: Identity,
        message: str,
        executable: Mapping[str, bool] = AS_IS,
    ) -> StoredCommit:
        """Stores a commit, made now in the local time zone.

        Its tree is that of the first parent, if there is one, with `changes` made to it: file contents by path; None
        removes the file, also one that is not there. Those that `executable` does not name stay as they are there.
        """

    @abstractmethod
    def move_ref(
        self, ref: str, old: str | None, new: str | None, message: str, *, who: Identity | None = None
    ) -> None:
        """Moves `ref` from `old` to `new`, atomically against every other process, git included.

        With None as `old` it must not exist, as `new` it is removed. `message` is one line for the reflog, in the name of
        `who` or of the user of git's configuration.

        Raises:
            RefMovedError: the ref is not at `old`.
            RefLockedError: its lock file is there.
            GitticksError: it is symbolic, or cannot be written.
        """

    @contextlib.contextmanager
    def ready_to_move(self, message: str, who: Identity | None) -> Iterator[MoveRef]:
        """Yields `move_ref` for these words, with all that takes time begun: for a move under a lock of others."""
        yield lambda ref, old, new: self.move_ref(ref, old, new, message, who=who)

    @abstractmethod
    def _read(self, object_id: str) -> tuple[str, bytes]:
        """Returns kind and content of an object."""

    @abstractmethod
    def borrow_from(self, folders: Iterable[Path]) -> None:
        """Makes the objects in other folders readable too."""

    def sync(self, object_ids: Iterable[str]) -> None:
        """Waits until the objects are on disk; they may be another process's.

        Raises:
            LostObjectError: one is no longer stored.
            GitticksError: something could not be written; none of them may be relied on.
        """
        folder = self.common_dir / "objects"
        paths = []
        for object_id in dict.fromkeys(object_ids):
            path = f"{folder}/{object_id[:2]}/{object_id[2:]}"
            if os.path.exists(path):  # noqa: PTH110 - asked often
                paths.append(path)
            elif not self.has(object_id):  # one in a pack was synced as that was made
                raise _lost(folder, object_id)
        folders = dict.fromkeys(os.path.dirname(path) for path in paths)  # noqa: PTH120 - strings all the way
        with errors_of_writing(self.common_dir):
            try:
                sync_files(paths, [*folders, str(folder)] if paths else [])
            except FileNotFoundError as error:
                raise _lost(folder, str(error.filename)) from error

    def tree_of(self, commit_id: str) -> str:
        """Returns the id of the commit's tree."""
        return self._links(commit_id, "tree")[0]

    def parents_of(self, commit_id: str) -> tuple[str, ...]:
        """Returns the ids of the commit's parents."""
        return self._links(commit_id, "parent")

    def commit_text(self, commit_id: str) -> str:
        """Returns the commit as git stores it: its headers, an empty line and the message."""
        return self._content(commit_id, "commit").decode("utf-8", "replace")

    def is_ancestor(self, old: str, new: str) -> bool:
        """True if `new` is the commit `old` or was made on top of it; False for one that is no longer stored.

        Only the commits since the parents of `old` are read, so damage further down is not in the way.
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
                asked = ["merge-base", "--is-ancestor", "--end-of-options", old, new]
                return run_git(asked, repository_dir=self.common_dir, check=False).code == 0
            seen.add(commit)
            with contextlib.suppress(GitticksError):
                waiting += self.parents_of(commit)
        return False

    def merge_base(self, one: str, other: str, *, timeout_seconds: float = TIME_LIMIT_SECONDS) -> str | None:
        """Returns the best common ancestor of two commits; None if they have none."""
        asked = ["merge-base", "--end-of-options", one, other]
        result = run_git(asked, repository_dir=self.common_dir, check=False, timeout_seconds=timeout_seconds)
        if result.code not in (0, 1):
            raise GitError(f"`git merge-base` failed: {printable(result.stderr)}", code=result.code)
        return result.text or None

    def read_blob(self, object_id: str) -> bytes:
        """Returns the bytes of a blob."""
        return self._content(object_id, "blob")

    def read_blobs(self, object_ids: Sequence[str]) -> dict[str, bytes]:
        """Returns the bytes of many blobs by id, those that can be read at once; of the others `read_blob` says why not.

        For each it takes a tenth of the time that reading it alone does, once git was started.
        """
        names = "".join(f"{object_id}\n" for object_id in object_ids).encode()
        run = functools.partial(run_git, repository_dir=self.common_dir, input=names, check=False)
        sizes = run(["cat-file", "--batch-check=%(objectsize)", "--buffer"]).stdout.split(b"\n")
        if is_too_large(sum(int(size) for size in sizes if size.isdigit())):
            return {}
        found = _batch(run(["cat-file", "--batch", "--buffer"]).stdout)
        return {object_id: content for object_id, content in found if self.blob_id(content) == object_id}

    def blob_id(self, content: bytes, kind: str = "blob") -> str:
        """Returns the id of a blob, or another kind of object, with this content, which need not be stored."""
        whole = b"%s %d\0%s" % (kind.encode(), len(content), content)
        return hashlib.new(self.object_format, whole, usedforsecurity=False).hexdigest()

    def blobs_at(self, commits: Sequence[str], path: str) -> list[str | None]:
        """Returns the id of what is at a path in each of many commits, which may be a symbolic link; None for nothing."""
        asked = "".join(f"{commit}:{path}\n" for commit in commits).encode("utf-8", "surrogateescape")
        done = run_git(
            ["cat-file", "--batch-check=%(objecttype) %(objectname)"],
            repository_dir=self.common_dir,
            input=asked,
            check=False,
        )
        answers = [line.split(" ") for line in done.text.split("\n")[: len(commits)]]
        found = [words[1] if words[0] == "blob" and len(words) > 1 else None for words in answers]
        return found + [None] * (len(commits) - len(found))

    def folder(self, tree_id: str) -> dict[str, Entry]:
        """Returns the tree's entries by name, in git's order."""
        return by_name(self.parts(tree_id))

    def find(self, tree_id: str, path: str) -> Entry | None:
        """Returns the entry at `path` below the tree, or None; no symbolic link is followed."""
        *folders, name = path.encode("utf-8", "surrogateescape").split(b"/")
        for folder in folders:
            inner = self._split(tree_id).get(folder)
            if inner is None or not is_folder(inner[0]):
                return None
            tree_id = inner[2].hex()
        parts = self._split(tree_id).get(name)
        return None if parts is None else entry_of(parts)

    def is_executable(self, tree_id: str, path: str) -> bool:
        """True if the tree has a file at `path` that may be run, whatever a checkout's disk says of it."""
        found = self.find(tree_id, path)
        return found is not None and found.is_executable

    def find_file(self, tree_id: str, path: str) -> str | None:
        """Returns the blob of the plain file at `path` below the tree; None if there is none."""
        return file_id(self.find(tree_id, path))

    def changed_files(self, old_tree: str | None, new_tree: str | None, folder: str = "") -> Iterator[Change]:
        """Yields every plain file that differs between two trees; equal subtrees are never opened."""
        for path, before, after in walk_differences(self.changed_entries, (old_tree, new_tree), folder):
            file_before, file_after = file_id(before), file_id(after)
            if file_before != file_after:
                yield Change(path, file_before, file_after)

    def refuse_excess(self, old: str | None, new: str) -> None:
        """Refuses a commit that holds more than anybody makes, before a checkout follows it from `old`."""
        for _ in self.changed_files(None if old is None else self.tree_of(old), self.tree_of(new)):
            pass

    def changed_entries(
        self, old_tree: str | None, new_tree: str | None
    ) -> Iterator[tuple[str, Entry | None, Entry | None]]:
        """Yields name, old and new entry of everything that differs directly in two trees, sorted by name."""
        if old_tree != new_tree:
            yield from differing(self.parts(old_tree), self.parts(new_tree))

    def _place(
        self, tree_id: str | None, changes: Mapping[str, bytes | None], executable: Mapping[str, bool]
    ) -> frozenset[str]:
        """Returns which files will be executable; refuses a file where a folder is, and a folder where a file is."""
        folders = {folder for path, new in changes.items() if new is not None for folder in folders_of(path)}
        both = folders.intersection(path for path, new in changes.items() if new is not None)
        if both:
            raise GitticksError(f"`{min(both)}` would be a file and a folder at once")
        programs = {path for path, is_program in executable.items() if is_program}
        if tree_id is None:
            return frozenset(programs)
        for folder in sorted(folders):
            found = self.find(tree_id, folder)
            is_removed = found is not None and found.is_file and changes.get(folder, b"") is None
            if found is not None and not found.is_tree and not is_removed:
                raise _in_the_way(folder, "a file where a folder is needed")
        for path in changes:
            found = self.find(tree_id, path)
            if found is not None and found.is_tree and not self._empties(found.object_id, path, changes):
                raise _in_the_way(path, "a folder where a file is needed")
            if found is not None and found.is_executable and path not in executable:
                programs.add(path)
        return frozenset(programs)

    def _empties(self, tree_id: str, folder: str, changes: Mapping[str, bytes | None]) -> bool:
        """True if changes remove all that is in a folder."""
        below = walk_differences(self.changed_entries, (None, tree_id), f"{folder}/")
        return all(
            entry is None or entry.is_tree or (entry.is_file and changes.get(path, b"") is None)
            for path, _, entry in below
        )

    def parts(self, tree_id: str | None) -> list[Parts]:
        """Returns mode, name and id of a tree's entries as they are stored; none for no tree."""
        return [] if tree_id is None else list(self._split(tree_id).values())

    def _split(self, tree_id: str) -> dict[bytes, Parts]:
        """Returns the tree's entries by name; the last few trees are kept."""
        found = self._trees.get(tree_id)
        if found is not None:
            return found
        with self._lock:
            found = self._trees.get(tree_id)
            if found is None:
                parts = split_tree(self._content(tree_id, "tree"), len(tree_id) // 2)
                if parts is None:
                    raise damaged(tree_id)
                if len(self._trees) >= _MOST_TREES_KEPT:
                    del self._trees[next(iter(self._trees))]
                found = self._trees[tree_id] = {entry[1]: entry for entry in parts}
            return found

    def _content(self, object_id: str, kind: str) -> bytes:
        with self._lock:
            found, content = self._contents.get(object_id) or self._read(object_id)
            if kind != "tree" and len(content) <= _LARGEST_KEPT and object_id not in self._contents:
                if len(self._contents) >= _MOST_CONTENTS_KEPT:
                    del self._contents[next(iter(self._contents))]
                self._contents[object_id] = found, content
        if found != kind:
            raise damaged(object_id)
        return content

    def _links(self, commit_id: str, key: str) -> tuple[str, ...]:
        header = self._content(commit_id, "commit").partition(b"\n\n")[0].decode("ascii", "replace")
        found = tuple(_LINKS[key].findall(header))
        if not found and key == "tree":
            raise damaged(commit_id)
        return found


def _batch(answers: bytes) -> Iterator[tuple[str, bytes]]:
    """Yields ids and contents of the blobs in what `git cat-file --batch` printed, up to where it broke off."""
    place = 0
    while (end := answers.find(b"\n", place)) >= 0:
        words = answers[place:end].split(b" ")
        place = end + 1
        if len(words) == 3:  # noqa: PLR2004 - id, kind and size; otherwise id and `missing`
            content = answers[place : place + int(words[2])]
            place += int(words[2]) + 1
            if words[1] == b"blob" and place <= len(answers):
                yield words[0].decode(), content


def _lost(folder: Path, name: str) -> LostObjectError:
    return LostObjectError(f"`{name}` was removed from `{folder}` while it was being committed")


def folders_of(path: str) -> Iterator[str]:
    """Yields the folders that a path lies in, the outermost first."""
    at = path.find("/")
    while at >= 0:
        yield path[:at]
        at = path.find("/", at + 1)


def _in_the_way(path: str, what: str) -> GitticksError:
    return GitticksError(f"`{path}` on the state branch is {what}", hint="`gt doctor` says where it is")
