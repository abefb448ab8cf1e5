"""Identifies a process for good, so that nobody signals a stranger with a reused pid.

A leaf module. On Linux the facts come from /proc; elsewhere from `ps` and `sysctl`, which count whole seconds.
"""

from __future__ import annotations

import functools
import json
import os
import re
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from gitticks.system import BOOT_ID_FILE, ask_program, boot_id

_BOOT_ID = Path(BOOT_ID_FILE)
_STATE, _START_TICKS = 0, 19
"""Fields of /proc/<pid>/stat, counted behind the name, which may hold spaces and brackets itself."""


class ProcessIdentity(NamedTuple):
    """One process of one boot of this machine; `start_ticks` is in clock ticks (in seconds where there is no /proc)."""

    pid: int
    start_ticks: int
    boot_id: str

    def to_json(self) -> str:
        """Returns the identity as one line of JSON."""
        return json.dumps(self._asdict())


def parse_identity(text: str) -> ProcessIdentity | None:
    """Returns what `to_json` wrote; None for anything else, such as a line torn by a crash."""
    try:
        values = json.loads(text)
        pid, start_ticks, boot = values["pid"], values["start_ticks"], values["boot_id"]
    except (ValueError, TypeError, KeyError):
        return None
    if isinstance(pid, int) and isinstance(start_ticks, int) and isinstance(boot, str):
        return ProcessIdentity(pid, start_ticks, boot)
    return None


def own_identity() -> ProcessIdentity:
    """Returns the identity of this process."""
    return _identity_of_living(os.getpid())


@functools.lru_cache(maxsize=4)
def _identity_of_living(pid: int) -> ProcessIdentity:
    """Caches by pid, so that a forked child does not take itself for its parent."""
    return identity_of(pid) or ProcessIdentity(pid, 0, boot_id())


def identity_of(pid: int) -> ProcessIdentity | None:
    """Returns the identity of the process that has `pid` now; None if nothing runs there (a zombie does not run)."""
    if pid <= 0:
        return None
    ticks = _start_ticks(pid)
    return None if ticks is None else ProcessIdentity(pid, ticks, boot_id())


def ancestors(pid: int) -> list[int]:
    """Returns the pids of a process's parents, the nearest first; what ends meanwhile cuts the list short."""
    found: list[int] = []
    while (parent := _parent_of(found[-1] if found else pid)) > 1 and parent not in found:
        found.append(parent)
    return found


def _parent_of(pid: int) -> int:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2]
        return int(fields.split()[1])
    except (OSError, ValueError, IndexError):
        said = "" if _BOOT_ID.exists() else ask_program("ps", "-o", "ppid=", "-p", str(pid)).strip()
        return int(said) if said.isdecimal() else 0


def is_alive(identity: ProcessIdentity) -> bool:
    """True if that very process still runs on this machine."""
    return identity_of(identity.pid) == identity


def send_signal(identity: ProcessIdentity, signal_number: int) -> bool:
    """Signals that very process and returns True, or False if it does not run any more or is not ours to signal."""
    if not is_alive(identity):
        return False
    try:
        os.kill(identity.pid, signal_number)
    except (ProcessLookupError, PermissionError):
        return False
    return True


def start_times(name: str, *, inside: Sequence[Path] = ()) -> list[float] | None:
    """Returns when each process whose program's name begins with `name` was started, in seconds since 1970.

    With `inside`, only those are meant that work in one of these folders or below. None where the system does not tell.
    """
    try:
        boot_time = re.search(r"^btime (\d+)$", Path("/proc/stat").read_text(encoding="ascii"), re.MULTILINE)
    except OSError:
        return None
    if boot_time is None:
        return None
    numbers = (int(folder.name) for folder in Path("/proc").iterdir() if folder.name.isdecimal())
    meant = (pid for pid in numbers if _program(pid).startswith(name) and _works_in(pid, inside))
    ticks = (_start_ticks(pid) for pid in meant)
    per_second = os.sysconf("SC_CLK_TCK")
    return [int(boot_time[1]) + tick / per_second for tick in ticks if tick is not None]


def _program(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


def _works_in(pid: int, folders: Sequence[Path]) -> bool:
    """True also for a process that does not show where it works."""
    if not folders:
        return True
    try:
        place = Path(f"/proc/{pid}/cwd").readlink()
    except (FileNotFoundError, ProcessLookupError):  # it has just ended
        return False
    except OSError:
        return True
    return any(place.is_relative_to(folder.resolve()) for folder in folders)


def _start_ticks(pid: int) -> int | None:
    if not _BOOT_ID.exists():
        return _start_seconds(pid)
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return None
    fields = stat[stat.rindex(b")") + 2 :].split()
    return None if fields[_STATE] in (b"Z", b"X") else int(fields[_START_TICKS])


def _start_seconds(pid: int) -> int | None:
    state, _, started = ask_program("ps", "-o", "state=,lstart=", "-p", str(pid)).partition(" ")
    if not started or state.startswith("Z"):
        return None
    return int(time.mktime(time.strptime(started.strip(), "%a %b %d %H:%M:%S %Y")))
