"""Clears the lock files that a killed git left, where every git that could hold them is known to be dead.

An agent that is killed in the middle of `git commit` leaves the index of its workspace locked, and the next agent
could do nothing about it.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gitticks.git.checkouts import Checkout, worktree_entries
from gitticks.git.refs import BRANCHES
from gitticks.processes import start_times
from gitticks.safe_read import read_plain_file

WAIT_SECONDS = 2.0
AGE_SECONDS = 30.0
"""Git holds a lock for moments, or for as long as a person's editor is open in that checkout."""
_OTHERS_SECONDS = 1.0
"""Libraries and editors take locks too, without a process named git; for an instant."""
_LOOK_SECONDS = 0.1
_CLOCK_SLACK_SECONDS = 1.0
_OF_A_CHECKOUT = ("index.lock", "HEAD.lock", "config.worktree.lock")


@dataclass(frozen=True, slots=True)
class _Look:
    """What tells one lock file from the next of its name; `made` is in seconds since 1970."""

    inode: int
    made: float


@dataclass(frozen=True, slots=True)
class _Takers:
    """Who may have a lock: a git that works in one of the `places`, of an old lock only in one of the `near` ones.

    Other programs have a lock for less than `others_seconds`.
    """

    places: Sequence[Path]
    near: Sequence[Path]
    others_seconds: float = 0.0

    def may_hold(self, lock: _Look) -> bool:
        """True if such a git runs and is older than the lock, as whoever has it must be."""
        age = time.time() - lock.made
        is_old = age > AGE_SECONDS
        starts = start_times("git", inside=self.near if is_old else self.places)
        if starts is None:
            return not is_old
        return age < self.others_seconds or any(start <= lock.made + _CLOCK_SLACK_SECONDS for start in starts)


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

    Args:
        common_dir: the git directory.
        names: the locked files, from there: refs, `HEAD`, `packed-refs`, `config`.
        wait_seconds: how long a lock is waited for whose taker may live.
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
    first = _look(lock)
    if first is None:
        return True
    if takers.may_hold(first) or _look(lock) != first:
        return False
    lock.unlink(missing_ok=True)
    return True


def _places(common_dir: Path) -> list[Path]:
    """Returns where a git works that has a lock in this repository: its checkouts, and the git directory itself."""
    linked = []
    for entry in worktree_entries(common_dir):
        with contextlib.suppress(OSError):
            linked.append(Path(os.fsdecode(read_plain_file(entry / "gitdir")).strip()).parent)
    return [common_dir, common_dir.parent, *linked]


def _look(lock: Path) -> _Look | None:
    try:
        status = lock.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    return _Look(status.st_ino, status.st_mtime)
