"""Asking a command to stop from another thread: a key press, a budget, a person's change."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator

GRACEFUL, AT_ONCE = b"t", b"k"


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
