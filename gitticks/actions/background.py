"""Work in a background thread."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def in_background(work: Callable[[threading.Event], None], name: str) -> Iterator[None]:
    """Runs `work` in a thread of this name while the block runs, and waits for its end.

    It gets an event that is set when the block is over.
    """
    over = threading.Event()
    thread = threading.Thread(target=work, args=(over,), name=name, daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
