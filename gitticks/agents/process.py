"""The runner's side of the supervisor: starts a command, passes on its lines, stops it, learns how it ended.

If both of the supervisor's processes were killed, it finds what is left by a mark in the environment.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import math
import os
import secrets
import select
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO, Any, NamedTuple

from gitticks.agents.base import Command, Ended, EndReason, Limits
from gitticks.agents.output import Frames, HeadTail, Lines
from gitticks.agents.supervision.start import LENGTH
from gitticks.agents.supervision.supervisor import DROPPED, ENDED, ERRORS, OUTPUT, STARTED
from gitticks.processes import ProcessIdentity, identity_of, is_alive, send_signal

GRACEFUL, AT_ONCE = b"t", b"k"

_PATIENCE_SECONDS = 20.0
"""How long after every limit the supervisor itself may take before it counts as hung."""
_TICK_SECONDS = 1.0
_PAUSE_SECONDS = 0.02
_CHUNK = 65536
MARK_VARIABLE = "GITTICKS_SUPERVISION"
_PROC = Path("/proc")
_ROUNDS = 100

_PROGRAM = Path(__file__).parent / "supervision" / "__main__.py"
_PYTHON_NEEDS = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")
"""What an interpreter that was built in an odd place cannot start without."""


class StopRequest:
    """A request to stop, which any number of running commands may listen to; once made it stands.

    `leaves_time` while the command is to end by itself, and is asked only if it does not.
    """

    def __init__(self) -> None:
        self.leaves_time = False
        self._lock = threading.Lock()
        self._letter: bytes | None = None
        self._listeners: list[Callable[[bytes], None]] = []

    @property
    def is_requested(self) -> bool:
        """True once somebody asked."""
        return self._letter is not None

    def request(self, *, at_once: bool = False) -> None:
        """Asks every command that listens to end: with SIGTERM and a grace, or with SIGKILL at once."""
        with self._lock:
            self._letter = AT_ONCE if at_once or self._letter == AT_ONCE else GRACEFUL
            for listener in self._listeners:
                listener(self._letter)

    @contextlib.contextmanager
    def listening(self, listener: Callable[[bytes], None]) -> Iterator[None]:
        """Calls `listener` at each request, and at once if one was made before, until the block is left."""
        with self._lock:
            self._listeners.append(listener)
            if self._letter is not None:
                listener(self._letter)
        try:
            yield
        finally:
            with self._lock:
                self._listeners.remove(listener)


def ignore(*_: object) -> None:
    """Takes what nobody asked for."""


def run_supervised(
    command: Command,
    limits: Limits,
    on_line: Callable[[str], None] = ignore,
    stop: StopRequest | None = None,
    *,
    on_error_line: Callable[[str], None] = ignore,
    lock: Path | None = None,
) -> Ended:
    """Runs a command to its end, which nothing of it outlives, and returns how it ended.

    `on_line` and `on_error_line` are called in this thread with each line as it comes, without its line end.
    The flock of `lock` is held as long as anything of the command may live. What a callback raises ends the command and
    is raised on.
    """
    stop = stop or StopRequest()
    if stop.is_requested:
        return Ended(EndReason.STOPPED, problem="stopped before it was started")
    mark = secrets.token_hex(16)
    try:
        connection = launch(command, limits, lock=lock, mark=mark)
    except StartError as error:
        return Ended(EndReason.START_FAILED, problem=str(error))
    run = _Run(connection, limits, {OUTPUT: on_line, ERRORS: on_error_line}, mark)
    try:
        with stop.listening(run.ask_to_stop):
            return run.follow()
    finally:
        run.finish()


class _Run:
    def __init__(
        self,
        connection: Connection,
        limits: Limits,
        listeners: Mapping[bytes, Callable[[str], None]],
        mark: str,
    ) -> None:
        self.connection, self.limits, self.mark = connection, limits, mark
        self.lines = {stream: Lines(hear, limits.line_bytes) for stream, hear in listeners.items()}
        self.kept = {stream: HeadTail(limits.kept_bytes) for stream in listeners}
        self.begun = time.monotonic()
        self.supervisor: ProcessIdentity | None = None
        self.is_started = False
        self.end: dict[str, Any] | None = None
        self.dropped_bytes = 0
        self.asked_at = math.inf

    def follow(self) -> Ended:
        """Passes the output on until the command is over, or its supervisor is gone or hangs."""
        frames = Frames()
        self.connection.send_request()
        while self.end is None:
            data = self._receive()
            if not data:
                break
            for letter, body in frames.feed(data):
                self._take(letter, body)
        for lines in self.lines.values():
            lines.close()
        return self._ended()

    def ask_to_stop(self, letter: bytes) -> None:
        """Passes a request to stop on; called from any thread, but never after the pipe was closed."""
        self.asked_at = min(self.asked_at, time.monotonic())
        with contextlib.suppress(OSError):
            os.write(self.connection.control, letter)

    def finish(self) -> None:
        """Closes the pipes and waits for the guard, which ends last; takes its part if it was killed or hangs."""
        guard, patience = self.connection.guard, self.limits.grace_seconds + _PATIENCE_SECONDS
        os.close(self.connection.control)
        if self.end is None and self.supervisor is not None and time.monotonic() > self._patience_end():
            send_signal(self.supervisor, signal.SIGKILL)
        try:
            code = guard.wait(patience)
        except subprocess.TimeoutExpired:
            guard.kill()
            code = guard.wait()
        os.close(self.connection.report)
        if code != 0:
            give_up_at = time.monotonic() + patience
            while self.supervisor is not None and is_alive(self.supervisor) and time.monotonic() < give_up_at:
                time.sleep(_PAUSE_SECONDS)
            kill_marked(self.mark)

    def _take(self, letter: bytes, body: bytes) -> None:
        if letter in self.lines:
            self.kept[letter].feed(body)
            self.lines[letter].feed(body)
            return
        said = json.loads(body)
        if letter == STARTED:
            self.is_started = True
            self.supervisor = identity_of(said["pid"])
        elif letter == DROPPED:
            stream = said["stream"].encode()
            self.dropped_bytes += said["bytes"]
            self.kept[stream].gap(said["bytes"])
            self.lines[stream].gap(said["bytes"])
        elif letter == ENDED:
            self.end = said

    def _receive(self) -> bytes:
        poller = select.poll()
        poller.register(self.connection.report, select.POLLIN)
        while not poller.poll(_TICK_SECONDS * 1000):
            if time.monotonic() > self._patience_end():
                return b""
        return os.read(self.connection.report, _CHUNK)

    def _patience_end(self) -> float:
        total = math.inf if self.limits.total_seconds is None else self.begun + self.limits.total_seconds
        return min(total, self.asked_at) + self.limits.grace_seconds + _PATIENCE_SECONDS

    def _ended(self) -> Ended:
        said: dict[str, Any] = {"reason": EndReason.KILLED, "problem": "its supervisor was killed"}
        if self.end is not None:
            said = {**self.end, "reason": EndReason(self.end["reason"])}
        elif not self.is_started:
            said = {"reason": EndReason.START_FAILED, "problem": "the supervisor did not start"}
        return Ended(
            output=self.kept[OUTPUT].text(),
            errors=self.kept[ERRORS].text(),
            dropped_bytes=self.dropped_bytes,
            seconds=round(time.monotonic() - self.begun, 3),
            **said,
        )


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


class Connection(NamedTuple):
    """A started supervisor: its guard, which is our child, and our ends of the two pipes."""

    guard: subprocess.Popen[bytes]
    control: int
    report: int
    request: bytes

    def send_request(self) -> None:
        """Says what to run; a supervisor that died meanwhile shows itself by the end of its report."""
        view = memoryview(LENGTH.pack(len(self.request)) + self.request)
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
            guard = subprocess.Popen(
                [sys.executable, "-I", "-S", str(_PROGRAM)],
                stdin=its_control,
                stdout=its_report,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env={name: os.environ[name] for name in _PYTHON_NEEDS if name in os.environ},
                pass_fds=inherited,
                start_new_session=True,
            )
        except OSError as error:
            os.close(control)
            os.close(report)
            raise StartError(f"cannot start the supervisor: {error.strerror}") from error
    return Connection(guard, control, report, request)


def _open_stdin(given: bytes | IO[bytes] | None, handed_over: contextlib.ExitStack) -> int | None:
    if given is None:
        return None
    try:
        if not isinstance(given, bytes):
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
