"""A person at a terminal: a command whose questions are read as they appear, and answered by typing."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.cli.support import Ran, command
from tests.support.waiting import LONGEST_SECONDS


def typed(
    *arguments: str,
    at: Path,
    answers: Sequence[tuple[str, str]],
    environment: Mapping[str, str] | None = None,
) -> Ran:
    """Runs a command whose stdin and stderr are a terminal; stdout is a pipe.

    Args:
        arguments: the command's.
        at: the directory.
        answers: what has to appear on the terminal, and what is typed then, one after the other.
        environment: what is added to the environment.
    """
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        command(*arguments),
        cwd=at,
        stdin=theirs,
        stdout=subprocess.PIPE,
        stderr=theirs,
        start_new_session=True,
        env={**os.environ, "TERM": "dumb", **(environment or {})},
    ) as process:
        os.close(theirs)
        try:
            shown = _converse(ours, answers)
            assert process.stdout is not None
            out = process.stdout.read()
            code = process.wait(LONGEST_SECONDS)
        finally:
            process.kill()
            os.close(ours)
    return Ran(code, out.decode(), shown.replace("\r\n", "\n"))


def _converse(terminal: int, answers: Sequence[tuple[str, str]]) -> str:
    shown, searched = b"", 0
    for wanted, answer in answers:
        while (found := shown.find(wanted.encode(), searched)) < 0:
            piece = _read(terminal)
            assert piece, f"{wanted!r} never appeared: {shown.decode()}"
            shown += piece
        searched = found + len(wanted.encode())
        os.write(terminal, answer.encode())
    while piece := _read(terminal):
        shown += piece
    return shown.decode()


def _read(terminal: int) -> bytes:
    """Returns what a terminal shows next, nothing once its last writer has gone."""
    deadline = time.monotonic() + LONGEST_SECONDS
    assert select.select([terminal], [], [], deadline - time.monotonic())[0], "nothing appeared"
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b""


def shown_till(terminal: int, *wanted: bytes) -> bytes:
    """Returns what a terminal shows up to the last of some texts, which come one after the other."""
    shown, searched = b"", 0
    for one in wanted:
        while (found := shown.find(one, searched)) < 0:
            assert select.select([terminal], [], [], LONGEST_SECONDS)[0], shown
            shown += os.read(terminal, 65536)
        searched = found + len(one)
    return shown
