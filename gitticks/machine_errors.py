"""Errors caused by the machine, in words, with the command that shows why."""

from __future__ import annotations

import errno
from pathlib import PurePath
from shlex import quote

from gitticks.errors import MachineError
from gitticks.safe_read import reason_of

_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EIO})
_NO_RIGHT = frozenset({errno.EACCES, errno.EPERM})
_IN_THE_WAY = frozenset(
    {errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ELOOP, errno.ENXIO, errno.ENODEV, errno.EFBIG}
)
"""Something else lies where gitticks keeps a file or a folder of its own."""
_TOO_MANY_FILES = frozenset({errno.EMFILE, errno.ENFILE})


def machine_error_of(error: Exception) -> MachineError | None:
    """Returns what to tell a person of an error that is the machine's and names the file; None for any other."""
    if not isinstance(error, OSError) or error.strerror is None:
        return None
    reason = reason_of(error)
    name = error.filename if isinstance(error.filename, str) else None
    message = reason if name is None else f"`{name}`: {reason}"
    if error.errno in _NO_ROOM:
        shown = "df -h" if name is None else f"df -h {quote(str(PurePath(name).parent))}"
        return MachineError(message, hint=f"`{shown}` shows the free space; then run the command again")
    if error.errno == errno.EROFS:
        shown = "findmnt -O ro" if name is None else f"findmnt -T {quote(str(PurePath(name).parent))}"
        return MachineError(message, hint=f"`{shown}` shows what is mounted read-only")
    if error.errno in _NO_RIGHT and name is not None:
        return MachineError(
            message, hint=f"`ls -ld {quote(str(PurePath(name).parent))}` shows who can write there"
        )
    if error.errno in _IN_THE_WAY and name is not None:
        shown = quote(name)
        return MachineError(
            message,
            hint=f"`ls -ld {shown}` shows what is there; `mv {shown} {quote(f'{name}.old')}` moves it aside",
        )
    if error.errno in _TOO_MANY_FILES:
        return MachineError(message, hint="`ulimit -n` shows how many files may be open at once")
    return None
