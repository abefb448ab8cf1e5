"""Remotes as a network has them, on this machine alone: git's own server, and git behind a web server with a password."""

from __future__ import annotations

import base64
import os
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from tests.support.waiting import LONGEST_SECONDS

USER, PASSWORD = "ada", "countess"
_READY = "Ready to rumble"


@contextmanager
def git_daemon(folder: Path, *, may_push: bool = True) -> Iterator[str]:
    """Serves the repositories of a folder by git's own protocol while the block runs; yields the address."""
    options = ["--verbose", "--export-all", "--reuseaddr", "--listen=127.0.0.1", f"--base-path={folder}"]
    command = ["git", "daemon", *options, *(["--enable=receive-pack"] if may_push else [])]
    port, daemon = _start_daemon(command, folder)
    with daemon:
        assert daemon.stderr is not None
        reader = threading.Thread(target=daemon.stderr.read, daemon=True)
        reader.start()
        try:
            yield f"git://127.0.0.1:{port}"
        finally:
            daemon.terminate()
            daemon.wait(LONGEST_SECONDS)
            reader.join(10)


def _start_daemon(command: list[str], folder: Path) -> tuple[int, subprocess.Popen[str]]:
    """Starts git's server and returns its port too; where another program was quicker at a free one, on the next."""
    while True:
        port = _free_port()
        daemon = subprocess.Popen(
            [*command, f"--port={port}", str(folder)], stderr=subprocess.PIPE, text=True
        )
        assert daemon.stderr is not None
        said = []
        for line in daemon.stderr:
            said.append(line)
            if _READY in line:
                return port, daemon
        daemon.communicate()
        assert "in use" in "".join(said), said


@contextmanager
def http_server(folder: Path, *, asks_password: bool = False) -> Iterator[str]:
    """Serves the repositories of a folder by http while the block runs; yields the address, without a password."""

    class Handler(_Handler):
        root, is_closed = folder, asks_password

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)


class _Handler(BaseHTTPRequestHandler):
    """Hands every request to `git http-backend`."""

    protocol_version = "HTTP/1.1"
    root: Path
    is_closed: bool

    def do_GET(self) -> None:
        self._answer()

    def do_POST(self) -> None:
        self._answer()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Says nothing."""

    def _answer(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if self.is_closed and self.headers.get("Authorization") != _basic(USER, PASSWORD):
            self._send("401 Unauthorized", {"WWW-Authenticate": 'Basic realm="tasks"'}, b"")
            return
        done = subprocess.run(
            ["git", "http-backend"],
            input=body,
            capture_output=True,
            check=False,
            env=self._environment(len(body)),
        )
        head, _, content = done.stdout.partition(b"\r\n\r\n")
        fields = dict(line.split(": ", 1) for line in head.decode().splitlines())
        status = fields.pop("Status", "200 OK")
        self._send(status, fields, content)

    def _environment(self, length: int) -> dict[str, str]:
        path, _, query = self.path.partition("?")
        return {
            **os.environ,
            "GIT_PROJECT_ROOT": str(self.root),
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": path,
            "QUERY_STRING": query,
            "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""),
            "CONTENT_LENGTH": str(length),
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""),
            "REMOTE_USER": USER,
        }

    def _send(self, status: str, fields: dict[str, str], content: bytes) -> None:
        code, _, words = status.partition(" ")
        self.send_response(int(code), words)
        for name, value in fields.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def _basic(user: str, password: str) -> str:
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()


def _free_port() -> int:
    import socket

    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        port = listening.getsockname()[1]
    assert isinstance(port, int)
    return port
