"""Kernel locks of ours, and the removal of lock files that killed git processes left.

Writers queue on an `flock` and the ref's compare-and-swap stays what makes a write right: git itself, and other
programs, take no lock of ours. While a writer has the lock and moves a ref, its lock file says which. Whoever takes
the lock next and still finds that note knows that the writer was killed in between, and that a `<ref>.lock` may be
what it left behind. A lock file of git's is removed only if every possible holder is known to be dead.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import stat
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import takewhile
from pathlib import Path
from shlex import quote

from gitticks.errors import GitticksError, LostRaceError
from gitticks.git.checkouts import Checkout, linked_places
from gitticks.git.files import errors_name
from gitticks.git.refs import BRANCHES
from gitticks.processes import is_alive, own_identity, parse_identity, start_times

GIT_WAIT_SECONDS = 2.0
AGE_SECONDS = 30.0
"""Git holds a lock for moments, or for as long as a person's editor is open in that checkout."""
_OTHERS_SECONDS = 1.0
"""Libraries and editors take locks too, without a process named git; for an instant."""
_LOOK_SECONDS = 0.1
_OF_A_CHECKOUT = ("index.lock", "HEAD.lock", "config.worktree.lock")
WAIT_SECONDS = 30.0
_CLOCK_SLACK_SECONDS = 1.0
_HOLDER_BYTES = 256
_MOVING = "moving "
LOCK_SIZES = frozenset({0, 41, 65})


def clear_abandoned_locks(
    checkout: Checkout, branch: str, *, wait_seconds: float = GIT_WAIT_SECONDS
) -> tuple[Path, ...]:
    """Removes what dead gits left locked of a workspace and its branch, and returns the locks that may be held.

    To be called when no agent works there. A lock whose taker may live is waited for.
    """
    ref = checkout.common_dir / f"{BRANCHES}{branch}.lock"
    locks = [ref, *(checkout.git_dir / name for name in _OF_A_CHECKOUT)]
    return _clear(checkout.common_dir, locks, wait_seconds, near=[checkout.path])


def clear_shared_locks(
    common_dir: Path, *names: str, wait_seconds: float = GIT_WAIT_SECONDS
) -> tuple[Path, ...]:
    """Removes what dead gits left locked of files that all checkouts share, and returns the locks that may be held.

    The names, from the git directory, are refs, `HEAD`, `packed-refs`, `config`; a lock whose taker may live is waited
    for.
    """
    locks = [common_dir / f"{name}.lock" for name in names]
    return _clear(common_dir, locks, wait_seconds, others_seconds=_OTHERS_SECONDS)


def _clear(
    common_dir: Path,
    locks: Sequence[Path],
    wait_seconds: float,
    *,
    near: Sequence[Path] | None = None,
    others_seconds: float = 0.0,
) -> tuple[Path, ...]:
    """Removes the locks that nobody may have, and returns the others: a git that works in this repository may.

    An old lock only one that works in one of the `near` folders, a fresh one, for `others_seconds`, any program.
    """
    if not any(lock.exists() for lock in locks):
        return ()
    places = [common_dir, common_dir.parent, *(place for _, place in linked_places(common_dir))]

    def may_be_held(lock: os.stat_result) -> bool:
        is_fresh = time.time() - lock.st_mtime < others_seconds
        return is_fresh or _may_have_a_living_taker(lock, places, places if near is None else near)

    end = time.monotonic() + wait_seconds
    while left := tuple(lock for lock in locks if not _is_gone(lock, may_be_held)):
        if time.monotonic() > end:
            return left
        time.sleep(_LOOK_SECONDS)
    return ()


def _is_gone(lock: Path, may_be_held: Callable[[os.stat_result], bool]) -> bool:
    """True once the lock is gone; it is removed if it is the same at two looks, between which nobody can have it."""
    first = _stat(lock)
    if first is None:
        return True
    if may_be_held(first):
        return False
    time.sleep(_LOOK_SECONDS)
    second = _stat(lock)
    if second is None:
        return True
    if (first.st_ino, first.st_mtime_ns) != (second.st_ino, second.st_mtime_ns):
        return False
    lock.unlink(missing_ok=True)
    return True


