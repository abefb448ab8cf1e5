"""The supervisor: one command, its output and its limits, until all of its processes are gone; and its guard."""

from __future__ import annotations

import contextlib
import json
import math
import os
import select
import signal
import struct
import time
from collections import deque

from gitticks.agents.supervision.start import CONTROL, REPORT, Request, become_command, read_request
from gitticks.agents.supervision.tree import (
    GIVE_UP_SECONDS,
    KILL_PAUSE_SECONDS,
    SET_CHILD_SUBREAPER,
    control_process,
    descendants,
    drain,
    is_group_alive,
    kill_descendants,
    signal_descendants,
    signal_sandboxed,
    wake_by_children,
)

FRAME = struct.Struct(">cI")
STARTED, OUTPUT, ERRORS, DROPPED, ENDED = b"s", b"o", b"e", b"d", b"x"
STOP, KILL = b"t", b"k"
LONGEST_ERRORS = 1_048_576
EXITED, TIMED_OUT, IDLE, STOPPED, START_FAILED = "exited", "timed-out", "idle", "stopped", "start-failed"
CROWDED = "crowded"
_COUNT_SECONDS = 0.25
_A_DAY = 86_400.0
GUARD_PATIENCE_SECONDS = 20.0
"""How long, beyond the grace, a supervisor may outlive its runner before the guard takes over."""
CHUNK = 65536
LARGEST_PIPE = 1_048_576
LINE_COST = 32
"""Each line counts as so many bytes more, because it costs its reader time: a flood of empty lines is a flood too."""


