from __future__ import annotations

import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import gitticks
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


@pytest.mark.parametrize(
    ("happens", "code", "told"),
    [
        (
            "while upgraded() is None: os.utime('gitticks/errors.py')",
            1,
            "error: gitticks was upgraded while this was running\n",
        ),
        ("os.rename('gitticks', 'away')", 1, "error: gitticks was upgraded while this was running\n"),
        ("pass", 70, "error: this is a bug in gitticks: ImportError: "),
    ],
)
def test_files_that_were_replaced_meanwhile_are_none(
    tmp_path: Path, happens: str, code: int, told: str
) -> None:
    shutil.copytree(Path(gitticks.__file__).parent, tmp_path / "gitticks")
    script = f"""
import os, sys
from gitticks.bugs import upgraded
from gitticks.cli.failures import guarded

def command():
    {happens}
    from gitticks.model import later

sys.exit(guarded(["status"], command))
"""
    ran = subprocess.run(
        [sys.executable, "-c", script],
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(tmp_path)},
        check=False,
        capture_output=True,
        text=True,
    )
    assert (ran.returncode, ran.stdout) == (code, "")
    assert ran.stderr.startswith(told)
