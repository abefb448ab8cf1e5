"""The lock files that git's own commands leave where they were killed, and what can be told of who took them."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from gitticks.flocks import is_lock_held
from gitticks.git.indexlock import OWN_MARK
from gitticks.git.locks import FOREIGN_AGE_SECONDS, LOCK_SIZES, HeldLock, clear_stale_ref_lock, hold_lock
from gitticks.git.repository import Repository
from gitticks.processes import parse_identity
from gitticks.safe_read import read_plain_file

_OWN_REFS = ("refs/heads/gitticks", "refs/gitticks")
_LONGEST_NOTE = 4096
_MOST_BYTES = 1024**3


@dataclass(frozen=True, slots=True)
class LockFile:
    """A `.lock` of git's.

    Attributes:
        path: where it lies.
        ref: the ref that it locks; None for an index.
        age_seconds: how long it has been there.
        taker: the process that took it, where it says so.
        size_bytes: how large it is.
    """

    path: Path
    ref: str | None
    age_seconds: float
    taker: int | None
    size_bytes: int

    @property
    def is_of_git(self) -> bool:
        """True if it has a size that git gives the locks of its refs; only such are cleared."""
        return self.size_bytes in LOCK_SIZES

    @property
    def is_old(self) -> bool:
        """True if it is older than any command of git keeps one, short of an open editor."""
        return self.age_seconds > FOREIGN_AGE_SECONDS


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds a lock of ours: the process, None if it does not say, and since when."""

    pid: int | None
    seconds: float


def ref_locks(repository: Repository) -> tuple[LockFile, ...]:
    """Returns the locks of refs that are gitticks' own, sorted by path."""
    found = []
    for folder in _OWN_REFS:
        for path in sorted(_below(repository.common_dir / folder)):
            lock = _look(path, str(path.relative_to(repository.common_dir)).removesuffix(".lock"))
            if lock is not None:
                found.append(lock)
    return tuple(found)


def _below(folder: Path) -> Iterator[Path]:
    """Yields the lock files; a folder that goes away meanwhile, as with the last branch in it, holds none."""
    for parent, _, names in os.walk(folder):
        yield from (Path(parent, name) for name in names if name.endswith(".lock"))


def index_lock(git_dir: Path) -> LockFile | None:
    """Returns the lock of a checkout's index; None if it is free."""
    return _look(git_dir / "index.lock", None)


def holder_of(lock: Path) -> Holder | None:
    """Returns who holds a lock of ours; None if nobody does."""
    if not is_lock_held(lock):
        return None
    try:
        identity = parse_identity(lock.read_text(encoding="utf-8", errors="replace").partition("\n")[0])
        age = time.time() - lock.stat().st_mtime
    except OSError:
        return None
    return Holder(None if identity is None else identity.pid, max(0.0, age))


def clear_ref_locks(repository: Repository) -> tuple[LockFile, ...]:
    """Removes the locks of our refs whose takers are dead, and returns those that stayed.

    Raises:
        LostRaceError: a writer of ours is at work and does not end.
    """
    with hold_lock(repository.own_dir / "lock") as held:
        return tuple(_still_locked(repository, held))


def _still_locked(repository: Repository, held: HeldLock) -> Iterator[LockFile]:
    for lock in ref_locks(repository):
        if lock.ref is not None and not clear_stale_ref_lock(repository.common_dir, lock.ref, held):
            yield lock


def _look(path: Path, ref: str | None) -> LockFile | None:
    try:
        status = path.lstat()
        taker = _taker(path)
    except OSError:
        return None
    return LockFile(path, ref, max(0.0, time.time() - status.st_mtime), taker, status.st_size)


def _taker(path: Path) -> int | None:
    """Returns the process that a lock of ours names; git's own name nobody."""
    words = read_plain_file(path, _MOST_BYTES)[:_LONGEST_NOTE]
    number = os.fsdecode(words.removeprefix(OWN_MARK)).strip()
    return int(number) if words.startswith(OWN_MARK) and number.isdecimal() else None
