"""Output that goes on: until its reader leaves."""

from __future__ import annotations

import select
import sys


def is_reader_gone() -> bool:
    """True if nobody reads stdout any more, which a pipe tells only to those who ask or write."""
    try:
        poll = select.poll()
        poll.register(sys.stdout.fileno(), 0)
        return any(event & (select.POLLERR | select.POLLHUP) for _, event in poll.poll(0))
    except (OSError, ValueError, AttributeError):  # it is no file of the system's
        return False
