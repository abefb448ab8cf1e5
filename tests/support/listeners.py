"""Sockets that a thread listens on, closed only once that thread has let go of them.

A thread that is left in `accept` or `recv` on a closed socket is a trap: at any signal, such as the end of a child, the
kernel begins the call again by its number, which another test's server may have by then, and a connection is stolen.
"""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator


@contextlib.contextmanager
def listening(listener: socket.socket, take: Callable[[socket.socket], bool]) -> Iterator[None]:
    """Calls `take` in a thread of its own while the block runs, until it returns False; closes the socket at the end."""

    def serve() -> None:
        with contextlib.suppress(OSError):
            while take(listener):
                pass

    thread = threading.Thread(target=serve, name="listener of a test", daemon=True)
    with listener:
        thread.start()
        try:
            yield
        finally:
            with contextlib.suppress(OSError):  # a socket that is not connected complains, and is shut down
                listener.shutdown(socket.SHUT_RDWR)
            thread.join()
