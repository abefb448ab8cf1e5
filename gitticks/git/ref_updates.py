"""Moves refs by compare-and-swap: what decides, between any number of writers, which of them changed the repository."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gitticks.errors import GitticksError
from gitticks.git.libgit2 import errors_of_libgit2, errors_of_writing
from gitticks.git.plain_refs import LogEntry, RefLockedError, RefMovedError, locked, move_plain_ref, moved

if TYPE_CHECKING:
    import pygit2

    from gitticks.git.identity import Identity
    from gitticks.git.objects import Objects

__all__ = ["RefLockedError", "RefMovedError", "compare_and_swap_ref"]

_MOVED_WORDS = ("does not match", "already exists", "not found")
_LOCKED_WORDS = ("failed to lock file", "failed to create locked file")


def compare_and_swap_ref(
    objects: Objects, ref: str, old: str | None, new: str | None, message: str, *, who: Identity | None = None
) -> None:
    """Moves `ref` from `old` to `new`, atomically against every other process, git included.

    Args:
        objects: the database of the ref's repository.
        ref: the full name.
        old: the object id that the caller read; None if the ref must not exist.
        new: the object id to move to; None removes the ref.
        message: one line for the reflog.
        who: whose entry the reflog gets; the person of git's configuration if not said.

    Raises:
        RefMovedError: the ref is not at `old`.
        RefLockedError: its lock file is there.
    """
    with errors_of_writing(objects.common_dir):
        if who is not None and old is not None and new is not None:
            entry = LogEntry(who, message)
            if move_plain_ref(objects.common_dir, ref, old, new, entry):
                return
        try:
            _compare_and_swap(objects.handle, ref, old, new, message)
        except errors_of_libgit2() as error:
            words = str(error)
            if any(sign in words for sign in _MOVED_WORDS):
                raise moved(ref) from error
            if any(sign in words for sign in _LOCKED_WORDS):
                raise locked(objects.common_dir, ref) from error
            raise


def _compare_and_swap(
    handle: pygit2.Repository, ref: str, old: str | None, new: str | None, message: str
) -> None:
    """Relies on libgit2's comparison with the value that a reference object was read with, made under the ref's lock.

    So the object is read anew for each move, and nothing is ever created by force, which would skip the comparison.
    """
    from pygit2.enums import ReferenceType

    current = handle.references.get(ref)
    if current is not None and current.type == ReferenceType.SYMBOLIC:
        raise GitticksError(
            f"`{ref}` is a symbolic ref", hint=f"`git symbolic-ref --delete {ref}` removes it"
        )
    if old != (None if current is None else str(current.target)):
        raise moved(ref)
    if current is None:
        if new is not None:
            handle.references.create(ref, new, force=False)
    elif new is None:
        current.delete()
    else:
        current.set_target(new, message)
