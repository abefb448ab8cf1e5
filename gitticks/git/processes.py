"""Tells one process from another that got its number later: number, start time and boot together are never reused."""

from __future__ import annotations

import functools
import json
import os
import re
import sys
from dataclasses import dataclass
from pathlib import Path

_BOOT_ID_FILE = Path("/proc/sys/kernel/random/boot_id")
_STATE_FIELD = 0
_START_FIELD = 19
_ENDED_STATES = frozenset({"Z", "X", "x"})


@dataclass(frozen=True, slots=True)
class ProcessIdentity:
    """A process for ever: `started` in clock ticks since boot, or as the system words it where it has no /proc."""

    pid: int
    started: str
    boot: str

    def to_json(self) -> str:
        """Returns the identity as one line of JSON."""
        return json.dumps({"pid": self.pid, "started": self.started, "boot": self.boot})

    @property
    def is_alive(self) -> bool:
        """True while exactly this process runs on this machine; a zombie does not."""
        return identity_of(self.pid) == self


def parse_identity(text: str) -> ProcessIdentity | None:
    """Returns what `to_json` wrote; None for anything else, such as a line torn by a crash."""
    try:
        values = json.loads(text)
        pid, started, boot = values["pid"], values["started"], values["boot"]
    except (ValueError, TypeError, KeyError):
        return None
    if isinstance(pid, int) and isinstance(started, str) and isinstance(boot, str):
        return ProcessIdentity(pid, started, boot)
    return None


def own_identity() -> ProcessIdentity:
    """Returns the identity of this process."""
    return _identity_of_living(os.getpid())


@functools.lru_cache(maxsize=4)
def _identity_of_living(pid: int) -> ProcessIdentity:
    """Caches by number, so that a forked child does not take itself for its parent."""
    return identity_of(pid) or ProcessIdentity(pid, "unknown", boot_id())


def identity_of(pid: int) -> ProcessIdentity | None:
    """Returns the identity of the process that has the number `pid` now; None if there is none."""
    if pid <= 0:
        return None
    started = _start_ticks(pid) if sys.platform == "linux" else _start_by_ps(pid)
    return None if started is None else ProcessIdentity(pid, started, boot_id())


@functools.cache
def boot_id() -> str:
    """Returns a name of this run of the machine; empty where it cannot be told."""
    try:
        return _BOOT_ID_FILE.read_text(encoding="ascii").strip()
    except OSError:
        return _output_of("sysctl", "-n", "kern.bootsessionuuid") or ""


def start_times(name: str) -> list[float] | None:
    """Returns when each process whose program's name begins with `name` was started, in seconds since 1970.

    None where the system does not tell.
    """
    try:
        boot_time = re.search(r"^btime (\d+)$", Path("/proc/stat").read_text(encoding="ascii"), re.MULTILINE)
    except OSError:
        return None
    if boot_time is None:
        return None
    numbers = (int(folder.name) for folder in Path("/proc").iterdir() if folder.name.isdecimal())
    ticks = (_start_ticks(pid) for pid in numbers if _program(pid).startswith(name))
    per_second = os.sysconf("SC_CLK_TCK")
    return [int(boot_time[1]) + int(tick) / per_second for tick in ticks if tick is not None]


def _program(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def _start_ticks(pid: int) -> str | None:
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return None
    fields = text[text.rindex(")") + 1 :].split()  # the name in brackets may hold spaces and brackets
    return None if fields[_STATE_FIELD] in _ENDED_STATES else fields[_START_FIELD]


def _start_by_ps(pid: int) -> str | None:
    words = _output_of("ps", "-o", "stat=,lstart=", "-p", str(pid))
    if not words:
        return None
    state, _, started = words.partition(" ")
    return None if state[:1] in _ENDED_STATES else started.strip()


def _output_of(*command: str) -> str | None:
    import subprocess

    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=10)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
