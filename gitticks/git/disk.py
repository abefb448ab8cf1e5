"""Syncs files to disk, and swaps two files atomically."""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

MANY_FILES = 1000
"""From here on one sync of the file system is quicker whatever else it has to write."""
KILOBYTES_FOR_A_SYNC = 512
"""What a disk writes, roughly, in the time that it takes to sync one small file."""

_MOST_OPEN = 64
"""A process has 1,024 descriptors at times."""
_AT_WORKING_DIRECTORY = -100
_LINUX_NEW, _LINUX_EXCHANGE = 1, 2
_MACOS_NEW, _MACOS_SWAP = 4, 2
_NEW, _EXCHANGE = (_MACOS_NEW, _MACOS_SWAP) if sys.platform == "darwin" else (_LINUX_NEW, _LINUX_EXCHANGE)
_NOT_POSSIBLE = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM})


def write_all(descriptor: int, content: bytes) -> None:
    """Writes all of the bytes, in as many steps as the system takes.

    Raises:
        OSError: it took only a part of them, or none.
    """
    rest = memoryview(content)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def sync_files(files: Sequence[str], folders: Sequence[str]) -> None:
    """Waits until the files, and the names in the folders, are on disk; all on one file system.

    Raises:
        OSError: something could not be written; with `FileNotFoundError` one of them is not there.
    """
    # Each sync waits for the disk, and on a busy one for those of others, so one of the file system is better than many
    # of files; but it also writes whatever else is waiting, such as what a compiler has just made, and that may be a lot.
    count = len(files)
    if sys.platform == "linux" and (
        count > MANY_FILES or _unwritten_kilobytes() < count * KILOBYTES_FOR_A_SYNC
    ):
        _sync_file_system(folders[0])
        return
    names = (*files, *folders)
    for start in range(0, len(names), _MOST_OPEN):
        _sync_together(names[start : start + _MOST_OPEN])


def _sync_together(names: Sequence[str]) -> None:
    descriptors: list[int] = []
    try:
        for name in names:
            descriptors.append(os.open(name, os.O_RDONLY | os.O_CLOEXEC))
            if sys.platform == "linux":  # all begin to be written before the first is waited for
                with contextlib.suppress(OSError):
                    os.posix_fadvise(descriptors[-1], 0, 0, os.POSIX_FADV_DONTNEED)
        for descriptor in descriptors:
            os.fsync(descriptor)
    finally:
        for descriptor in descriptors:
            os.close(descriptor)


def _sync_file_system(folder: str) -> None:
    import ctypes  # only where something is written

    syncfs = ctypes.CDLL(None, use_errno=True).syncfs
    descriptor = os.open(folder, os.O_RDONLY | os.O_CLOEXEC)
    try:
        if syncfs(descriptor) != 0:
            problem = ctypes.get_errno()
            raise OSError(problem, os.strerror(problem), folder)
    finally:
        os.close(descriptor)


def _unwritten_kilobytes() -> int:
    try:
        found = re.search(rb"^Dirty: +([0-9]+) kB$", Path("/proc/meminfo").read_bytes(), re.MULTILINE)
    except OSError:
        found = None
    return MANY_FILES * KILOBYTES_FOR_A_SYNC if found is None else int(found[1])


def exchange(first: Path, second: Path) -> bool:
    """Swaps two existing files of one file system; False if this system or file system has no such call.

    Raises:
        OSError: one of them is missing, or they are on different file systems.
    """
    rename = load_exchange()
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
    rename = load_exchange()
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
def load_exchange() -> Callable[[bytes, bytes, int], int] | None:
    """Returns the call that renames in a special way and returns an error number, 0 if it worked.

    It is loaded in advance where locks of git are held, and there is no time for it.
    """
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
