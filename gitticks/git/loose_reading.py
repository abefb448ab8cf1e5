"""Reads loose objects, because libgit2 must not read damaged ones.

Up to 1.9 it never comes back from a file that is cut off (libgit2's issue 7342), and it writes outside of its memory
where an object is longer than it claims (7177). So a loose object is read here, and only what is packed by libgit2.
"""

from __future__ import annotations

import hashlib
import zlib
from pathlib import Path

from gitticks.plainfile import read_plain_file

_MOST_BYTES = 2**40
_LONGEST_HEADER = 64


def read_loose(folder: Path, object_id: str) -> tuple[str, bytes] | None:
    """Returns kind and content of a loose object of the database `folder`; None if it has no file of its own.

    Raises:
        ValueError: the file is damaged, or holds another object.
        OSError: it is no plain file, or cannot be read.
    """
    try:
        packed = read_plain_file(f"{folder}/{object_id[:2]}/{object_id[2:]}", _MOST_BYTES)
    except (FileNotFoundError, NotADirectoryError):
        return None
    whole = _unpacked(packed)
    if hashlib.sha1(whole, usedforsecurity=False).hexdigest() != object_id:
        raise ValueError("its file holds something else")
    header, _, content = whole.partition(b"\0")
    kind, _, size = header[:_LONGEST_HEADER].partition(b" ")
    if size != b"%d" % len(content):
        raise ValueError("its file holds more or less than it says")
    return kind.decode("ascii", "replace"), content


def _unpacked(packed: bytes) -> bytes:
    unpacking = zlib.decompressobj()
    try:
        whole = unpacking.decompress(packed)
    except zlib.error as error:
        raise ValueError(f"its file is damaged: {error}") from None
    if not unpacking.eof:
        raise ValueError("its file is cut off")
    return whole
