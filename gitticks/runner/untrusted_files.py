"""Reads and writes in folders that an agent can change at any moment.

Whatever is there may have become a link to somewhere else, a pipe that never ends, or a gigabyte. So folders are
opened step by step without following links, names are looked up in the open folder, and reading is bounded.
"""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import shutil
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path

LARGEST_BYTES = 1_000_000

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class UnfitError(Exception):
    """What is there is not to be read; the message says why and follows the name."""


@contextlib.contextmanager
def open_folder(top: Path, *names: str, make: bool = False) -> Iterator[int | None]:
    """Gives the descriptor of the folder `names` below `top`, or None if it is missing.

    `top` is trusted to be where it is. With `make` folders are put where none are; what is in their way is moved aside.

    Raises:
        UnfitError: a link or a file stands where a folder should.
    """
    with contextlib.ExitStack() as stack:
        descriptor = os.open(top, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        stack.callback(os.close, descriptor)
        for name in names:
            inner = _step(descriptor, name, make=make)
            if inner is None:
                yield None
                return
            stack.callback(os.close, inner)
            descriptor = inner
        yield descriptor


def _step(descriptor: int, name: str, *, make: bool) -> int | None:
    try:
        return os.open(name, _FOLDER, dir_fd=descriptor)
    except FileNotFoundError:
        if not make:
            return None
    except OSError as error:
        if error.errno not in (errno.ENOTDIR, errno.ELOOP, errno.EMLINK):
            raise
        if not make:
            raise UnfitError("is a link or a file where a folder should be") from error
        set_aside(descriptor, name)
    os.mkdir(name, 0o700, dir_fd=descriptor)
    return os.open(name, _FOLDER, dir_fd=descriptor)


def read_file(folder: int, name: str, limit: int = LARGEST_BYTES) -> bytes | None:
    """Returns the bytes of a plain file in an open folder, or None if it is missing.

    Raises:
        UnfitError: it is not a regular file, or larger than `limit`.
    """
    try:
        descriptor = os.open(name, _FILE, dir_fd=folder)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise UnfitError(f"cannot be read: {_reason(error)}") from error
    with open(descriptor, "rb") as file:  # noqa: PTH123 - a descriptor has no path
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise UnfitError("is not a regular file")
        content = file.read(limit + 1)
    if len(content) > limit:
        raise UnfitError(f"is larger than {limit:,} bytes")
    return content


def write_file(folder: int, name: str, content: bytes, *, mode: int = 0o600) -> None:
    """Puts a file in place in one rename; what was there before, link or file, is replaced and never written to."""
    temporary = f".{name}.{secrets.token_hex(6)}"
    descriptor = os.open(temporary, _NEW, mode, dir_fd=folder)
    try:
        with open(descriptor, "wb") as file:  # noqa: PTH123
            file.write(content)
        _put(folder, temporary, name)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary, dir_fd=folder)
        raise


def put_files(top: Path, files: Mapping[Path, bytes | Path]) -> None:
    """Puts files below `top` in place by their content, and links by where they lead, with the folders they need."""
    for path, content in files.items():
        with open_folder(top, *path.relative_to(top).parent.parts, make=True) as folder:
            assert folder is not None  # noqa: S101 - it was made
            if isinstance(content, bytes):
                write_file(folder, path.name, content)
            else:
                temporary = f".{path.name}.{secrets.token_hex(6)}"
                os.symlink(content, temporary, dir_fd=folder)
                _put(folder, temporary, path.name)


def _put(folder: int, temporary: str, name: str) -> None:
    try:
        os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
    except IsADirectoryError:
        set_aside(folder, name)
        os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)


def set_aside(folder: int, name: str) -> None:
    """Renames what is in the way, so that nothing is lost."""
    os.rename(name, f"{name}.{secrets.token_hex(4)}.aside", src_dir_fd=folder, dst_dir_fd=folder)


def remove_tree(folder: int, name: str) -> None:
    """Removes an entry of an open folder with all that is in it; links are removed, not followed."""
    try:
        os.unlink(name, dir_fd=folder)
    except FileNotFoundError:
        return
    except (IsADirectoryError, PermissionError):
        shutil.rmtree(name, dir_fd=folder)


def _reason(error: OSError) -> str:
    return "it is a link" if error.errno in (errno.ELOOP, errno.EMLINK) else error.strerror or "unknown"
