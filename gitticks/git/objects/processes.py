"""The object database through git itself: for single changes, and for formats that libgit2 cannot read."""

from __future__ import annotations

import contextlib
import hashlib
import os
import subprocess
import tempfile
import time
import weakref
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple

from gitticks.errors import GitticksError
from gitticks.git.disk import sync_files
from gitticks.git.objects.database import AS_IS, MoveRef, Objects, StoredCommit
from gitticks.git.objects.failures import (
    errors_of_writing,
    fetch_missing,
    is_too_large,
    locked,
    moved,
    require_written,
    too_large,
)
from gitticks.git.objects.trees import walk_differences
from gitticks.git.process import GitError, finish_git, printable, run_git, start_git
from gitticks.git.refs import folder_of_ref, is_object_id, read_symbolic_ref

if TYPE_CHECKING:
    from gitticks.git.identity import Identity


_MOVED_WORDS = (
    "but expected",
    "reference already exists",
    "unable to resolve reference",
    "reference is missing",
)
_LOCKED_WORDS = (".lock': File exists", "cannot lock references")
"""What git says of refs in files, and of those in a reftable."""
_REFTABLE_LOCK_MS = 2000
_PROMISED = "from promisor remote"
"""What git says, and ends, where an object was left with the remote of a partial clone."""
_MOST_LOOSE_FILES = 100
_PACKED = ("core.fsync=pack,pack-metadata", "fastimport.unpackLimit=1")
_LOOSE = ("core.fsync=none", "fastimport.unpackLimit=1000000")
"""A pack is on disk when git ends; for files of their own the caller waits, together with others."""


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

    def write_blob(self, content: bytes, *, synced: bool = True) -> str:
        """Stores a blob and returns its id."""
        fsync = f"core.fsync={'all' if synced else 'none'}"
        asked = ["-c", fsync, "hash-object", "-w", "--no-filters", "--stdin"]
        done = run_git(asked, repository_dir=self.common_dir, input=content, check=False)
        require_written(done, self.common_dir)
        return done.text

    def write_commit(
        self,
        parents: Sequence[str],
        changes: Mapping[str, bytes | None],
        *,
        author: Identity,
        message: str,
        executable: Mapping[str, bool] = AS_IS,
    ) -> StoredCommit:
        """Stores a commit by `git fast-import`."""
        base = self.tree_of(parents[0]) if parents else None
        programs = self._place(base, changes, executable)
        commit = write_by_git(self, parents, changes, programs, author=author, message=message)
        if is_large(changes):
            return StoredCommit(commit, (commit,))
        tree = self.tree_of(commit)
        changed = walk_differences(self.changed_entries, (base, tree), "")
        new = (after.object_id for _, _, after in changed if after is not None)
        return StoredCommit(commit, (tree, *new, commit))

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
            [
                *("-c", "core.fsync=reference", "-c", f"reftable.lockTimeout={_REFTABLE_LOCK_MS}"),
                *("update-ref", "-m", message, "--stdin"),
            ],
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
        if any(sign in done.stderr for sign in _LOCKED_WORDS):
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


def is_large(changes: Mapping[str, bytes | None]) -> bool:
    """True for a change that becomes a pack."""
    return len(changes) > _MOST_LOOSE_FILES


def write_by_git(
    objects: Objects,
    parents: Sequence[str],
    changes: Mapping[str, bytes | None],
    programs: Collection[str],
    *,
    author: Identity,
    message: str,
) -> str:
    """Stores the commit and returns its id; `programs` are executable, the rest is as in `Objects.write_commit`.

    `git fast-import` would move a branch as it ends, and takes any fast-forward, so it is given an empty repository of its
    own that only shares the folder of the objects. A large change becomes a pack, since a file each costs most of a large
    import.
    """
    with tempfile.TemporaryDirectory(prefix="gitticks-") as name:
        scratch = Path(name)
        (scratch / "refs").mkdir()
        (scratch / "HEAD").write_text("ref: refs/heads/none\n")
        (scratch / "config").write_text(
            f"[core]\n\trepositoryformatversion = 1\n\tbare = true\n[extensions]\n\tobjectformat = {objects.object_format}\n"
        )
        stream = b"".join(_stream(parents, changes, programs, author, message))
        options = [word for one in (_PACKED if is_large(changes) else _LOOSE) for word in ("-c", one)]
        done = run_git(
            [*options, "fast-import", "--quiet", "--date-format=raw"],
            repository_dir=scratch,
            input=stream,
            extra_environment={"GIT_OBJECT_DIRECTORY": str(objects.common_dir / "objects")},
            check=False,
        )
    require_written(done, objects.common_dir)
    if not is_object_id(done.text):
        raise GitticksError(f"`git fast-import` answered `{ascii(done.text[:80])[1:-1]}`")
    return done.text


def _stream(
    parents: Sequence[str],
    changes: Mapping[str, bytes | None],
    programs: Collection[str],
    author: Identity,
    message: str,
) -> Iterator[bytes]:
    now = int(time.time())
    minutes = time.localtime(now).tm_gmtoff // 60
    zone = f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}{abs(minutes) % 60:02}"
    yield b"commit refs/heads/new\nmark :1\n"
    yield f"committer {author.name} <{author.email}> {now} {zone}\n".encode()
    yield _data(message.encode())
    for number, parent in enumerate(parents):
        yield f"{'merge' if number else 'from'} {parent}\n".encode()
    # What is removed goes first, so that a folder can take a file's place.
    for path, content in sorted(changes.items(), key=lambda change: change[1] is not None):
        if content is None:
            yield b"D %s\n" % _quoted(path)
        else:
            yield b"M %s inline %s\n" % (b"100755" if path in programs else b"100644", _quoted(path))
            yield _data(content)
    yield b"\nget-mark :1\n"


def _data(content: bytes) -> bytes:
    return b"data %d\n%s\n" % (len(content), content)


def _quoted(path: str) -> bytes:
    plain = path.encode("utf-8", "surrogateescape")
    return b'"%s"' % plain.replace(b"\\", b"\\\\").replace(b'"', b'\\"').replace(b"\n", b"\\n")
