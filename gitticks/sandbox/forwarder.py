"""The small program behind the walls that leads a port to the proxy's socket outside, and runs the command.

It is started as `python -I -S forwarder.py SOCKET PORT COMMAND…` and imports nothing of gitticks. The command is its
child; it ends with it, and as it.
"""

from __future__ import annotations

import contextlib
import os
import socket
import sys
import threading

_CHUNK = 65536


def main(path: str, port: str, *command: str) -> int:
    """Runs the command, and forwards connections until it is over; returns its exit code."""
    listener = socket.create_server(("127.0.0.1", int(port)), backlog=64)
    child = os.fork()
    if child == 0:
        listener.close()
        try:
            os.execvp(command[0], command)  # noqa: S606 - no shell is the point
        except OSError as error:
            sys.stderr.write(f"cannot start `{command[0]}`: {error.strerror}\n")
            sys.stderr.flush()
        os._exit(127)
    threading.Thread(target=_serve, args=(listener, path), daemon=True).start()
    status = os.waitpid(child, 0)[1]
    return os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)


def _serve(listener: socket.socket, path: str) -> None:
    while True:
        near = listener.accept()[0]
        far = socket.socket(socket.AF_UNIX)
        try:
            far.connect(path)
        except OSError:
            near.close()
            continue
        for source, target in ((near, far), (far, near)):
            threading.Thread(target=_pump, args=(source, target), daemon=True).start()


def _pump(source: socket.socket, target: socket.socket) -> None:
    try:
        while data := source.recv(_CHUNK):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        for end in (source, target):  # the other thread may still read from one: both close when it is gone
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
