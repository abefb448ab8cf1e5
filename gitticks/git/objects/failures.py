"""How reading, writing and moving refs may fail, in either backend."""

from __future__ import annotations

import contextlib
import errno
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from shlex import quote

from gitticks.errors import GitticksError, LostRaceError, MachineError
from gitticks.git.process import GitResult, is_full, printable, run_git
from gitticks.git.refs import blocking_branch

MOST_BYTES = 256_000_000
"""What is larger is not read into memory: a few hundred bytes can be made to grow to any size."""
_UNSAID = "no error"
"""What libgit2 says where it does not know why."""


class RefMovedError(LostRaceError):
    """The ref no longer stood where the caller had read it; nothing was changed."""


class RefLockedError(LostRaceError):
    """Somebody holds, or left behind, the ref's lock file; nothing was changed."""


class TooLargeError(GitticksError):
    """An object is larger than any that is read."""


class LostObjectError(GitticksError):
    """An object that was stored is gone; somebody pruned the repository."""


def is_too_large(size: int) -> bool:
    """True for more bytes than are read into memory."""
    return size > MOST_BYTES


def too_large(object_id: str) -> TooLargeError:
    """Returns the error for an object of more than `MOST_BYTES`."""
    return TooLargeError(
        f"the object `{object_id}` is larger than {MOST_BYTES // 1_000_000} MB",
        hint=f"`git log --all --find-object={object_id}` shows where it came from",
    )


def moved(ref: str) -> RefMovedError:
    """Returns the error for a ref that another program moved."""
    return RefMovedError(f"`{ref}` was moved by another program", hint="run the command again")


def locked(common_dir: Path, ref: str) -> RefLockedError:
    """Returns the error for a ref whose lock file is there, or that of all refs where they are in a reftable."""
    tables = common_dir / "reftable"
    lock = f"{tables / 'tables.list' if tables.is_dir() else common_dir / ref}.lock"
    return RefLockedError(
        f"`{ref}` is locked by another program",
        hint=f"try again when it has finished; if none is running: `rm {quote(lock)}`",
    )


def blocked_by_branch(words: str) -> GitticksError | None:
    """Returns the error for a branch that cannot be made, if git says that another has the name of its folder."""
    branch = blocking_branch(words)
    if branch is None:
        return None
    return GitticksError(
        f"git cannot make a branch below `{branch}/`, since a branch is called `{branch}`",
        hint=f"`git branch -m {quote(branch)} NEW-NAME` renames it",
    )


def errors_of_libgit2() -> tuple[type[Exception], ...]:
    """Returns what reading and writing may raise; libgit2's own kind is among them once it is loaded."""
    loaded = sys.modules.get("pygit2")
    return (KeyError, ValueError, OSError, *([loaded.GitError] if loaded is not None else []))


def is_out_of_room(words: str) -> bool:
    """True if git says that the disk is full."""
    return "No space left" in words or "Out of diskspace" in words


def require_written(done: GitResult, common_dir: Path) -> None:
    """Refuses what git could not write, in the words of `errors_of_writing`."""
    if done.code == 0:
        return

    reason = printable(done.stderr).removeprefix("fatal: ").removeprefix("error: ")
    is_refused = "Permission denied" in reason or "Read-only file system" in reason
    if is_out_of_room(reason):
        reason = os.strerror(errno.ENOSPC)
    with errors_of_writing(common_dir):
        raise OSError(errno.EACCES if is_refused else errno.EIO, reason)


@contextlib.contextmanager
def errors_of_writing(common_dir: Path) -> Iterator[None]:
    """Turns failures into one that names the place; a failed write changed nothing that a ref names."""
    try:
        yield
    except errors_of_libgit2() as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else printable(str(error))
        if reason == _UNSAID and is_full(common_dir):
            reason = os.strerror(errno.ENOSPC)
        is_refused = isinstance(error, OSError) and error.errno in (errno.EACCES, errno.EPERM, errno.EROFS)
        blocked = blocked_by_branch(reason)
        if blocked is not None:
            raise blocked from error
        place = quote(str(common_dir))
        hint = (
            f"`ls -ld {place}` shows who can write" if is_refused else f"`df -h {place}` shows the free space"
        )
        raise MachineError(
            f"git cannot write to `{common_dir}`: {reason[:1].lower()}{reason[1:]}", hint=hint
        ) from error


@contextlib.contextmanager
def errors_of_reading(what: str) -> Iterator[None]:
    """Turns failures into one that begins with `what`."""
    try:
        yield
    except errors_of_libgit2() as error:
        raise GitticksError(f"{what}: {printable(str(error))}", hint="`git fsck` looks for damage") from error


def fetch_missing(common_dir: Path, object_id: str) -> None:
    """Fetches an object that is not stored here, as a partial clone leaves them with its remote."""
    from gitticks.git.untrusted_config import fence_programs  # only in a partial clone, or after damage

    fence = fence_programs(common_dir)
    if fence.remotes:
        raise GitticksError(
            f"the object `{object_id}` is missing, and `{fence.remotes[0]}` of this repository names a program "
            "that gitticks does not run to fetch it",
            hint=f"`git -C {quote(str(common_dir))} cat-file -e {object_id}` fetches it, if you trust that program",
        )
    asked, variables = ["cat-file", "-e", object_id], fence.variables
    done = run_git(asked, repository_dir=common_dir, check=False, trusted=True, extra_environment=variables)
    if done.code != 0:
        raise GitticksError(
            f"the object `{object_id}` is missing from `{common_dir}`",
            hint="`git fsck` shows what is damaged; `git fetch` may restore it",
        )
