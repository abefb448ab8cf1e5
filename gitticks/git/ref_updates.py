"""Moves refs by compare-and-swap: what decides, between any number of writers, which of them changed the repository."""

from __future__ import annotations

import pygit2
from pygit2.enums import ReferenceType

from gitticks.errors import GitticksError, LostRaceError
from gitticks.git.libgit2 import errors_of_writing
from gitticks.git.objects import Objects
from gitticks.git.process import printable

_MOVED_WORDS = ("does not match", "already exists", "not found")
_LOCKED_WORDS = ("failed to lock file", "failed to create locked file")


class RefMovedError(LostRaceError):
    """The ref no longer stood where the caller had read it; nothing was changed."""


class RefLockedError(LostRaceError):
    """Somebody holds, or left behind, the ref's lock file; nothing was changed."""


def compare_and_swap_ref(objects: Objects, ref: str, old: str | None, new: str | None, message: str) -> None:
    """Moves `ref` from `old` to `new`, atomically against every other process, git included.

    Args:
        objects: the database of the ref's repository.
        ref: the full name.
        old: the object id that the caller read; None if the ref must not exist.
        new: the object id to move to; None removes the ref.
        message: one line for the reflog.

    Raises:
        RefMovedError: the ref is not at `old`.
        RefLockedError: its lock file is there.
    """
    with errors_of_writing(objects.common_dir):
        try:
            _compare_and_swap(objects.handle, ref, old, new, message)
        except (pygit2.GitError, OSError, ValueError, KeyError) as error:
            words = printable(str(error))
            if any(sign in words for sign in _MOVED_WORDS):
                raise _moved(ref) from error
            if any(sign in words for sign in _LOCKED_WORDS):
                raise RefLockedError(
                    f"`{ref}` is locked by another program",
                    hint=f"if none is at work, remove `{objects.common_dir / ref}.lock`",
                ) from error
            raise


def _compare_and_swap(
    handle: pygit2.Repository, ref: str, old: str | None, new: str | None, message: str
) -> None:
    """Relies on libgit2's comparison with the value that a reference object was read with, made under the ref's lock.

    So the object is read anew for each move, and nothing is ever created by force, which would skip the comparison.
    """
    current = handle.references.get(ref)
    if current is not None and current.type == ReferenceType.SYMBOLIC:
        raise GitticksError(
            f"`{ref}` is a symbolic ref", hint=f"`git symbolic-ref --delete {ref}` removes it"
        )
    if old != (None if current is None else str(current.target)):
        raise _moved(ref)
    if current is None:
        if new is not None:
            handle.references.create(ref, new, force=False)
    elif new is None:
        current.delete()
    else:
        current.set_target(new, message)


def _moved(ref: str) -> RefMovedError:
    return RefMovedError(f"`{ref}` was moved by another program", hint="repeat the command")
