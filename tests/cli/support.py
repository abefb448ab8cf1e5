"""Runs `gt` as a person does: in this process with captured streams, as a process of its own, or on a terminal."""

from __future__ import annotations

import contextlib
import io
import os
import pty
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import IO
from unittest.mock import patch

from gitticks.cli import app
from gitticks.world import World
from tests.support.forking import fork_gt
from tests.support.waiting import LONGEST_SECONDS

_LOOKED_AT_BY_A_START = {"LD_PRELOAD", "PYTHONIOENCODING"}
"""The variables that tests set which only a new process looks at."""


@dataclass(frozen=True, slots=True)
class Ran:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def seen(self) -> str:
        """Returns status, stdout and stderr as one text for a snapshot."""
        return f"{self.out}--- {self.code}\n{self.err}"


def gt(
    *arguments: str,
    at: Path,
    environment: Mapping[str, str] | None = None,
    input: str = "",  # noqa: A002
    now: datetime | None = None,
    columns: int | None = None,
    encoding: str = "utf-8",
) -> Ran:
    """Runs a command in this process, in the directory `at`; `now` stops the clock.

    With `columns` stdout says that it is a terminal of that width, without colour; `encoding` is what it can show.
    The directory, the environment and the streams are those of the whole process: threads use `gt_process`.
    """
    assert threading.current_thread() is threading.main_thread(), "another thread would share its directory"
    out, err = _Stream(encoding, is_terminal=columns is not None), _Stream("utf-8")
    if columns is not None:
        environment = {"COLUMNS": str(columns), "NO_COLOR": "1", **(environment or {})}
    stopped = patch.object(World, "now", lambda _: now) if now else contextlib.nullcontext()
    with (
        contextlib.chdir(at),
        patch.dict(os.environ, environment or {}),
        patch.object(sys, "stdin", io.StringIO(input)),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        stopped,
    ):
        code = app.run(list(arguments))
    return Ran(code, out.text(), err.text())


def gt_process(
    *arguments: str,
    at: Path,
    environment: Mapping[str, str] | None = None,
    input: str = "",  # noqa: A002
) -> Ran:
    """Runs a command as a process of its own: a fork of one that has loaded gitticks, unless its start is looked at."""
    given = {**os.environ, **(environment or {})}
    if _LOOKED_AT_BY_A_START.isdisjoint(given):
        return _forked(arguments, at, given, input)
    done = subprocess.run(
        command(*arguments),
        cwd=at,
        input=input,
        capture_output=True,
        text=True,
        encoding="utf-8",
        errors="surrogateescape",
        env=given,
        check=False,
        timeout=LONGEST_SECONDS,
    )
    return Ran(done.returncode, done.stdout, done.stderr)


def _forked(arguments: Sequence[str], at: Path, environment: Mapping[str, str], given: str) -> Ran:
    with ExitStack() as opened:
        streams = [opened.enter_context(tempfile.TemporaryFile()) for _ in range(3)]
        streams[0].write(given.encode("utf-8", "surrogateescape"))
        streams[0].seek(0)
        numbers = streams[0].fileno(), streams[1].fileno(), streams[2].fileno()
        code = fork_gt(arguments, at, environment, numbers).wait(LONGEST_SECONDS)
        return Ran(code, *(_text(stream) for stream in streams[1:]))


def gt_on_terminal(
    *arguments: str, at: Path, columns: int = 80, environment: Mapping[str, str] | None = None
) -> Ran:
    """Runs a command whose stdout is a terminal of `columns`; stderr is still a pipe."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        command(*arguments),
        cwd=at,
        stdin=subprocess.DEVNULL,
        stdout=theirs,
        stderr=subprocess.PIPE,
        env={**os.environ, "COLUMNS": str(columns), "TERM": "xterm", **(environment or {})},
    ) as process:
        os.close(theirs)
        out = drain(ours)
        assert process.stderr is not None
        err = process.stderr.read()
        code = process.wait(LONGEST_SECONDS)
    os.close(ours)
    return Ran(code, out.decode().replace("\r\n", "\n"), err.decode())


def command(*arguments: str) -> list[str]:
    """Returns the command line that starts `gt` from this source tree."""
    return [sys.executable, "-P", "-c", "from gitticks.cli.entry import main; main()", *arguments]


def drain(descriptor: int) -> bytes:
    """Returns everything that a terminal shows, until its last writer has gone (which Linux tells as an error)."""
    parts: list[bytes] = []
    while True:
        try:
            part = os.read(descriptor, 65536)
        except OSError:
            part = b""
        if not part:
            return b"".join(parts)
        parts.append(part)


class _Stream(io.TextIOWrapper):
    """A stream into memory, which may say that it is a terminal."""

    def __init__(self, encoding: str, *, is_terminal: bool = False) -> None:
        super().__init__(io.BytesIO(), encoding=encoding, errors="surrogateescape", write_through=True)
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        return self._is_terminal

    def text(self) -> str:
        self.flush()
        assert isinstance(self.buffer, io.BytesIO)
        return _text(self.buffer)


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode("utf-8", "surrogateescape")
