"""The object database through git itself: for single changes, and for formats that libgit2 cannot read."""

from __future__ import annotations

import contextlib
import hashlib
import os
import subprocess
import weakref
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple

from gitticks.errors import GitticksError
from gitticks.git.disk import sync_files
from gitticks.git.objects.database import MoveRef, Objects
from gitticks.git.objects.failures import (
    errors_of_writing,
    fetch_missing,
    is_too_large,
    locked,
    moved,
    require_written,
    too_large,
)
from gitticks.git.process import GitError, finish_git, printable, start_git
from gitticks.git.refs import folder_of_ref, is_object_id, read_symbolic_ref

if TYPE_CHECKING:
    from gitticks.git.identity import Identity


_MOVED_WORDS = (
    "but expected",
    "reference already exists",
    "unable to resolve reference",
    "reference is missing",
)
_LOCKED_WORDS = ".lock': File exists"
_PROMISED = "from promisor remote"
"""What git says, and ends, where an object was left with the remote of a partial clone."""


class _Reader(NamedTuple):
    """A running `git cat-file --batch-command`, the process that started it, and what ends it with its database."""

    owner: int
    asks: IO[bytes]
    answers: IO[bytes]
    finalizer: weakref.finalize[[subprocess.Popen[bytes], int], ProcessObjects]


class ProcessObjects(Objects):
    """A database of any format that the installed git knows."""

    def __init__(self, common_dir: Path, object_format: str) -> None:
        super().__init__(common_dir, object_format)
        self._reader: _Reader | None = None
        self._borrowed: list[str] = []

    def has(self, object_id: str) -> bool:
        """True if the object is stored here."""
        with self._lock:
            return self._ask("info", object_id) is not None

    def borrow_from(self, folders: Iterable[Path]) -> None:
        """Makes the objects in other folders readable too."""
        self.borrows = True
        self._borrowed += [str(folder) for folder in folders]
        self._stop_reader()

    def move_ref(
        self, ref: str, old: str | None, new: str | None, message: str, *, who: Identity | None = None
    ) -> None:
        """Moves `ref` from `old` to `new` by `git update-ref`."""
        with self.ready_to_move(message, who) as move:
            move(ref, old, new)

    @contextlib.contextmanager
    def ready_to_move(self, message: str, who: Identity | None) -> Iterator[MoveRef]:
        """Yields what moves a ref; its git has started by then and waits to be told which."""
        waiting = [self._start_move(message, who)]

        def move(ref: str, old: str | None, new: str | None) -> None:
            self._move_ref(ref, old, new, waiting.pop() if waiting else self._start_move(message, who))

        try:
            yield move
        finally:
            for unused in waiting:
                finish_git(unused, ["update-ref"], b"")

    def _start_move(self, message: str, who: Identity | None) -> subprocess.Popen[bytes]:
        return start_git(
            ["-c", "core.fsync=reference", "update-ref", "-m", message, "--stdin"],
            repository_dir=self.common_dir,
            extra_environment={} if who is None else who.variables(),
        )

    def _move_ref(self, ref: str, old: str | None, new: str | None, git: subprocess.Popen[bytes]) -> None:
        if read_symbolic_ref(self.common_dir, ref) is not None:
            finish_git(git, ["update-ref"], b"")
            raise GitticksError(
                f"`{ref}` is a symbolic ref", hint=f"`git symbolic-ref --delete {ref}` removes it"
            )
        nothing = "0" * hashlib.new(self.object_format).digest_size * 2
        if new is not None:
            change = f"update {ref} {new} {old or nothing}"
        else:
            change = f"verify {ref} {nothing}" if old is None else f"delete {ref} {old}"
        done = finish_git(git, ["update-ref"], f"option no-deref\n{change}\n".encode())
        if any(sign in done.stderr for sign in _MOVED_WORDS):
            raise moved(ref)
        if _LOCKED_WORDS in done.stderr:
            raise locked(self.common_dir, ref)
        require_written(done, self.common_dir)
        with errors_of_writing(self.common_dir):
            folder = folder_of_ref(self.common_dir, ref)
            if folder.is_dir():  # git removes one that it emptied
                sync_files([], [str(folder)])  # git syncs the new content, and not that it has its name

    def _read(self, object_id: str) -> tuple[str, bytes]:
        found = self._ask("info", object_id)
        if found is None:
            fetch_missing(self.common_dir, object_id)
            self._stop_reader()
            found = self._ask("info", object_id)
        if found is not None and is_too_large(found[1]):
            raise too_large(object_id)
        found = self._ask("contents", object_id)
        if found is None:
            raise GitticksError(
                f"the object `{object_id}` cannot be read: git does not find it",
                hint="`git fsck` looks for damage",
            )
        kind, size = found
        answers = self._running().answers
        content = answers.read(size + 1)[:-1]
        if len(content) != size:
            raise self._broken_off(object_id)
        if self.blob_id(content, kind) != object_id:  # which git leaves to its fsck
            raise GitError(
                f"the object `{object_id}` cannot be read: it contains something else",
                hint="`git fsck` looks for damage",
            )
        return kind, content

    def _ask(self, what: str, object_id: str) -> tuple[str, int] | None:
        """Returns kind and size of an object; None if it is not stored."""
        if not is_object_id(object_id):
            return None
        reader = self._running()
        try:
            reader.asks.write(f"{what} {object_id}\n".encode())
            reader.asks.flush()
            line = reader.answers.readline().decode("ascii", "replace").split()
        except OSError:
            line = []
        if len(line) == 2 and line[1] == "missing":  # noqa: PLR2004 - id and word
            return None
        if len(line) != 3:  # noqa: PLR2004 - id, kind and size
            error = self._broken_off(object_id)
            if _PROMISED in error.message:
                return None
            raise error
        return line[1], int(line[2])

    def _running(self) -> _Reader:
        if self._reader is not None and self._reader.owner != os.getpid():
            self._stop_reader()  # a forked child would take its parent's answers
        if self._reader is None:
            extra = {"GIT_ALTERNATE_OBJECT_DIRECTORIES": os.pathsep.join(self._borrowed)}
            process = start_git(
                ["cat-file", "--batch-command"],
                repository_dir=self.common_dir,
                extra_environment=extra if self._borrowed else {},
            )
            if process.stdin is None or process.stdout is None:
                raise AssertionError("git was started without pipes")
            owner = os.getpid()
            finalizer = weakref.finalize(self, _stop, process, owner)
            self._reader = _Reader(owner, process.stdin, process.stdout, finalizer)
        return self._reader

    def _broken_off(self, object_id: str) -> GitError:
        """Ends the reader, which ended or is out of step, and returns what it said."""
        words = self._stop_reader()
        reason = printable(words).removeprefix("fatal: ").removeprefix("error: ") or "git ended"
        return GitError(
            f"the object `{object_id}` cannot be read: {reason}", hint="`git fsck` looks for damage"
        )

    def _stop_reader(self) -> str:
        """Ends the reader, if there is one, and returns what it wrote to stderr."""
        with self._lock:
            reader, self._reader = self._reader, None
            return "" if reader is None else str(reader.finalizer())


def _stop(process: subprocess.Popen[bytes], owner: int) -> str:
    """Ends a reader, which ends by itself once nobody can ask it, and returns what it wrote to stderr.

    A forked child of the owner only closes its copies of the pipes: the reader continues for the owner.
    """
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()
    is_owner = os.getpid() == owner
    words = process.stderr.read() if is_owner and process.stderr is not None else b""
    if process.stderr is not None:
        process.stderr.close()
    if is_owner:
        process.wait()
    return words.decode("utf-8", "replace")
