"""Runs `gt` in a child of the test's own process: as separate as a process of its own, and ten times as quick to start.

Hundreds of broken repositories times a dozen commands would otherwise be spent on starting Python. The child inherits
loaded modules and nothing else: it opens the repository anew, and it is ended with all that it started if it hangs.
"""

from __future__ import annotations

import io
import os
import pty
import select
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NoReturn

from gitticks.cli import app
from tests.support.waiting import LONGEST_SECONDS

HUNG = -1
CRASHED = -2


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended; `code` is `HUNG` if it had to be ended, `CRASHED` if an exception left `gt`."""

    words: str
    code: int
    out: str
    err: str
    seconds: float

    def __str__(self) -> str:
        """Returns what a person saw, for the message of a failed test."""
        return f"$ gt {self.words}\n{self.out}{self.err}[{self.code}, {self.seconds:.1f} s]"


def gt_forked(
    *arguments: str, at: Path, environment: Mapping[str, str] | None = None, seconds: float = LONGEST_SECONDS
) -> Ended:
    """Runs a command in a forked child, in the directory `at`, with an empty stdin."""
    begun = time.monotonic()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        child = os.fork()
        if child == 0:
            _run_in_child(list(arguments), at, environment or {}, (out.fileno(), err.fileno()))
        code = _wait(child, seconds)
        took = time.monotonic() - begun
        return Ended(" ".join(arguments), code, _text(out), _text(err), took)


def gt_on_terminal(
    *arguments: str, at: Path, environment: Mapping[str, str] | None = None, seconds: float = LONGEST_SECONDS
) -> tuple[Ended, bytes]:
    """Runs a command in a forked child whose streams all are one terminal, and returns every byte that reached it."""
    begun = time.monotonic()
    ours, theirs = pty.openpty()
    child = os.fork()
    if child == 0:
        os.close(ours)
        shown = {"TERM": "xterm-256color", "COLUMNS": "100", **(environment or {})}
        _run_in_child(list(arguments), at, shown, (theirs, theirs))
    os.close(theirs)
    seen = _drain(ours, begun + seconds)
    code = _wait(child, max(0.0, begun + seconds - time.monotonic()))
    took = time.monotonic() - begun
    return Ended(" ".join(arguments), code, seen.decode("utf-8", "surrogateescape"), "", took), seen


def _drain(terminal: int, deadline: float) -> bytes:
    """Returns what a terminal shows until its last writer has gone, which Linux tells as an error, or time is up."""
    parts: list[bytes] = []
    try:
        while select.select([terminal], [], [], max(0.0, deadline - time.monotonic()))[0]:
            parts.append(os.read(terminal, 1 << 16))
    except OSError:
        pass
    finally:
        os.close(terminal)
    return b"".join(parts)


def _run_in_child(
    arguments: list[str], at: Path, environment: Mapping[str, str], streams: tuple[int, int]
) -> NoReturn:
    code = CRASHED & 0xFF
    try:
        null = os.open(os.devnull, os.O_RDONLY)
        for number, descriptor in enumerate((null, *streams)):
            os.dup2(descriptor, number)
        sys.stdin = io.TextIOWrapper(io.FileIO(0, "r"), encoding="utf-8")
        sys.stdout, sys.stderr = (_stream(number) for number in (1, 2))
        os.environ.update(environment)
        os.chdir(at)
        code = app.run(arguments)
        sys.stdout.flush()
    except BaseException:  # noqa: BLE001 - nothing may get out of the child into the test's own frames
        traceback.print_exc()
    finally:
        os._exit(code)


def _stream(number: int) -> io.TextIOWrapper:
    raw = io.FileIO(number, "w", closefd=False)
    return io.TextIOWrapper(
        io.BufferedWriter(raw), encoding="utf-8", errors="surrogateescape", write_through=True
    )


def _text(file: BinaryIO) -> str:
    file.seek(0)
    return file.read().decode("utf-8", "surrogateescape")


def _wait(child: int, seconds: float) -> int:
    """Returns the child's exit code; a child that hangs is ended together with its descendants."""
    descriptor = os.pidfd_open(child)
    try:
        ready, _, _ = select.select([descriptor], [], [], seconds)
        if not ready:
            for process in [*_descendants(child), child]:
                os.kill(process, signal.SIGKILL)
        status = os.waitpid(child, 0)[1]
    finally:
        os.close(descriptor)
    if not ready:
        return HUNG
    code = os.waitstatus_to_exitcode(status)
    return CRASHED if code == CRASHED & 0xFF else code


def _descendants(process: int) -> Iterator[int]:
    for task in Path(f"/proc/{process}/task").iterdir():
        for child in map(int, (task / "children").read_text(encoding="ascii").split()):
            yield from _descendants(child)
            yield child
