"""The test servers' own threads."""

from __future__ import annotations

import socket
import threading

from tests.support.listeners import listening


def _accept(listener: socket.socket) -> bool:
    listener.accept()[0].close()
    return True


def test_no_thread_is_left_on_a_closed_socket() -> None:
    others = set(threading.enumerate())
    for listener in (
        socket.create_server(("127.0.0.1", 0)),
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM),
    ):
        take = _accept if listener.type == socket.SOCK_STREAM else lambda one: bool(one.recv(10))
        with listening(listener, take):
            assert len(set(threading.enumerate()) - others) == 1
        assert not set(threading.enumerate()) - others
        assert listener.fileno() == -1
