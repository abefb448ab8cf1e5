"""The small program in the sandbox that forwards ports to the proxy's socket outside, and runs the command.

It is started as `python -I -S forwarder.py SOCKET PORTS COMMAND…` and imports nothing of gitticks. The first of PORTS,
with commas between them, is the proxy's own; each other one stands for the same port of this machine outside. The
command is its child; it ends with it, and as it.
"""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import threading

_CHUNK = 65536


def main(path: str, ports: str, *command: str) -> int:
    """Runs the command, and forwards connections until it is over; returns its exit code."""
    own, *others = ports.split(",")
    requests = {own: b""} | {port: f"CONNECT localhost:{port} HTTP/1.1\r\n\r\n".encode() for port in others}
    try:
        listeners = {_listen(port): request for port, request in requests.items()}
    except OSError as error:
        sys.stderr.write(f"cannot open the ports {ports} in the sandbox: {error.strerror}\n")
        return 126
    child = os.fork()
    if child == 0:
        for listener in listeners:
            listener.close()
        for number in (signal.SIGPIPE, signal.SIGXFSZ):  # which Python ignores, and the command would
            signal.signal(number, signal.SIG_DFL)
        try:
            os.execvp(command[0], command)  # noqa: S606 - no shell is the point
        except OSError as error:
            sys.stderr.write(f"cannot start `{command[0]}`: {error.strerror}\n")
            sys.stderr.flush()
        os._exit(127)
    for number in (signal.SIGTERM, signal.SIGINT):  # its own end would take the command's grace
        signal.signal(number, signal.SIG_IGN)
    for listener, request in listeners.items():
        threading.Thread(target=_serve, args=(listener, path, request), daemon=True).start()
    status = os.waitpid(child, 0)[1]
    return os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)


def _listen(port: str) -> socket.socket:
    return socket.create_server(("127.0.0.1", int(port)), backlog=64)


def _serve(listener: socket.socket, path: str, request: bytes) -> None:
    while True:
        near = listener.accept()[0]
        far = socket.socket(socket.AF_UNIX)
        try:
            far.connect(path)
            _ask(far, request)
        except OSError:
            near.close()
            far.close()
            continue
        for source, target in ((near, far), (far, near)):
            threading.Thread(target=pump, args=(source, target), daemon=True).start()


def _ask(far: socket.socket, request: bytes) -> None:
    """Has the proxy connect to a port of this machine.

    Raises:
        OSError: it does not.
    """
    if not request:
        return
    far.sendall(request)
    answer = b""
    while not answer.endswith(b"\r\n\r\n"):
        piece = far.recv(1)  # what follows is the other side's
        answer += piece
        if not piece or len(answer) > _CHUNK:
            raise ConnectionRefusedError
    if b" 200 " not in answer.partition(b"\r\n")[0]:
        raise ConnectionRefusedError


def pump(source: socket.socket, target: socket.socket) -> None:
    """Passes on what comes from one side until it ends."""
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
