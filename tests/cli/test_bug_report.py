from __future__ import annotations

import errno
import os

import pytest

from gitticks.errors import GitticksError
from gitticks.machine_errors import machine_error_of


def error_of(number: int, name: str | bytes | None = None) -> OSError:
    return OSError(number, os.strerror(number), name)


@pytest.mark.parametrize(
    ("error", "message", "hint"),
    [
        (
            error_of(errno.ENOSPC, "/r/.git/x"),
            "`/r/.git/x`: no space left on device",
            "`df -h /r/.git` shows the free space; then run the command again",
        ),
        (
            error_of(errno.EDQUOT),
            "disk quota exceeded",
            "`df -h` shows the free space; then run the command again",
        ),
        (
            error_of(errno.EROFS, b"/r"),
            "read-only file system",
            "`findmnt -O ro` shows what is mounted read-only",
        ),
        (
            error_of(errno.EROFS, "/r/.git/x"),
            "`/r/.git/x`: read-only file system",
            "`findmnt -T /r/.git` shows what is mounted read-only",
        ),
        (
            error_of(errno.EACCES, "/my files/x"),
            "`/my files/x`: permission denied",
            "`ls -ld '/my files'` shows who can write there",
        ),
        (
            error_of(errno.EACCES, "/r/x"),
            "`/r/x`: permission denied",
            "`ls -ld /r` shows who can write there",
        ),
        (
            error_of(errno.EISDIR, "/r/.git/x y"),
            "`/r/.git/x y`: is a directory",
            "`ls -ld '/r/.git/x y'` shows what is there; `mv '/r/.git/x y' '/r/.git/x y.old'` moves it aside",
        ),
        (
            error_of(errno.EMFILE),
            "too many open files",
            "`ulimit -n` shows how many files may be open at once",
        ),
    ],
)
def test_what_the_machine_refuses_is_no_bug(error: OSError, message: str, hint: str) -> None:
    told = machine_error_of(error)
    assert isinstance(told, GitticksError)
    assert (told.message, told.hint) == (message, hint)


@pytest.mark.parametrize(
    "error", [ValueError("x"), OSError("x"), error_of(errno.EINVAL, "/r"), error_of(errno.EACCES)]
)
def test_anything_else_is(error: Exception) -> None:
    assert machine_error_of(error) is None
