"""Moves a ref that is a file of its own, as git does it, without libgit2: nearly every move of the state branch."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path
from typing import TYPE_CHECKING

from gitticks.errors import LostRaceError
from gitticks.git.refs import is_object_id

if TYPE_CHECKING:
    from gitticks.git.identity import Identity

_LONGEST = 4096


class RefMovedError(LostRaceError):
    """The ref no longer stood where the caller had read it; nothing was changed."""


class RefLockedError(LostRaceError):
    """Somebody holds, or left behind, the ref's lock file; nothing was changed."""


def moved(ref: str) -> RefMovedError:
    """Returns the error for a ref that another program moved."""
    return RefMovedError(f"`{ref}` was moved by another program", hint="repeat the command")


def locked(common_dir: Path, ref: str) -> RefLockedError:
    """Returns the error for a ref whose lock file is there."""
    from shlex import quote

    return RefLockedError(
        f"`{ref}` is locked by another program",
        hint=f"repeat once it ended; if none runs: `rm {quote(f'{common_dir / ref}.lock')}`",
    )


def move_plain_ref(common_dir: Path, ref: str, old: str, new: str, entry: LogEntry) -> bool:
    """Moves `ref` from `old` to `new`; False if it is no plain case, and then nothing was done.

    Plain is a ref in a file of its own that has a log, and that HEAD does not point to, whose log would need the
    entry too. Where a folder or the like is in the log's place, the move goes on without an entry.

    Raises:
        RefMovedError: the ref is not at `old`.
        RefLockedError: its lock file is there.
        OSError: something could not be written; the ref is where it was.
    """
    path, log = f"{common_dir}/{ref}", f"{common_dir}/logs/{ref}"
    if (
        _value(path) is None
        or not os.path.lexists(log)
        or _content(f"{common_dir}/HEAD") == f"ref: {ref}".encode()
    ):
        return False
    try:
        descriptor = os.open(f"{path}.lock", os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    except FileExistsError:
        raise locked(common_dir, ref) from None
    except FileNotFoundError:
        return False  # git has packed it since, and has removed its empty folder
    try:
        with open(descriptor, "wb") as lock:  # noqa: PTH123 - a descriptor
            _require(path, ref, old)
            lock.write(f"{new}\n".encode())
            lock.flush()
            os.fsync(lock.fileno())
        if _is_file(log):
            _append(log, f"{old} {new} {entry.text}\n".encode())
        os.rename(f"{path}.lock", path)  # noqa: PTH104 - strings all the way
    except BaseException:  # an interrupt too: nobody else knows whose lock it is
        with contextlib.suppress(OSError):
            os.unlink(f"{path}.lock")  # noqa: PTH108 - strings all the way
        raise
    _sync_folder(os.path.dirname(path))  # noqa: PTH120 - strings all the way
    return True


class LogEntry:
    """Who moves a ref, when and why, as its log says it."""

    def __init__(self, who: Identity, reason: str) -> None:
        now = int(time.time())
        words = " ".join(reason.split())
        self.text = f"{who.name} <{who.email}> {now} {zone_at(now)}\t{words}"


def zone_at(moment: int) -> str:
    """Returns the local zone at a moment, in seconds since 1970, as git writes it: `+0100`."""
    minutes = time.localtime(moment).tm_gmtoff // 60
    return f"{'-' if minutes < 0 else '+'}{abs(minutes) // 60:02}{abs(minutes) % 60:02}"


def _require(path: str, ref: str, old: str) -> None:
    if _value(path) != old:
        raise moved(ref)


def _value(path: str) -> str | None:
    """Returns the id in the ref's file; None where there is no plain file with one."""
    content = _content(path)
    text = None if content is None else content.decode("ascii", "replace")
    return text if text is not None and is_object_id(text) else None


def _content(path: str) -> bytes | None:
    """Returns what a small plain file holds, without the line's end."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        return os.read(descriptor, _LONGEST).rstrip()
    except OSError:
        return None
    finally:
        os.close(descriptor)


def _is_file(path: str) -> bool:
    return os.path.isfile(path)  # noqa: PTH113 - strings all the way


def _append(path: str, line: bytes) -> None:
    """Adds a line to a log, unsynced, as git does: it is a help to people, and no ref needs it."""
    descriptor = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
    try:
        if os.write(descriptor, line) != len(line):
            raise OSError(28, "No space left on device", path)
    finally:
        os.close(descriptor)


def _sync_folder(folder: str) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
