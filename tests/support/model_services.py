"""A stand-in for the services of models, on this machine's loopback: it answers with what a test has written down.

All sessions draw from one script, in order: agents work one after the other in these tests. What a client asks beside
its agent's turns gets some words and draws nothing. When the script is over, every turn gets `LAST`.
"""

from __future__ import annotations

import json
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.support.wire_formats import FORMATS, Answer, Say, WireFormat, encode

LAST = Say("There is nothing left to do.")
_BESIDE = Say("A title")


@dataclass(frozen=True, slots=True)
class Fail:
    """The service refuses a turn, or with `is_lasting` all that follow."""

    status: int
    words: str = "as the script says"
    headers: Mapping[str, str] = field(default_factory=dict)
    is_lasting: bool = True


@dataclass(frozen=True, slots=True)
class Stall:
    """The service takes the turn and says nothing until it ends."""


Step = Answer | Fail | Stall
LateStep = Callable[[], Answer]
"""An answer that depends on what was done before it."""


class ModelServices:
    """The services while they stand; `turns` are what the clients sent, `keys` what they showed to be let in."""

    def __init__(self) -> None:
        self.turns: list[Mapping[str, Any]] = []
        self.keys: list[str] = []
        self.over = threading.Event()
        self.port = 0
        self._script: deque[Step | LateStep] = deque()
        self._lock = threading.Lock()

    @property
    def address(self) -> str:
        """Returns where they are reached."""
        return f"http://127.0.0.1:{self.port}"

    def play(self, *steps: Step | LateStep) -> None:
        """Adds to what is answered."""
        with self._lock:
            self._script.extend(steps)

    @property
    def unplayed(self) -> int:
        """Returns how much of the script nobody has asked for."""
        with self._lock:
            return len(self._script)

    def said_to_model(self) -> str:
        """Returns all that the clients sent, as text: what tools came to stands in it."""
        return json.dumps(self.turns)

    def next_step(self, asked: Mapping[str, Any], key: str) -> Step:
        """Takes a turn and returns what it gets."""
        with self._lock:
            self.turns.append(asked)
            self.keys.append(key)
            if not self._script:
                return LAST
            step = self._script[0]
            if not (isinstance(step, Fail) and step.is_lasting):
                self._script.popleft()
            return step() if callable(step) else step


@contextmanager
def model_services() -> Iterator[ModelServices]:
    """Gives services that stand while the block runs."""
    services = ModelServices()

    class Handler(_Handler):
        pass

    Handler.services = services
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    services.port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield services
    finally:
        services.over.set()
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    services: ModelServices

    def log_message(self, format: str, *arguments: Any) -> None:  # noqa: A002 - the base class names it so
        """Stays silent."""

    def do_HEAD(self) -> None:
        """Answers a client that only wants to know whether anybody is there."""
        self._send(200, b"", "text/plain")

    def do_GET(self) -> None:
        """Answers what no client needs."""
        self._send(404, b"{}", "application/json")

    def do_POST(self) -> None:
        """Answers a turn."""
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        wire = next((one for one in FORMATS if one.address in self.path), None)
        try:
            asked = json.loads(body)
        except ValueError:
            asked = None
        if wire is None or not isinstance(asked, dict):
            self._send(404, b"{}", "application/json")
            return
        key = self.headers.get("x-api-key") or self.headers.get("x-goog-api-key") or ""
        key = key or self.headers.get("Authorization", "").removeprefix("Bearer ")
        step = self.services.next_step(asked, key) if wire.is_turn(asked) else _BESIDE
        self._answer(wire, step, str(asked.get("model", "model")))

    def _answer(self, wire: WireFormat, step: Step, model: str) -> None:
        match step:
            case Stall():
                self.services.over.wait()
                self.close_connection = True
            case Fail(status, words, headers):
                error = json.dumps(wire.error(status, words)).encode()
                self._send(status, error, "application/json", headers)
            case _ if wire.address == ":generateContent":
                ((_, answer),) = wire.events(step, model)
                self._send(200, json.dumps(answer).encode(), "application/json")
            case _:
                self._send(200, encode(wire.events(step, model)), "text/event-stream")

    def _send(self, status: int, body: bytes, kind: str, headers: Mapping[str, str] | None = None) -> None:
        try:
            self.send_response(status)
            for name, value in {
                "Content-Type": kind,
                "Content-Length": str(len(body)),
                **(headers or {}),
            }.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)
        except OSError:  # the client has gone
            self.close_connection = True
