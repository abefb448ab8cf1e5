"""Kernel locks, released when their holder dies; used to tell live processes from dead ones.

A leaf module that reading commands load where there are sessions.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_GLANCE_SECONDS, _PAUSE_SECONDS = 1.0, 0.02
_NO_LOCK_FILE = frozenset({errno.ELOOP, errno.ENXIO, errno.EISDIR})
"""How opening fails on something that is not a lock file: a link, a pipe or socket, a folder."""


def is_lock_held(path: str | Path) -> bool:
    """True while somebody holds the flock of `path`; an absent file is held by nobody."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        if error.errno in _NO_LOCK_FILE:
            return False
        raise
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        give_up_lock(descriptor)
    return False


def take_lock(descriptor: int) -> bool:
    """Takes the flock of an open file; False if somebody holds it for longer than a glance.

    Whoever asks `is_lock_held` holds it for an instant, and so does a child between fork and exec.
    """
    give_up_at = time.monotonic() + _GLANCE_SECONDS
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > give_up_at:
                return False
            time.sleep(_PAUSE_SECONDS)
        else:
            return True


@contextlib.contextmanager
def holding_lock(path: Path) -> Iterator[bool]:
    """Holds a lock file, made if missing, while the block runs; gives False if somebody else holds it for longer."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        yield take_lock(descriptor)
    finally:
        give_up_lock(descriptor)


def give_up_lock(descriptor: int) -> None:
    """Releases a flock and closes its file; closing alone would leave it with children that are being started."""
    fcntl.flock(descriptor, fcntl.LOCK_UN)
    os.close(descriptor)