class Supervisor:
    """One supervised command, from its start until nothing of it is left."""

    def __init__(self, request: Request, wake: int) -> None:
        self.request = request
        self.wake = wake
        self.status: int | None = None
        self.reason: str | None = None
        self.childless = False
        self.control_open = True
        self.report_open = True
        self.kill_at = math.inf
        self.give_up_at = math.inf
        self.unsent = bytearray()
        self.channels: list[Channel] = []
        self.main = 0
        self.is_stop_asked = False
        self.was_terminated = False
        self.left = 0
        self.started = self.heard = time.monotonic()
        self.count_at = math.inf if request.processes is None else self.started

    def run(self) -> None:
        """Runs the command to its end and reports it."""
        os.set_blocking(REPORT, False)
        self._send(STARTED, {"pid": os.getpid()})
        problem = self._start()
        if problem is not None:
            self._send(ENDED, {"reason": START_FAILED, "problem": problem})
            return
        while not self._is_over():
            self._wait()
            self._reap()
            self._judge()
        for channel in self.channels:
            channel.read_rest()
        self._deliver()

    def stop(self, *, at_once: bool = False, reason: str = STOPPED) -> None:
        """Begins to end the tree, or hurries an end that has started."""
        now = time.monotonic()
        if self.reason is None:
            self.reason = reason
            self.left = len(descendants()) if reason == EXITED and not self.childless else 0
            number = signal.SIGTERM if reason == EXITED else self.request.stop_signal
            self.was_terminated = number == signal.SIGTERM
            if not (self.request.is_walled and signal_sandboxed(number)):
                signal_descendants(self.main, number)
            signal_descendants(self.main, signal.SIGCONT)
            self.kill_at = now + self.request.grace_seconds
        if at_once:
            self.kill_at = min(self.kill_at, now)

    def ask_to_stop(self) -> None:
        """Notes that a signal asks for a graceful end; safe inside a signal handler."""
        self.is_stop_asked = True

    def _start(self) -> str | None:
        request = self.request
        parent = os.getpid()
        output_end, output = os.pipe()
        errors_end, errors = (None, output) if request.merge_errors else os.pipe()
        failure_end, failure = os.pipe()
        stdin = request.stdin if request.stdin is not None else os.open(os.devnull, os.O_RDONLY)
        self.main = os.fork()
        if self.main == 0:
            become_command(request, parent, (stdin, output, errors), failure)
        for descriptor in {stdin, output, errors, failure}:
            os.close(descriptor)
        self.channels.append(Channel(output_end, OUTPUT, request.output_bytes))
        if errors_end is not None:
            self.channels.append(Channel(errors_end, ERRORS, min(request.output_bytes, LONGEST_ERRORS)))
        problem = os.read(failure_end, CHUNK)
        os.close(failure_end)
        if problem:
            os.waitpid(self.main, 0)
        return problem.decode("utf-8", "replace") or None

    def _is_over(self) -> bool:
        return (self.status is not None and self.childless) or time.monotonic() >= self.give_up_at

    def _wait(self) -> None:
        poller = select.poll()
        poller.register(self.wake, select.POLLIN)
        if self.control_open:
            poller.register(CONTROL, select.POLLIN)
        if self.report_open and self._refill():
            poller.register(REPORT, select.POLLOUT)
        for channel in self.channels:
            if channel.descriptor is not None:
                poller.register(channel.descriptor, select.POLLIN)
        happened = {descriptor for descriptor, _ in poller.poll(self._milliseconds())}
        if self.wake in happened:
            drain(self.wake)
        if CONTROL in happened:
            self._obey(os.read(CONTROL, 100))
        if REPORT in happened:
            self._write()
        for channel in self.channels:
            if channel.descriptor in happened and channel.read():
                self.heard = time.monotonic()

    def _milliseconds(self) -> int | None:
        limits = self._time_limit(), self._idle_limit(), self.count_at
        deadline = min(limits) if self.reason is None else self.kill_at
        if deadline == math.inf:
            return None
        seconds = deadline - time.monotonic()
        if self.give_up_at != math.inf:
            seconds = max(seconds, KILL_PAUSE_SECONDS)
        return math.ceil(max(0.0, min(seconds, _A_DAY)) * 1000)

    def _time_limit(self) -> float:
        total = self.request.total_seconds
        return math.inf if total is None else float(self.started + total)

    def _idle_limit(self) -> float:
        idle = self.request.idle_seconds
        return math.inf if idle is None else float(self.heard + idle)

    def _obey(self, letters: bytes) -> None:
        if not letters:
            self.control_open = self.report_open = False
        self.stop(at_once=KILL in letters)

    def _reap(self) -> None:
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                self.childless = not is_group_alive(self.main)
                return
            if pid == 0:
                self.childless = False
                return
            if pid == self.main:
                self.status = status

    def _judge(self) -> None:
        now = time.monotonic()
        if self.is_stop_asked:
            self.stop()
        if self.reason is None:
            if self.status is not None:
                self.stop(reason=EXITED)
            elif now >= self._time_limit():
                self.stop(reason=TIMED_OUT)
            elif now >= self._idle_limit():
                self.stop(reason=IDLE)
            elif now >= self.count_at:
                self._count()
        elif self.status is not None and not self.was_terminated:
            # What the command leaves behind may know no other signal.
            self.was_terminated = True
            signal_descendants(self.main, signal.SIGTERM)
        if now >= self.kill_at and not self._is_over():
            self.give_up_at = min(self.give_up_at, now + GIVE_UP_SECONDS)
            signal_descendants(self.main, signal.SIGKILL)

    def _count(self) -> None:
        """Ends a command at once that has too many processes; as root no limit of the kernel's does."""
        self.count_at = time.monotonic() + _COUNT_SECONDS
        if len(descendants()) > (self.request.processes or math.inf):
            self.stop(at_once=True, reason=CROWDED)

    def _refill(self) -> bool:
        """Makes the next frame ready if the one before is out; True if there is something to send."""
        for channel in self.channels:
            if not self.unsent and channel.pending:
                body = channel.pending[:CHUNK]
                del channel.pending[:CHUNK]
                self.unsent += FRAME.pack(channel.letter, len(body)) + body
        return bool(self.unsent)

    def _write(self) -> None:
        try:
            del self.unsent[: os.write(REPORT, self.unsent)]
        except BlockingIOError:
            pass
        except OSError:
            self.report_open = False

    def _deliver(self) -> None:
        """Sends all that was held back, waiting for the runner as long as it lives."""
        self._send_pending()
        for channel in self.channels:
            channel.cut_tail()
            if channel.dropped:
                self._send(DROPPED, {"stream": channel.letter.decode(), "bytes": channel.dropped})
            while channel.tail:
                channel.pending += channel.tail.popleft()
                self._send_pending()
        exited = self.status is not None and os.WIFEXITED(self.status)
        signalled = self.status is not None and os.WIFSIGNALED(self.status)
        self._send(
            ENDED,
            {
                "reason": self.reason,
                "exit_code": os.WEXITSTATUS(self.status or 0) if exited else None,
                "signal": os.WTERMSIG(self.status or 0) if signalled else None,
                "left": self.left,
                "survived": not self.childless,
            },
        )

    def _send_pending(self) -> None:
        while self.report_open and self._refill():
            self._flush()

    def _send(self, letter: bytes, body: dict[str, str | int | None]) -> None:
        encoded = json.dumps(body).encode()
        self.unsent += FRAME.pack(letter, len(encoded)) + encoded
        self._flush()

    def _flush(self) -> None:
        while self.unsent and self.report_open:
            poller = select.poll()
            poller.register(REPORT, select.POLLOUT)
            poller.register(CONTROL, 0)
            happened = {descriptor for descriptor, _ in poller.poll()}
            if CONTROL in happened:
                self.report_open = False
            if REPORT in happened:
                self._write()