def _may_have_a_living_taker(
    lock: os.stat_result, places: Sequence[Path] = (), near: Sequence[Path] = ()
) -> bool:
    """True unless it is certain that no git that runs in one of the `places` was there when the lock was made.

    Git closes a ref's lock before it renames it, so no open file tells who has one; but a taker is older than what
    it took. Of an old lock only a git in one of the `near` places may be the taker.
    """
    # A lock from the future was made before the clock was set back: its age is unknown, and nobody makes such now.
    is_old = abs(time.time() - lock.st_mtime) > AGE_SECONDS
    if is_old and not near:
        return False
    starts = start_times("git", inside=near if is_old else places)
    if starts is None:
        return not is_old
    return any(start <= lock.st_mtime + _CLOCK_SLACK_SECONDS for start in starts)


class HeldLock:
    """A lock of ours while it is held; `unfinished` is the ref that an earlier holder was moving when it died."""

    def __init__(self, descriptor: int, unfinished: str | None) -> None:
        self.descriptor, self.unfinished = descriptor, unfinished

    @contextlib.contextmanager
    def moving(self, ref: str) -> Iterator[None]:
        """Notes in the lock file that `ref` is being moved, and takes the note back whatever the outcome."""
        self.write_note(f"{_MOVING}{ref}\n")
        try:
            yield
        finally:
            self.write_note("")

    def write_note(self, note: str) -> None:
        """Writes lines below the holder's, in place of those there, unsynced: after a crash nobody believes them.

        The file keeps its length if it can, because making it shorter may have to wait for the disk.
        """
        _write_all(self.descriptor, note.encode() + b"\n", _HOLDER_BYTES)

    def read_note(self) -> str:
        """Returns the lines that `write_note` left, this holder or an earlier one."""
        return _note(_read(self.descriptor))


def peek_note(path: Path) -> str:
    """Returns the note in a lock file that somebody else may hold and write at this moment, so its end may be torn."""
    try:
        return _note(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):  # refs of a reftable are no files
        return ""


@contextlib.contextmanager
def hold_lock(path: Path, *, wait_seconds: float = WAIT_SECONDS) -> Iterator[HeldLock]:
    """Holds the lock file `path`, made if missing; writers get it in the order they asked.

    Raises:
        LostRaceError: it was not free within `wait_seconds`; the message names the holder.
        GitticksError: the file cannot be opened.
    """
    descriptor = _open(path)
    try:
        if not _take_now(descriptor):
            # A waiter that gives up would still get the lock for an instant, once it is free.
            if wait_seconds <= 0:
                raise _lost_race(path, descriptor, wait_seconds)
            descriptor = _take_in_turn(path, descriptor, wait_seconds)
        with errors_name(path):
            note = _note(_read(descriptor)).partition("\n")[0]
            held = HeldLock(descriptor, note.removeprefix(_MOVING) if note.startswith(_MOVING) else None)
            # Always as long, so that the note below stays where it is.
            holder = own_identity().to_json().encode().ljust(_HOLDER_BYTES - 1)
            _write_all(descriptor, holder + b"\n", 0)
        yield held
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def hold_lock_if_possible(path: Path, *, wait_seconds: float = WAIT_SECONDS) -> Iterator[bool]:
    """Holds a lock that going on matters more than, as on a full or read-only disk; yields whether it is held."""
    with contextlib.ExitStack() as held:
        is_locked = False
        with contextlib.suppress(GitticksError, OSError):
            held.enter_context(hold_lock(path, wait_seconds=wait_seconds))
            is_locked = True
        yield is_locked


def clear_stale_ref_lock(common_dir: Path, ref: str, held: HeldLock) -> bool:
    """Removes `<ref>.lock` if its holder is dead, and returns whether the way is free.

    To be called with our lock held, after the ref could not be locked. A lock that a killed holder of ours noted is
    removed once it was seen twice. Any other is some program's: it is removed only if it is older than any program
    keeps it. Before either it must be the same file at both looks, of a size that git gives its ref locks.
    """

    def may_be_held(lock: os.stat_result) -> bool:
        is_of_git = lock.st_size in LOCK_SIZES
        return not is_of_git or (held.unfinished != ref and _may_have_a_living_taker(lock))

    is_gone = _is_gone(common_dir / f"{ref}.lock", may_be_held)
    if is_gone and held.unfinished == ref:
        held.unfinished = None
    return is_gone


