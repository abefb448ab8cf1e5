"""Takes git's own `index.lock` of a checkout, in a way that shows whose it is when its holder was killed.

Git's lock files are empty or hold an index. Ours are linked into place complete, with a first word that git never
writes, so whoever holds the lock of ours under which this one is taken knows a leftover for what it is.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

from gitticks.safe_read import read_plain_file

WAIT_SECONDS = 2.0
HOOK_SECONDS = 20.0
"""So long git is waited for while it waits for a hook of ours; it has little left to do then."""

_POLL_SECONDS = 0.005
_AT_WORK = "gitticks-hook-at-work"
OWN_MARK = b"gitticks "
_MOST_OWN_BYTES = 100


@contextlib.contextmanager
def hold_index_lock(git_dir: Path, *, wait_seconds: float = WAIT_SECONDS) -> Iterator[bool]:
    """Holds the index of the checkout that `git_dir` belongs to; yields False if a program has had it for too long.

    A lock that was there for `wait_seconds` already is not waited for again: it is a person's editor, or a leftover
    that only they can judge. But where git waits for a hook of ours, as `saying_at_work` says, it is not given up: the
    commit would fail. To be called with the lock of ours that guards this checkout held.
    """
    lock = git_dir / "index.lock"
    mine = git_dir / "gitticks-index-lock"
    mine.unlink(missing_ok=True)  # a killed holder's, perhaps the very file that is linked as the lock
    with mine.open("xb", buffering=0) as ours:  # open to the end, so that no other file gets its number
        try:
            ours.write(OWN_MARK + str(os.getpid()).encode() + b"\n")
            is_held = _link(mine, lock, wait_seconds)
        finally:
            mine.unlink()
        try:
            yield is_held
        finally:
            if is_held:
                _release(lock, os.fstat(ours.fileno()))


@contextlib.contextmanager
def saying_at_work(git_dir: Path) -> Iterator[None]:
    """Lets whoever wants the index wait until a hook is done, and git with it, which may hold the index's lock."""
    file = git_dir / _AT_WORK
    with contextlib.suppress(OSError):
        file.touch()
    try:
        yield
    finally:
        nearly_over = time.time() - HOOK_SECONDS + WAIT_SECONDS
        with contextlib.suppress(OSError):
            os.utime(file, (nearly_over, nearly_over))


def _link(mine: Path, lock: Path, wait_seconds: float) -> bool:
    end = time.monotonic() + wait_seconds
    while True:
        try:
            os.link(mine, lock)
        except FileExistsError:
            if _clear_own(lock):
                continue
            is_over = time.monotonic() >= end or _age_seconds(lock) >= wait_seconds
            if is_over and (
                not wait_seconds or _age_seconds(lock.with_name(_AT_WORK), HOOK_SECONDS) >= HOOK_SECONDS
            ):
                return False
            time.sleep(_POLL_SECONDS)
        else:
            return True


def _release(lock: Path, ours: os.stat_result) -> None:
    """Removes our lock, and not that of whoever came after a person had removed ours; it need not be opened for that."""
    with contextlib.suppress(FileNotFoundError):
        if os.path.samestat(lock.lstat(), ours):
            lock.unlink()


def _clear_own(lock: Path) -> bool:
    """Removes the lock if it is of ours; True unless another program has it."""
    try:
        if not _is_own(lock):
            return False
        lock.unlink()
    except FileNotFoundError:
        pass
    return True


def _is_own(lock: Path) -> bool:
    """True if the lock is of ours; what is larger than any of ours, or no file, is not."""
    try:
        return read_plain_file(lock, _MOST_OWN_BYTES).startswith(OWN_MARK)
    except FileNotFoundError:
        raise
    except OSError:
        return False


def _age_seconds(file: Path, if_gone: float = 0.0) -> float:
    try:
        return time.time() - file.stat().st_mtime
    except FileNotFoundError:
        return if_gone
