"""The two processes: the supervisor, and the guard that cleans up after a killed supervisor."""

from __future__ import annotations

import contextlib
import math
import os
import select
import signal
import time

from gitticks.agents.supervision.start import CONTROL, read_request
from gitticks.agents.supervision.supervisor import Supervisor
from gitticks.agents.supervision.tree import (
    SET_CHILD_SUBREAPER,
    control_process,
    drain,
    kill_descendants,
    wake_by_children,
)

GUARD_PATIENCE_SECONDS = 20.0
"""How long, beyond the grace, a supervisor may outlive its runner before the guard takes over."""


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
