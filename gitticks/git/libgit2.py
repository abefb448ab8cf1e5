"""What every use of libgit2 needs: its opening, and its failures in our words.

It is loaded when it is first needed, since that takes longer than most commands take to work.
"""

from __future__ import annotations

import contextlib
import errno
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from gitticks.errors import GitticksError

if TYPE_CHECKING:
    import pygit2

_LARGEST_CACHED_TREE = 256 * 1024
"""The folder of all tasks has a thousand entries; by default libgit2 would read it anew at every look."""


def open_handle(common_dir: Path) -> pygit2.Repository:
    """Opens a repository with libgit2, told to sync what it writes: git's own setting for it does not reach it.

    Raises:
        GitticksError: libgit2 cannot work with it.
    """
    import pygit2
    from pygit2.enums import ObjectType

    pygit2.settings.enable_fsync_gitdir(True)
    pygit2.settings.cache_object_limit(ObjectType.TREE, _LARGEST_CACHED_TREE)
    with errors_of_reading(f"`{common_dir}` cannot be opened"):
        return pygit2.Repository(str(common_dir))


def reader_of(handle: pygit2.Repository) -> Callable[[str], tuple[str, bytes]]:
    """Returns what reads kind and bytes of an object, and raises KeyError for one that is not stored."""
    import pygit2
    from pygit2.enums import ObjectType

    from gitticks.git.loose_reading import MOST_BYTES, too_large

    read, read_header, by_hex = handle.odb.read, handle.odb.read_header, pygit2.Oid
    kinds = {int(kind): kind.name.lower() for kind in ObjectType if kind.name is not None}

    def reader(object_id: str) -> tuple[str, bytes]:
        name = by_hex(hex=object_id)
        if read_header(name)[1] > MOST_BYTES:
            raise too_large(object_id)
        kind, content = read(name)
        return kinds[int(kind)], content

    return reader


def errors_of_libgit2() -> tuple[type[Exception], ...]:
    """Returns what reading and writing may raise; libgit2's own kind is among them once it is loaded."""
    loaded = sys.modules.get("pygit2")
    return (KeyError, ValueError, OSError, *([loaded.GitError] if loaded is not None else []))


@contextlib.contextmanager
def errors_of_writing(common_dir: Path) -> Iterator[None]:
    """Turns libgit2's failures into one that names the place; a failed write changed nothing that a ref names."""
    try:
        yield
    except errors_of_libgit2() as error:
        from shlex import quote

        from gitticks.git.process import printable

        reason = error.strerror if isinstance(error, OSError) and error.strerror else printable(str(error))
        is_refused = isinstance(error, OSError) and error.errno in (errno.EACCES, errno.EPERM, errno.EROFS)
        place = quote(str(common_dir))
        hint = (
            f"`ls -ld {place}` shows who may write" if is_refused else f"`df -h {place}` shows the room left"
        )
        raise GitticksError(
            f"git cannot write to `{common_dir}`: {reason[:1].lower()}{reason[1:]}", hint=hint
        ) from error


@contextlib.contextmanager
def errors_of_reading(what: str) -> Iterator[None]:
    """Turns libgit2's failures into one that begins with `what`."""
    try:
        yield
    except errors_of_libgit2() as error:
        from gitticks.git.process import printable

        raise GitticksError(f"{what}: {printable(str(error))}", hint="`git fsck` looks for damage") from error