def is_no_lock_of_git(common_dir: Path, ref: str) -> bool:
    """True for a `<ref>.lock` that git did not write and that has lain there for long: waiting for it is no use."""
    lock = _stat(common_dir / f"{ref}.lock")
    return lock is not None and lock.st_size not in LOCK_SIZES and not _may_have_a_living_taker(lock)


def _open(path: Path) -> int:
    flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NONBLOCK
    try:
        try:
            descriptor = os.open(path, flags, 0o666)
        except FileNotFoundError:
            _make_folder(path.parent)
            descriptor = os.open(path, flags, 0o666)
    except OSError as error:
        if os.path.lexists(path) and not path.is_file():
            raise _no_lock_file(path) from error
        raise GitticksError(
            f"the lock `{path}` cannot be opened: {error.strerror}",
            hint=f"`ls -ld {quote(str(path.parent))}` shows who can write",
        ) from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise _no_lock_file(path)
    return descriptor


def _no_lock_file(path: Path) -> GitticksError:
    return GitticksError(
        f"the lock `{path}` is not a regular file",
        hint=f"`mv {quote(str(path))} {quote(f'{path}.old')}` moves it aside",
    )


def _make_folder(folder: Path) -> None:
    """Makes the folder of a lock, but no git directory: one that was moved away could not be moved back."""
    for one in (folder, *folder.parents):
        if one.name == "gitticks" and one.parent.name.endswith(".git") and not one.parent.is_dir():
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(one.parent))
    folder.mkdir(parents=True, exist_ok=True)


def _take_now(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
            return False
        raise GitticksError(
            f"the file system has no locks: {error.strerror}",
            hint="`df .` shows it; move the clone to a local disk",
        ) from error
    return True


class _Waiter(threading.Thread):
    """Queues for the lock in the kernel, where waiting is in turn, so that asking again and again starves nobody.

    If nobody waits for it any more once it has the lock, it gives it back by closing its file.
    """

    def __init__(self, descriptor: int) -> None:
        super().__init__(daemon=True, name="gitticks-lock")
        self.descriptor = descriptor
        self.done = threading.Event()
        self.guard = threading.Lock()
        self.is_abandoned = False

    def run(self) -> None:
        try:
            fcntl.flock(self.descriptor, fcntl.LOCK_EX)
        except OSError:
            return
        with self.guard:
            if self.is_abandoned:
                os.close(self.descriptor)
            else:
                self.done.set()

    def abandon(self) -> bool:
        """Gives up waiting; returns False if the lock was got in the last moment."""
        with self.guard:
            self.is_abandoned = not self.done.is_set()
            return self.is_abandoned


def _take_in_turn(path: Path, descriptor: int, wait_seconds: float) -> int:
    """Waits for the lock on a file description of the waiter's own and returns that, closing the first."""
    waiter = _Waiter(_open(path))
    waiter.start()
    try:
        waiter.done.wait(wait_seconds)
    except BaseException:
        if not waiter.abandon():
            os.close(waiter.descriptor)
        raise
    if waiter.abandon():
        raise _lost_race(path, descriptor, wait_seconds)
    os.close(descriptor)
    return waiter.descriptor


def _lost_race(path: Path, descriptor: int, wait_seconds: float) -> LostRaceError:
    holder = parse_identity(_read(descriptor).partition(b"\n")[0].decode("utf-8", "replace"))
    who = f"process {holder.pid}" if holder is not None and is_alive(holder) else "another process"
    return LostRaceError(
        f"`{path}` was held for {wait_seconds:g} s by {who}",
        hint="run the command again when it has finished",
    )


def _note(content: bytes) -> str:
    """Returns the note's lines, up to an empty one: what follows is left of a longer note."""
    lines = content[_HOLDER_BYTES:].decode("utf-8", "replace").split("\n")
    return "\n".join(takewhile(bool, lines))


def _write_all(descriptor: int, content: bytes, offset: int) -> None:
    while content:
        written = os.pwrite(descriptor, content, offset)
        content, offset = content[written:], offset + written


def _read(descriptor: int) -> bytes:
    return os.pread(descriptor, os.fstat(descriptor).st_size, 0)


def _stat(lock: Path) -> os.stat_result | None:
    try:
        return lock.lstat()
    except (FileNotFoundError, NotADirectoryError):  # refs of a reftable are no files
        return None
