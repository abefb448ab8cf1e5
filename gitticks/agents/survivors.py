"""The last line of defence: finding what is left when a command killed both of its supervisors.

Every command gets a variable with a value of its own. It is no wall, a program can clear its environment; it is for
the case in which nothing better is left.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import signal
import time
from pathlib import Path

MARK_VARIABLE = "GITTICKS_SUPERVISION"
_PROC = Path("/proc")
_ROUNDS, _PAUSE_SECONDS = 100, 0.02


def new_mark() -> str:
    """Returns a value that no other command has."""
    return secrets.token_hex(16)


def marked_processes(mark: str) -> list[int]:
    """Returns the pids of all processes that carry the mark; empty where there is no /proc."""
    wanted = f"{MARK_VARIABLE}={mark}".encode()
    found = []
    for directory in _PROC.iterdir() if _PROC.is_dir() else ():
        if directory.name.isdecimal():
            with contextlib.suppress(OSError):
                if wanted in (directory / "environ").read_bytes().split(b"\0"):
                    found.append(int(directory.name))
    return found


def kill_marked(mark: str) -> None:
    """Kills every process that carries the mark, until two looks find none: one that just starts a program has none."""
    looks_without = 0
    for _ in range(_ROUNDS):
        pids = marked_processes(mark)
        looks_without = 0 if pids else looks_without + 1
        if looks_without > 1:
            return
        for pid in pids:
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)
        time.sleep(_PAUSE_SECONDS)
