"""The runner's side of the supervisor: starts a command, passes on its lines, stops it, learns how it ended."""

from __future__ import annotations

import contextlib
import json
import math
import os
import select
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gitticks.agents.base import Command, Ended, EndReason, Limits
from gitticks.agents.launch import Connection, StartError, kill_marked, launch, new_mark
from gitticks.agents.output import DROPPED, ENDED, ERRORS, OUTPUT, STARTED, Frames, HeadTail, Lines
from gitticks.processes import ProcessIdentity, identity_of, is_alive, send_signal

GRACEFUL, AT_ONCE = b"t", b"k"

__all__ = ["Command", "EndReason", "Ended", "Limits", "StopRequest", "run_supervised"]
_PATIENCE_SECONDS = 20.0
"""How long after every limit the supervisor itself may take before it counts as hung."""
_TICK_SECONDS = 1.0
_PAUSE_SECONDS = 0.02
_CHUNK = 65536


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


def run_supervised(
    command: Command,
    limits: Limits,
    on_line: Callable[[str], None] | None = None,
    stop: StopRequest | None = None,
    *,
    on_error_line: Callable[[str], None] | None = None,
    on_start: Callable[[ProcessIdentity], None] | None = None,
    lock: Path | None = None,
) -> Ended:
    """Runs a command to its end, which nothing of it outlives, and returns how it ended.

    Args:
        command: what to run.
        limits: what bounds it.
        on_line: called in this thread with each line of stdout as it comes, without its line end.
        stop: ends the command when another thread asks for it.
        on_error_line: the same as `on_line` for stderr.
        on_start: called with the identity of the supervisor; SIGTERM to it stops the command.
        lock: a file whose flock is held as long as anything of the command may live.

    What a callback raises ends the command and is raised on.
    """
    stop = stop or StopRequest()
    if stop.is_requested:
        return Ended(EndReason.STOPPED, problem="stopped before it was started")
    mark = new_mark()
    try:
        connection = launch(command, limits, lock=lock, mark=mark)
    except StartError as error:
        return Ended(EndReason.START_FAILED, problem=str(error))
    run = _Run(
        limits,
        connection,
        on_start or _ignore,
        lines={
            OUTPUT: Lines(on_line or _ignore, limits.line_bytes),
            ERRORS: Lines(on_error_line or _ignore, limits.line_bytes),
        },
        kept={OUTPUT: HeadTail(limits.kept_bytes), ERRORS: HeadTail(limits.kept_bytes)},
        mark=mark,
        begun=time.monotonic(),
    )
    try:
        with stop.listening(run.ask_to_stop):
            return run.follow()
    finally:
        run.finish()


@dataclass(slots=True)
class _Run:
    limits: Limits
    connection: Connection
    on_start: Callable[[ProcessIdentity], None]
    lines: Mapping[bytes, Lines]
    kept: Mapping[bytes, HeadTail]
    mark: str
    begun: float
    supervisor: ProcessIdentity | None = None
    is_started: bool = False
    end: dict[str, Any] | None = None
    dropped_bytes: int = 0
    asked_at: float = math.inf

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
            _await_child(guard, patience)
            code = guard.wait(0)
        except subprocess.TimeoutExpired:
            guard.kill()
            code = guard.wait()
        os.close(self.connection.report)
        if code != 0:
            if self.supervisor is not None:
                _await_end(self.supervisor, patience)
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
            if self.supervisor is not None:
                self.on_start(self.supervisor)
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
        said = self.end
        seconds = round(time.monotonic() - self.begun, 3)
        output, errors = self.kept[OUTPUT].text(), self.kept[ERRORS].text()
        if said is not None:
            return Ended(
                EndReason(said["reason"]),
                said.get("exit_code"),
                said.get("signal"),
                output,
                errors,
                self.dropped_bytes,
                seconds,
                said.get("problem", ""),
                bool(said.get("survived")),
            )
        if not self.is_started:
            return Ended(EndReason.START_FAILED, seconds=seconds, problem="the supervisor did not start")
        return Ended(
            EndReason.KILLED,
            output=output,
            errors=errors,
            dropped_bytes=self.dropped_bytes,
            seconds=seconds,
            problem="its supervisor was killed",
        )


def _await_child(child: subprocess.Popen[bytes], seconds: float) -> None:
    """Waits for the end of a child, at most so long, without the pauses of `Popen.wait` where the kernel tells of it."""
    try:
        descriptor = os.pidfd_open(child.pid)
    except (AttributeError, OSError):
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(seconds)
        return
    try:
        poller = select.poll()
        poller.register(descriptor, select.POLLIN)
        poller.poll(seconds * 1000)
    finally:
        os.close(descriptor)


def _await_end(identity: ProcessIdentity, seconds: float) -> None:
    give_up_at = time.monotonic() + seconds
    while is_alive(identity) and time.monotonic() < give_up_at:
        time.sleep(_PAUSE_SECONDS)


def _ignore(_: object) -> None:
    """Takes what nobody asked for."""
