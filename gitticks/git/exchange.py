"""Swaps two files, or puts one where none is, in one step, so that what a program wrote meanwhile is never overwritten."""

from __future__ import annotations

import errno
import functools
import os
import sys
from collections.abc import Callable
from pathlib import Path

_AT_WORKING_DIRECTORY = -100
_LINUX_NEW, _LINUX_EXCHANGE = 1, 2
_MACOS_NEW, _MACOS_SWAP = 4, 2
_NEW, _EXCHANGE = (_MACOS_NEW, _MACOS_SWAP) if sys.platform == "darwin" else (_LINUX_NEW, _LINUX_EXCHANGE)
_NOT_POSSIBLE = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM})


def exchange(first: Path, second: Path) -> bool:
    """Swaps two existing files of one file system; False if this system or file system has no such call.

    Raises:
        OSError: one of them is missing, or they are on different file systems.
    """
    rename = _system_call()
    if rename is None:
        return False
    code = rename(os.fsencode(first), os.fsencode(second), _EXCHANGE)
    if code in _NOT_POSSIBLE:
        return False
    if code != 0:
        raise OSError(code, os.strerror(code), str(second))
    return True


def move_to_free_place(old: Path, new: str) -> bool:
    """Moves a file to a place on its file system; False, and nothing was done, if something is there.

    Where there is no call for that, the file is linked there and keeps its old name too.

    Raises:
        OSError: the file is missing, or the folder of its new place.
    """
    rename = _system_call()
    code = errno.ENOSYS if rename is None else rename(os.fsencode(old), os.fsencode(new), _NEW)
    if code == errno.EEXIST:
        return False
    if code in _NOT_POSSIBLE:
        try:
            os.link(old, new)  # fails where renaming would overwrite
        except FileExistsError:
            return False
    elif code != 0:
        raise OSError(code, os.strerror(code), new)
    return True


@functools.cache
def _system_call() -> Callable[[bytes, bytes, int], int] | None:
    """Returns the call that renames in a special way and returns an error number, 0 if it worked."""
    import ctypes  # only where a file is replaced

    library = ctypes.CDLL(None, use_errno=True)

    def error(result: int) -> int:
        return 0 if result == 0 else ctypes.get_errno()

    if sys.platform == "darwin":
        rename = getattr(library, "renamex_np", None)
        return None if rename is None else lambda old, new, how: error(rename(old, new, how))
    rename = getattr(library, "renameat2", None)
    place = _AT_WORKING_DIRECTORY
    return None if rename is None else lambda old, new, how: error(rename(place, old, place, new, how))
