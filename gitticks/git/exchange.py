"""Swaps two files in one step, so that what a program wrote into the old one a moment before is never overwritten."""

from __future__ import annotations

import errno
import functools
import os
import sys
from collections.abc import Callable
from pathlib import Path

_AT_WORKING_DIRECTORY = -100
_LINUX_EXCHANGE = 2
_MACOS_SWAP = 2
_NOT_POSSIBLE = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM})


def exchange(first: Path, second: Path) -> bool:
    """Swaps two existing files of one file system; False if this system or file system has no such call.

    Raises:
        OSError: one of them is missing, or they are on different file systems.
    """
    swap = _system_call()
    if swap is None:
        return False
    code = swap(os.fsencode(first), os.fsencode(second))
    if code in _NOT_POSSIBLE:
        return False
    if code != 0:
        raise OSError(code, os.strerror(code), str(second))
    return True


@functools.cache
def _system_call() -> Callable[[bytes, bytes], int] | None:
    """Returns the call that swaps two paths and returns an error number, 0 if it worked."""
    import ctypes  # only where a file is replaced

    library = ctypes.CDLL(None, use_errno=True)

    def error(result: int) -> int:
        return 0 if result == 0 else ctypes.get_errno()

    if sys.platform == "darwin":
        swap = getattr(library, "renamex_np", None)
        return None if swap is None else lambda old, new: error(swap(old, new, _MACOS_SWAP))
    swap = getattr(library, "renameat2", None)
    place = _AT_WORKING_DIRECTORY
    return None if swap is None else lambda old, new: error(swap(place, old, place, new, _LINUX_EXCHANGE))
