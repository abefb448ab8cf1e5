"""Runs `gt` in a fork of a process that loaded it: hundreds of broken repositories times a dozen commands."""

from __future__ import annotations

import os
import pty
import select
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from tests.support.forking import fork_gt
from tests.support.waiting import LONGEST_SECONDS


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended; `code` is `CRASHED` if an exception left `gt`."""

    words: str
    code: int
    out: str
    err: str
    seconds: float

    def __str__(self) -> str:
        """Returns what a person saw, for the message of a failed test."""
        return f"$ gt {self.words}\n{self.out}{self.err}[{self.code}, {self.seconds:.1f} s]"


def gt_forked(*arguments: str, at: Path, environment: Mapping[str, str] | None = None) -> Ended:
    """Runs a command in the directory `at`, with an empty stdin."""
    begun = time.monotonic()
    with _nothing() as null, tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        streams = (null.fileno(), out.fileno(), err.fileno())
        code = fork_gt(arguments, at, environment or {}, streams).wait(LONGEST_SECONDS)
        took = time.monotonic() - begun
        return Ended(" ".join(arguments), code, _text(out), _text(err), took)


def gt_on_terminal(
    *arguments: str, at: Path, environment: Mapping[str, str] | None = None
) -> tuple[Ended, bytes]:
    """Runs a command whose stdout and stderr are one terminal, and returns every byte that reached it."""
    begun = time.monotonic()
    deadline = begun + LONGEST_SECONDS
    ours, theirs = pty.openpty()
    shown = {"TERM": "xterm-256color", "COLUMNS": "100", **(environment or {})}
    with _nothing() as null:
        fork = fork_gt(arguments, at, shown, (null.fileno(), theirs, theirs))
    os.close(theirs)
    seen = _drain(ours, deadline)
    code = fork.wait(deadline - time.monotonic())
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


def _nothing() -> BinaryIO:
    return open(os.devnull, "rb")  # noqa: PTH123


def _text(file: BinaryIO) -> str:
    file.seek(0)
    return file.read().decode("utf-8", "surrogateescape")
