"""Ctrl-C and SIGTERM, handed to a thread.

A signal's handler runs between any two steps of the main thread, so a lock that it asked for could be one that the
main thread holds.
"""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from queue import SimpleQueue
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


@contextlib.contextmanager
def interrupting(on_interrupt: Callable[[], None]) -> Iterator[None]:
    """Calls `on_interrupt` in a thread of its own at each signal, while the block runs in the main thread."""
    asked: SimpleQueue[bool] = SimpleQueue()

    def handle(_number: int, _frame: FrameType | None) -> None:
        asked.put(True)

    def listen() -> None:
        while asked.get():
            on_interrupt()

    listener = threading.Thread(target=listen, name="interrupts", daemon=True)
    listener.start()
    before = {number: signal.signal(number, handle) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        asked.put(False)
        listener.join()
