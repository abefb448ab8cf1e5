"""What names a process for ever, so that nobody signals a stranger who was given the same pid.

A leaf module. On Linux the facts come from /proc; elsewhere from `ps` and `sysctl`, which count whole seconds.
"""

from __future__ import annotations

import fcntl
import functools
import os
from dataclasses import dataclass
from pathlib import Path

_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_STATE, _START_TICKS = 0, 19
"""Fields of /proc/<pid>/stat, counted behind the name, which may hold spaces and brackets itself."""


@dataclass(frozen=True, slots=True)
class ProcessIdentity:
    """One process of one boot of this machine; `start_ticks` is in clock ticks (in seconds where there is no /proc)."""

    pid: int
    start_ticks: int
    boot_id: str


def identity_of(pid: int) -> ProcessIdentity | None:
    """Returns the identity of the process that has `pid` now; None if nothing runs there (a zombie does not run)."""
    ticks = _start_ticks(pid)
    return None if ticks is None else ProcessIdentity(pid, ticks, boot_id())


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


def is_lock_held(path: Path) -> bool:
    """True while somebody holds the flock of `path`; an absent file is held by nobody."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


@functools.cache
def boot_id() -> str:
    """Returns what tells this boot of the machine from every other one."""
    try:
        return _BOOT_ID.read_text().strip()
    except OSError:
        return _ask("sysctl", "-n", "kern.boottime")


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
    import time

    state, _, started = _ask("ps", "-o", "state=,lstart=", "-p", str(pid)).partition(" ")
    if not started or state.startswith("Z"):
        return None
    return int(time.mktime(time.strptime(started.strip(), "%a %b %d %H:%M:%S %Y")))


def _ask(*command: str) -> str:
    import subprocess

    environment = {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C"}
    answer = subprocess.run(command, capture_output=True, check=False, env=environment)
    return answer.stdout.decode("utf-8", "replace").strip()
