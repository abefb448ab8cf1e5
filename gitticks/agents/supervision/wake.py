"""Waking a poll when a child ends: signals that write to a pipe, because Python waits for no two things at once."""

from __future__ import annotations

import contextlib
import os
import signal


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