def main() -> None:
    """Reads the request, then becomes the guard and, in a session of its own, the supervisor."""
    request = read_request()
    for descriptor in request.inherited:
        os.set_inheritable(descriptor, False)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    control_process(SET_CHILD_SUBREAPER, 1)
    child = os.fork()
    if child != 0:
        _guard(child, request.grace_seconds)
        return
    os.setsid()
    control_process(SET_CHILD_SUBREAPER, 1)
    supervisor = Supervisor(request, wake_by_children())
    signal.signal(signal.SIGTERM, lambda _number, _frame: supervisor.ask_to_stop())
    supervisor.run()


def _guard(supervisor: int, grace_seconds: float) -> None:
    """Waits for the supervisor, hurries it when the runner is long dead, and ends what it leaves."""
    wake = wake_by_children()
    deadline = math.inf
    while os.waitpid(supervisor, os.WNOHANG)[0] == 0:
        poller = select.poll()
        poller.register(wake, select.POLLIN)
        if deadline == math.inf:
            poller.register(CONTROL, 0)
        pause = None if deadline == math.inf else math.ceil(max(0.0, deadline - time.monotonic()) * 1000)
        happened = {descriptor for descriptor, _ in poller.poll(pause)}
        drain(wake)
        if CONTROL in happened:
            deadline = time.monotonic() + grace_seconds + GUARD_PATIENCE_SECONDS
        if time.monotonic() >= deadline:
            with contextlib.suppress(ProcessLookupError):
                os.kill(supervisor, signal.SIGKILL)
            deadline = time.monotonic() + 1
    kill_descendants()


class Channel:
    """One output of the command: its head goes out at once, of what follows only the tail is kept."""

    def __init__(self, descriptor: int, letter: bytes, limit: int) -> None:
        os.set_blocking(descriptor, False)
        self.descriptor: int | None = descriptor
        self.letter = letter
        self.pending = bytearray()
        self.tail: deque[bytearray] = deque()
        self.tail_limit = limit // 4
        self.head_left = limit - self.tail_limit
        self.tail_cost = 0
        self.dropped = 0

    def read(self) -> bool:
        """Takes what there is, one chunk of it; True if there was something."""
        if self.descriptor is None:
            return False
        try:
            data = os.read(self.descriptor, CHUNK)
        except BlockingIOError:
            return False
        if not data:
            os.close(self.descriptor)
            self.descriptor = None
            return False
        self._feed(data)
        return True

    def read_rest(self) -> None:
        """Takes what the pipe still holds; not more, for something that outlived the tree may continue writing."""
        for _ in range(LARGEST_PIPE // CHUNK):
            if not self.read():
                return

    def _feed(self, data: bytes) -> None:
        cost = _cost(data)
        if cost > self.head_left:
            cut = self.head_left * len(data) // cost
            self.head_left = 0
            self.pending += data[:cut]
            self._keep(data[cut:])
        else:
            self.head_left -= cost
            self.pending += data

    def _keep(self, data: bytes) -> None:
        """Adds to the tail; small pieces are joined, because a million tiny objects would break the limit."""
        if not self.tail or len(self.tail[-1]) >= CHUNK:
            self.tail.append(bytearray())
        self.tail[-1] += data
        self.tail_cost += _cost(data)
        while (first := _cost(self.tail[0])) <= self.tail_cost - self.tail_limit:
            self.dropped += len(self.tail.popleft())
            self.tail_cost -= first

    def cut_tail(self) -> None:
        """Cuts the tail to its limit exactly, which is done only once, at the end."""
        excess = self.tail_cost - self.tail_limit
        if excess > 0:
            block = self.tail[0]
            cut = -(-excess * len(block) // _cost(block))
            del block[:cut]
            self.dropped += cut


def _cost(data: bytes | bytearray) -> int:
    return len(data) + LINE_COST * data.count(b"\n")
