"""Reads loose objects for libgit2, which must not read damaged ones.

Up to 1.9 it never returns from a file that is cut off (libgit2's issue 7342), and it writes outside of its memory where
an object is longer than it claims (7177). So before libgit2 touches a loose object, it is read and checked here.
"""

from __future__ import annotations

import errno
import hashlib
import zlib
from pathlib import Path

from gitticks.errors import GitticksError
from gitticks.safe_read import read_plain_file

MOST_BYTES = 256_000_000
"""What is larger is not read into memory: a few hundred bytes can be made to grow to any size."""
_LONGEST_HEADER = 64


class TooLargeError(GitticksError):
    """An object is larger than any that is read."""


def is_too_large(size: int) -> bool:
    """True for more bytes than are read into memory."""
    return size > MOST_BYTES


def too_large(object_id: str) -> TooLargeError:
    """Returns the error for an object of more than `MOST_BYTES`."""
    return TooLargeError(
        f"the object `{object_id}` is larger than {MOST_BYTES // 1_000_000} MB",
        hint=f"`git log --all --find-object={object_id}` shows where it came from",
    )


def read_loose(folder: Path, object_id: str) -> tuple[str, bytes] | None:
    """Returns kind and content of a loose object of the SHA-1 database `folder`; None if it has no file of its own.

    Raises:
        ValueError: the file is damaged, or holds another object.
        OSError: it is not a plain file, or cannot be read.
        TooLargeError: the object is too large to be read.
    """
    try:
        packed = read_plain_file(f"{folder}/{object_id[:2]}/{object_id[2:]}", 2 * MOST_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        if error.errno == errno.EFBIG:
            raise too_large(object_id) from None
        raise
    whole = _unpacked(packed)
    if is_too_large(len(whole)):
        raise too_large(object_id)
    if hashlib.sha1(whole, usedforsecurity=False).hexdigest() != object_id:
        raise ValueError("its file contains something else")
    header, _, content = whole.partition(b"\0")
    kind, _, size = header[:_LONGEST_HEADER].partition(b" ")
    if size != b"%d" % len(content):
        raise ValueError("its file has the wrong size")
    return kind.decode("ascii", "replace"), content


def _unpacked(packed: bytes) -> bytes:
    """Returns what was packed, or as much of it as shows that it is too large."""
    unpacking = zlib.decompressobj()
    try:
        whole = unpacking.decompress(packed, MOST_BYTES + 1)
    except zlib.error as error:
        raise ValueError(f"its file is damaged: {error}") from None
    if not unpacking.eof and len(whole) <= MOST_BYTES:
        raise ValueError("its file is cut off")
    return whole
