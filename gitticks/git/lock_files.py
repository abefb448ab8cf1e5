"""Lock files of killed git processes, removed only if every possible holder is known to be dead."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from gitticks.flocks import is_lock_held
from gitticks.git.checkouts import Checkout, linked_places
from gitticks.git.indexfile import OWN_MARK
from gitticks.git.locks import (
    FOREIGN_AGE_SECONDS,
    LOCK_SIZES,
    clear_stale_ref_lock,
    hold_lock,
    is_same_lock,
    look_at_lock,
)
from gitticks.git.refs import BRANCHES
from gitticks.git.repository import Repository
from gitticks.processes import parse_identity, start_times
from gitticks.safe_read import read_plain_file

_OWN_REFS = ("refs/heads/gitticks", "refs/gitticks")
_LONGEST_NOTE = 4096
_MOST_BYTES = 1024**3

WAIT_SECONDS = 2.0
AGE_SECONDS = 30.0
"""Git holds a lock for moments, or for as long as a person's editor is open in that checkout."""
_OTHERS_SECONDS = 1.0
"""Libraries and editors take locks too, without a process named git; for an instant."""
_LOOK_SECONDS = 0.1
_CLOCK_SLACK_SECONDS = 1.0
_OF_A_CHECKOUT = ("index.lock", "HEAD.lock", "config.worktree.lock")


class LockFile(NamedTuple):
    """A `.lock` of git's: of a ref, or None for an index, and by which process, where it says so."""

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


class Holder(NamedTuple):
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
        return tuple(
            lock
            for lock in ref_locks(repository)
            if lock.ref is not None and not clear_stale_ref_lock(repository.common_dir, lock.ref, held)
        )


def _look(path: Path, ref: str | None) -> LockFile | None:
    try:
        status = path.lstat()
        words = read_plain_file(path, _MOST_BYTES)[:_LONGEST_NOTE]
    except OSError:
        return None
    number = os.fsdecode(words.removeprefix(OWN_MARK)).strip()
    is_named = words.startswith(OWN_MARK) and number.isdecimal()  # git's own name nobody
    taker = int(number) if is_named else None
    return LockFile(path, ref, max(0.0, time.time() - status.st_mtime), taker, status.st_size)


class _Takers(NamedTuple):
    """Who may have a lock: a git that works in one of the `places`, of an old lock only in one of the `near` ones.

    Other programs have a lock for less than `others_seconds`.
    """

    places: Sequence[Path]
    near: Sequence[Path]
    others_seconds: float = 0.0

    def may_hold(self, lock: os.stat_result) -> bool:
        """True if such a git runs and is older than the lock, as its holder must be."""
        age = time.time() - lock.st_mtime
        is_old = age > AGE_SECONDS
        starts = start_times("git", inside=self.near if is_old else self.places)
        if starts is None:
            return not is_old
        return age < self.others_seconds or any(
            start <= lock.st_mtime + _CLOCK_SLACK_SECONDS for start in starts
        )


def clear_abandoned_locks(
    checkout: Checkout, branch: str, *, wait_seconds: float = WAIT_SECONDS
) -> tuple[Path, ...]:
    """Removes what dead gits left locked of a workspace and its branch, and returns the locks that may be held.

    To be called when no agent works there. A lock whose taker may live is waited for.
    """
    ref = checkout.common_dir / f"{BRANCHES}{branch}.lock"
    locks = [ref, *(checkout.git_dir / name for name in _OF_A_CHECKOUT)]
    takers = _Takers(_places(checkout.common_dir), [checkout.path])
    return _clear(locks, takers, wait_seconds)


def clear_shared_locks(common_dir: Path, *names: str, wait_seconds: float = WAIT_SECONDS) -> tuple[Path, ...]:
    """Removes what dead gits left locked of files that all checkouts share, and returns the locks that may be held.

    The names, from the git directory, are refs, `HEAD`, `packed-refs`, `config`; a lock whose taker may live is waited
    for.
    """
    locks = [common_dir / f"{name}.lock" for name in names]
    places = _places(common_dir) if any(lock.exists() for lock in locks) else []
    return _clear(locks, _Takers(places, places, others_seconds=_OTHERS_SECONDS), wait_seconds)


def _clear(locks: Sequence[Path], takers: _Takers, wait_seconds: float) -> tuple[Path, ...]:
    end = time.monotonic() + wait_seconds
    while left := tuple(lock for lock in locks if not _is_cleared(lock, takers)):
        if time.monotonic() > end:
            return left
        time.sleep(_LOOK_SECONDS)
    return ()


def _is_cleared(lock: Path, takers: _Takers) -> bool:
    """True once the lock is gone; it is removed if it is the same at two looks, between which nobody can have it."""
    first = look_at_lock(lock)
    if first is None:
        return True
    if takers.may_hold(first) or not is_same_lock(first, look_at_lock(lock)):
        return False
    lock.unlink(missing_ok=True)
    return True


def _places(common_dir: Path) -> list[Path]:
    """Returns where a git works that has a lock in this repository: its checkouts, and the git directory itself."""
    return [common_dir, common_dir.parent, *(place for _, place in linked_places(common_dir))]
