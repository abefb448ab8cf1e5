"""Writes to a path that the user gave, which may be a file, a link, a pipe or a device.

A draft renamed over a device would destroy it for the whole machine, and over a link would replace the link. So only
nothing or a plain file is replaced, where the links lead to, and everything else is written to as a shell would.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import stat
from collections.abc import Callable
from pathlib import Path
from shlex import quote

from gitticks.errors import GitticksError
from gitticks.safe_read import reason_of

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
_STDOUT = 1


def write_named_file(
    path: Path, content: bytes, *, before_replacing: Callable[[], object] | None = None
) -> None:
    """Writes a file whole or not at all, with the rights of the one that it replaces; a pipe or device gets it as a stream.

    What `before_replacing` raises, directly before the file is replaced, leaves everything as it was.
    """
    try:
        try:
            there = path.stat()
        except FileNotFoundError:
            there = None
        if there is not None and stat.S_ISDIR(there.st_mode):
            raise IsADirectoryError(0, "it is a folder")
        if there is None or (stat.S_ISREG(there.st_mode) and not _is_stdout(there)):
            _replace(Path(os.path.realpath(path)), there, content, before_replacing)
        else:
            flags = os.O_WRONLY | os.O_APPEND | os.O_NOCTTY | os.O_CLOEXEC
            with open(os.open(path, flags), "wb") as stream:  # noqa: PTH123
                stream.write(content)
    except OSError as error:
        folder = quote(str(Path(os.path.realpath(path)).parent))
        is_missing = isinstance(error, FileNotFoundError)
        hint = f"`mkdir -p {folder}` creates the folder" if is_missing else f"`ls -ld {folder}` shows it"
        raise GitticksError(f"`{path}` cannot be written: {reason_of(error)}", hint=hint) from error


def _is_stdout(there: os.stat_result) -> bool:
    """True for the file that stdout goes to: replaced under the shell's `>>` it would lose what it held."""
    try:
        return os.path.samestat(there, os.fstat(_STDOUT))
    except OSError:
        return False


def _replace(
    place: Path,
    there: os.stat_result | None,
    content: bytes,
    before_replacing: Callable[[], object] | None,
) -> None:
    # A guessable name might be a planted link.
    draft = place.with_name(f".gitticks-{secrets.token_hex(6)}.tmp")
    try:
        with open(os.open(draft, _NEW, 0o666), "wb") as file:  # noqa: PTH123 - the descriptor of a new file
            file.write(content)
            if there is not None:
                os.fchmod(file.fileno(), stat.S_IMODE(there.st_mode))
        if before_replacing is not None:
            before_replacing()
        draft.replace(place)
    except BaseException:
        with contextlib.suppress(OSError):
            draft.unlink()
        raise
