"""Writes loose objects without waiting for the disk, and brings many of them there at once.

libgit2 waits for the disk at every object, or at none: its switch is the whole process's. Writers who share a sync
need to say which objects are to be on disk, and when, also those that another process wrote.
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import os
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from gitticks.errors import GitticksError
from gitticks.git.disk import sync_files, write_all

_LEVEL = 1
_ASIDE = "tmp_obj_"
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
_counter = itertools.count()


@dataclass(frozen=True, slots=True)
class Written:
    """Objects that were stored and are not known to be on disk, by id, each once.

    `new` were made; `found` lay there already, perhaps by somebody who did not sync them either.
    """

    new: dict[str, None] = field(default_factory=dict)
    found: dict[str, None] = field(default_factory=dict)

    @property
    def ids(self) -> tuple[str, ...]:
        """Returns all of them."""
        return (*self.new, *self.found)


class LostObjectError(GitticksError):
    """An object that was stored is not there any more; somebody pruned the repository."""


def store_object(folder: Path, kind: str, content: bytes, written: Written) -> str:
    """Stores an object in the database `folder`, notes it in `written`, and returns its id.

    Raises:
        OSError: it cannot be written; nothing is left of it.
    """
    whole = b"%s %d\0%s" % (kind.encode(), len(content), content)
    object_id = hashlib.sha1(whole, usedforsecurity=False).hexdigest()
    path = _path(folder, object_id)
    if object_id in written.new or object_id in written.found:
        return object_id
    if _holds(path, whole):
        written.found[object_id] = None
    else:
        _put(path, zlib.compress(whole, _LEVEL))
        written.new[object_id] = None
    return object_id


def sync_objects(folder: Path, object_ids: Iterable[str], is_packed: Callable[[str], bool]) -> None:
    """Waits until the objects and the names that they have are on disk.

    Args:
        folder: the database.
        object_ids: which.
        is_packed: says of one that has no file of its own whether it is stored all the same.

    Raises:
        OSError: something could not be written; none of them may be relied on.
        LostObjectError: one is not stored any more.
    """
    ids = list(dict.fromkeys(object_ids))
    paths = [_path(folder, one) for one in ids if _is_loose(folder, one, is_packed)]
    folders = dict.fromkeys(os.path.dirname(path) for path in paths)  # noqa: PTH120 - strings all the way
    try:
        sync_files(paths, [*folders, str(folder)] if paths else [])
    except FileNotFoundError as error:
        raise _lost(folder, str(error.filename)) from error


def discard_objects(folder: Path, object_ids: Iterable[str]) -> None:
    """Removes objects that could not be brought to the disk, so that nobody takes them for stored."""
    for object_id in object_ids:
        with contextlib.suppress(OSError):
            os.unlink(_path(folder, object_id))  # noqa: PTH108 - strings all the way


def _path(folder: Path, object_id: str) -> str:
    return f"{folder}/{object_id[:2]}/{object_id[2:]}"


def _holds(path: str, whole: bytes) -> bool:
    """True if the object lies there in full, which a crash may have prevented; keeps `git prune` off it."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - strings all the way
            stored = zlib.decompress(file.read())
        os.utime(path)
    except (OSError, zlib.error):
        return False
    return stored == whole


def _put(path: str, packed: bytes) -> None:
    """Writes the file aside, under a name that `git prune` clears away, and then puts it in place whole."""
    folder = os.path.dirname(path)  # noqa: PTH120 - strings all the way
    aside = f"{folder}/{_ASIDE}{os.getpid()}_{next(_counter)}"
    try:
        descriptor = os.open(aside, _NEW_FILE, 0o444)
    except FileNotFoundError:
        os.makedirs(folder, exist_ok=True)  # noqa: PTH103 - strings all the way
        descriptor = os.open(aside, _NEW_FILE, 0o444)
    try:
        try:
            write_all(descriptor, packed)
        finally:
            os.close(descriptor)
        os.rename(aside, path)  # noqa: PTH104 - strings all the way
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(aside)  # noqa: PTH108 - strings all the way
        raise


def _is_loose(folder: Path, object_id: str, is_packed: Callable[[str], bool]) -> bool:
    if os.path.exists(_path(folder, object_id)):  # noqa: PTH110 - strings all the way
        return True
    if is_packed(object_id):
        return False
    raise _lost(folder, object_id)


def _lost(folder: Path, name: str) -> LostObjectError:
    return LostObjectError(f"`{name}` was removed from `{folder}` while it was being committed")
