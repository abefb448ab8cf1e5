"""Finding, signalling and ending every descendant of this process."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from collections.abc import Callable

GIVE_UP_SECONDS = 10.0
"""How long killed processes may take to vanish: one that hangs in the kernel must not hang the runner."""
KILL_PAUSE_SECONDS = 0.005

SET_PARENT_DEATH_SIGNAL, SET_CHILD_SUBREAPER = 1, 36


def control_process(option: int, value: int) -> bool:
    """Calls Linux's prctl; False where there is none."""
    if not sys.platform.startswith("linux"):
        return False
    import ctypes

    return bool(ctypes.CDLL(None).prctl(option, value, 0, 0, 0) == 0)


def signal_descendants(main: int, number: int) -> None:
    """Signals every descendant of this process, by whole process groups first.

    A group is signalled in one step that no fork can slip through; none of them can be a stranger's, because the
    command began a session of its own.
    """
    pids = descendants()
    own = os.getpgrp()
    groups = set() if is_linux() else {main}
    for pid in pids:
        with contextlib.suppress(OSError):
            groups.add(os.getpgid(pid))
    for group in groups - {own, 0}:
        with contextlib.suppress(OSError):
            os.killpg(group, number)
    if number == signal.SIGKILL or not groups:
        for pid in pids:
            with contextlib.suppress(OSError):
                os.kill(pid, number)


def signal_sandboxed(number: int) -> bool:
    """Signals what of the descendants is in a sandbox; False if none is.

    The sandbox itself is left out, because its end kills all that is in it at once.
    """
    own = _namespaces(os.getpid())
    pids = [pid for pid in descendants() if _namespaces(pid) > own]
    for pid in pids:
        with contextlib.suppress(OSError):
            os.kill(pid, number)
    return bool(pids)


def _namespaces(pid: int) -> int:
    """Returns how many namespaces of processes, one in another, a process is in; 0 if it is gone."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/status", "rb") as file:  # noqa: PTH123
        return next((len(line.split()) for line in file if line.startswith(b"NSpid:")), 0)
    return 0


def descendants(top: int | None = None) -> list[int]:
    """Returns the pids of all descendants of a process, or of this one, near ones first; some may be gone already."""
    children = _children if os.path.exists(f"/proc/self/task/{os.getpid()}/children") else _listed_children()  # noqa: PTH110
    found: list[int] = []
    front = children(top or os.getpid())
    while front:
        found += front
        front = [child for pid in front for child in children(pid)]
    return found


def _children(pid: int) -> list[int]:
    """Returns the children of all threads of `pid`, from files that take microseconds to read."""
    found: list[int] = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):  # noqa: PTH208 - pathlib would double the start-up time
            with open(f"/proc/{pid}/task/{thread}/children", "rb") as file:  # noqa: PTH123
                found += map(int, file.read().split())
    except OSError:
        pass
    return found


def _listed_children() -> Callable[[int], list[int]]:
    import subprocess

    listing = subprocess.run(
        ["ps", "-A", "-o", "pid=,ppid="], capture_output=True, check=False, env={"PATH": os.defpath}
    ).stdout
    pairs = [tuple(map(int, line.split())) for line in listing.splitlines()]
    return lambda parent: [pid for pid, ppid in pairs if ppid == parent]


def is_linux() -> bool:
    """True where subreapers exist, so that "no child" means "no descendant"."""
    return sys.platform.startswith("linux")


def is_group_alive(main: int) -> bool:
    """True if the command's process group has members that are not our children; never on Linux."""
    if is_linux():
        return False
    try:
        os.killpg(main, 0)
    except OSError:
        return False
    return True


def kill_descendants() -> None:
    """Kills and reaps the descendants of this process until none is left."""
    give_up_at = time.monotonic() + GIVE_UP_SECONDS
    with contextlib.suppress(ChildProcessError):
        while time.monotonic() < give_up_at:
            signal_descendants(0, signal.SIGKILL)
            if os.waitpid(-1, os.WNOHANG)[0] == 0:
                time.sleep(KILL_PAUSE_SECONDS)


def wake_by_children() -> int:
    """Returns a descriptor that becomes readable with every signal from now on, the end of a child above all."""
    wake, signalled = os.pipe()
    os.set_blocking(wake, False)
    os.set_blocking(signalled, False)
    signal.set_wakeup_fd(signalled, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
    return wake


def drain(descriptor: int) -> None:
    """Empties the pipe that signals write to."""
    with contextlib.suppress(BlockingIOError):
        while os.read(descriptor, 4096):
            pass
