"""Clears the lock files that a killed git left in a checkout, where every git that could hold them is known to be dead.

An agent that is killed in the middle of `git commit` leaves the index of its workspace locked, and the next agent
could do nothing about it.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

from gitticks.git.checkouts import Checkout
from gitticks.git.refs import BRANCHES
from gitticks.processes import start_times

WAIT_SECONDS = 2.0
AGE_SECONDS = 30.0
"""Git holds a lock for moments, or for as long as a person's editor is open in that checkout."""
_LOOK_SECONDS = 0.1
_CLOCK_SLACK_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class _Look:
    """What tells one lock file from the next of its name; `made` is in seconds since 1970."""

    inode: int
    made: float


def clear_abandoned_locks(
    checkout: Checkout, branch: str, *, wait_seconds: float = WAIT_SECONDS
) -> tuple[Path, ...]:
    """Removes what dead gits left locked of index, HEAD and `branch`, and returns the locks that may be held.

    To be called when no agent works in the checkout. A lock whose taker may live is waited for.
    """
    ref = checkout.common_dir / f"{BRANCHES}{branch}.lock"
    locks = (checkout.git_dir / "index.lock", checkout.git_dir / "HEAD.lock", ref)
    end = time.monotonic() + wait_seconds
    while left := tuple(lock for lock in locks if not _is_cleared(lock, checkout)):
        if time.monotonic() > end:
            return left
        time.sleep(_LOOK_SECONDS)
    return ()


def _is_cleared(lock: Path, checkout: Checkout) -> bool:
    """True once the lock is gone; it is removed if it is the same at two looks, between which nobody can have it."""
    first = _look(lock)
    if first is None:
        return True
    if _may_be_held(first, checkout) or _look(lock) != first:
        return False
    lock.unlink(missing_ok=True)
    return True


def _may_be_held(lock: _Look, checkout: Checkout) -> bool:
    """True if a git runs in the repository that is older than the lock, as whoever has it must be.

    An old lock is only believed to belong to a git that works in this very checkout.
    """
    is_old = time.time() - lock.made > AGE_SECONDS
    places = [checkout.path] if is_old else [checkout.path, checkout.common_dir, checkout.common_dir.parent]
    starts = start_times("git", inside=places)
    if starts is None:
        return not is_old
    return any(start <= lock.made + _CLOCK_SLACK_SECONDS for start in starts)


def _look(lock: Path) -> _Look | None:
    try:
        status = lock.lstat()
    except FileNotFoundError:
        return None
    return _Look(status.st_ino, status.st_mtime)
