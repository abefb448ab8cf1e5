"""What went wrong for reasons of the machine's, and the report of a bug for all else."""

from __future__ import annotations

import errno
import os
import platform
import sys
import tempfile
import traceback
from pathlib import PurePath
from shlex import quote

from gitticks import __version__
from gitticks.errors import GitticksError
from gitticks.safe_read import reason_of

_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO})
_NO_RIGHT = frozenset({errno.EACCES, errno.EPERM})
_IN_THE_WAY = frozenset(
    {errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ELOOP, errno.ENXIO, errno.ENODEV, errno.EFBIG}
)
"""Something else lies where gitticks keeps a file or a folder of its own."""
_TOO_MANY_FILES = frozenset({errno.EMFILE, errno.ENFILE})


def refusal_of(error: Exception) -> GitticksError | None:
    """Returns what to tell a person of an error that is the machine's and names the file; None for any other."""
    if not isinstance(error, OSError) or error.strerror is None:
        return None
    reason = reason_of(error)
    name = error.filename if isinstance(error.filename, str) else None
    message = reason if name is None else f"`{name}`: {reason}"
    if error.errno in _NO_ROOM:
        shown = "df -h" if name is None else f"df -h {quote(str(PurePath(name).parent))}"
        return GitticksError(message, hint=f"`{shown}` shows the room left; then repeat the command")
    if error.errno in _NO_RIGHT and name is not None:
        return GitticksError(
            message, hint=f"`ls -ld {quote(str(PurePath(name).parent))}` shows who may write there"
        )
    if error.errno in _IN_THE_WAY and name is not None:
        shown = quote(name)
        return GitticksError(
            message,
            hint=f"`ls -ld {shown}` shows what is there; `mv {shown} {quote(f'{name}.old')}` makes way",
        )
    if error.errno in _TOO_MANY_FILES:
        return GitticksError(message, hint="`ulimit -n` shows how many files may be open at once")
    return None


def report(error: BaseException, arguments: list[str]) -> tuple[str, str]:
    """Writes a report and returns the message and the hint; where nothing can be written the hint holds the place."""
    text = "\n".join(
        [
            f"gitticks {__version__}, Python {platform.python_version()}, {platform.platform()}",
            f"command: gt {arguments[0] if arguments else ''}",
            "".join(traceback.format_exception(error)),
        ]
    )
    message = f"this is a bug in gitticks: {type(error).__name__}: {error}"
    try:
        handle, path = tempfile.mkstemp(prefix="gitticks-report-", suffix=".txt")
        with os.fdopen(handle, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
    except OSError:
        last = traceback.extract_tb(error.__traceback__)[-1] if error.__traceback__ else None
        where = f"{last.filename}:{last.lineno}" if last else sys.executable
        return message, f"it happened at {where}"
    return message, f"please report it with what stands in {path}"
