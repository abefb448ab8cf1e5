"""Reads small files of the git directory safely, whatever is in their place: a pipe, a device, a folder, a gigabyte.

Whoever opens a pipe waits for its other end, and whoever reads a device to its end never comes back. So what is no
plain file is refused before it is read, and no more is read than such a file can hold.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

Value = TypeVar("Value")

MOST_BYTES = 16 * 1024 * 1024


def read_plain_file(path: Path | str, most_bytes: int = MOST_BYTES) -> bytes:
    """Returns the bytes of a plain file, or of the one that a link leads to.

    Raises:
        FileNotFoundError: nothing is there.
        OSError: it is not a regular file, is larger than `most_bytes`, or cannot be read; the error names it.
    """
    descriptor, size = open_plain_file(path)
    try:
        if size > most_bytes:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), str(path))
        return _read_on(descriptor, size)
    finally:
        os.close(descriptor)


def read_end_of_plain_file(path: Path | str, last_bytes: int) -> bytes:
    """Returns the last bytes of a plain file, all of a shorter one; raises as `read_plain_file`."""
    descriptor, size = open_plain_file(path)
    try:
        if size > last_bytes:
            os.lseek(descriptor, size - last_bytes, os.SEEK_SET)
        return _read_on(descriptor, min(size, last_bytes))
    finally:
        os.close(descriptor)


def open_plain_file(path: Path | str, *, follow: bool = True) -> tuple[int, int]:
    """Returns a plain file, open, and its size; raises as `read_plain_file`, and for a link unless it is to `follow`."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW))
    status = os.fstat(descriptor)
    if stat.S_ISREG(status.st_mode):
        return descriptor, status.st_size
    os.close(descriptor)
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    raise OSError(errno.ENODEV, "not a regular file", str(path))


def _read_on(descriptor: int, expected: int) -> bytes:
    content = os.read(descriptor, expected + 1)
    if len(content) == expected:
        return content
    parts = [content]  # it became longer or shorter meanwhile, or comes in pieces
    while part := os.read(descriptor, 4096):
        parts.append(part)
    return b"".join(parts)


def read_plain_text(path: Path | str) -> str:
    """Returns the text of a plain file, with bytes that are no UTF-8 as surrogates; raises as `read_plain_file`."""
    return read_plain_file(path).decode("utf-8", "surrogateescape")


def read_json(path: Path | str, make: Callable[[Any], Value], otherwise: Value) -> Value:
    """Returns what `make` makes of the JSON in a plain file, or `otherwise` where that cannot be read or made so."""
    import json  # costs start-up time

    try:
        return make(json.loads(read_plain_file(path)))
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
        return otherwise


def reason_of(error: OSError | ValueError) -> str:
    """Returns in words, without the file's name, why something could not be read."""
    words = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return words[:1].lower() + words[1:]


def stamp_of(path: str) -> tuple[int, int] | None:
    """Returns what differs once a file, or the names in a folder, are others; None where there is none."""
    try:
        status = os.stat(path)  # noqa: PTH116 (a path as text, some times a second)
    except OSError:
        return None
    return (status.st_mtime_ns, status.st_ino)
