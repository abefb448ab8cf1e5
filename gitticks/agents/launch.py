"""Starts the supervisor, and finds what is left if both of its processes were killed."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import secrets
import signal
import struct
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from gitticks.agents.base import Command, Limits

MARK_VARIABLE = "GITTICKS_SUPERVISION"
_PROC = Path("/proc")
_ROUNDS, _PAUSE_SECONDS = 100, 0.02

_PROGRAM = Path(__file__).parent / "supervision" / "__main__.py"
_PYTHON_NEEDS = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
"""What an interpreter that was built in an odd place cannot start without."""
_LENGTH = struct.Struct(">I")


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


class StartError(Exception):
    """The supervisor could not be started; the message is for people."""


@dataclass(frozen=True, slots=True)
class Connection:
    """A started supervisor: its guard, which is our child, and our ends of the two pipes."""

    guard: subprocess.Popen[bytes]
    control: int
    report: int
    request: bytes

    def send_request(self) -> None:
        """Says what to run; a supervisor that died meanwhile shows itself by the end of its report."""
        view = memoryview(_LENGTH.pack(len(self.request)) + self.request)
        with contextlib.suppress(BrokenPipeError):
            while view:
                view = view[os.write(self.control, view) :]


def launch(command: Command, limits: Limits, *, lock: Path | None, mark: str) -> Connection:
    """Starts a supervisor, which waits for its request, and returns the connection to it.

    Raises:
        StartError: the lock is held, stdin cannot be read, or the machine cannot start another process.
    """
    with contextlib.ExitStack() as handed_over:
        stdin = _open_stdin(command.stdin, handed_over)
        held = _take_lock(lock, handed_over)
        inherited = [descriptor for descriptor in (stdin, held) if descriptor is not None]
        request = _encode(command, limits, stdin, inherited, mark)
        its_control, control = os.pipe()
        report, its_report = os.pipe()
        handed_over.callback(os.close, its_control)
        handed_over.callback(os.close, its_report)
        try:
            guard = _start_program(its_control, its_report, inherited)
        except OSError as error:
            os.close(control)
            os.close(report)
            raise StartError(f"cannot start the supervisor: {error.strerror}") from error
    return Connection(guard, control, report, request)


def _start_program(control: int, report: int, inherited: list[int]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-I", "-S", str(_PROGRAM)],
        stdin=control,
        stdout=report,
        stderr=subprocess.DEVNULL,
        cwd="/",
        env={name: os.environ[name] for name in _PYTHON_NEEDS if name in os.environ},
        pass_fds=inherited,
        start_new_session=True,
    )


def _open_stdin(given: bytes | Path | IO[bytes] | None, handed_over: contextlib.ExitStack) -> int | None:
    if given is None:
        return None
    try:
        if isinstance(given, Path):
            descriptor = os.open(given, os.O_RDONLY | os.O_CLOEXEC)
        elif not isinstance(given, bytes):
            with given:
                descriptor = os.dup(given.fileno())
        else:
            with tempfile.TemporaryFile() as file:
                file.write(given)
                file.seek(0)
                descriptor = os.dup(file.fileno())
    except OSError as error:
        raise StartError(f"cannot prepare the command's input: {error.strerror}") from error
    handed_over.callback(os.close, descriptor)
    return descriptor


def _take_lock(lock: Path | None, handed_over: contextlib.ExitStack) -> int | None:
    """Takes the flock here, where a refusal can be told; the supervisor inherits it, and only it keeps it."""
    if lock is None:
        return None
    try:
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        handed_over.callback(os.close, descriptor)
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise StartError(f"`{lock}` is held: another session is active") from error
    except OSError as error:
        raise StartError(f"cannot lock `{lock}`: {error.strerror}") from error
    return descriptor


def _encode(command: Command, limits: Limits, stdin: int | None, inherited: list[int], mark: str) -> bytes:
    environment = {**command.environment, MARK_VARIABLE: mark}
    if not command.argv:
        raise StartError("there is no command to start")
    if any("\0" in text for text in (*command.argv, *environment, *environment.values())):
        raise StartError("arguments and variables cannot hold a null character")
    request = {
        "argv": command.argv,
        "cwd": str(command.cwd),
        "environment": environment,
        "stdin": stdin,
        "inherited": inherited,
        "merge_errors": command.merge_errors,
        "stop_signal": command.stop_signal,
        "total_seconds": limits.total_seconds,
        "idle_seconds": limits.idle_seconds,
        "grace_seconds": limits.grace_seconds,
        "output_bytes": limits.output_bytes,
        "processes": limits.processes,
    }
    return json.dumps(request).encode()
