"""The socket in the mailbox that a client's hook asks for permission."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import socket
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from gitticks.sandbox.proxy import answering

NAME = "permission.sock"
_MOST_BYTES = 8_000_000
_SLOWEST_SECONDS = 30.0
_MOST_AT_ONCE = 64


class ToolCall(NamedTuple):
    """The use of a tool that a client is about to begin; `folder` is where it works, `use` the client's id of it."""

    tool: str
    parameters: dict[str, Any]
    folder: str
    use: str = ""

    @property
    def digest(self) -> bytes:
        """Returns what no other use of a tool has."""
        said = json.dumps([self.tool, self.parameters, self.use], sort_keys=True)
        return hashlib.sha256(said.encode()).digest()


class HookAnswer(NamedTuple):
    """What the hook answers: `allow`, `deny`, or `none`, which leaves it to the client's own mode.

    `is_left` says of a `none` that nobody has allowed it: the client is to ask at its terminal, or to refuse.
    """

    decision: str
    reason: str
    is_left: bool = False


@contextlib.contextmanager
def serving(mailbox: Path, judge: Callable[[ToolCall], HookAnswer]) -> Iterator[None]:
    """Answers the hooks of a session while the block runs; `judge` is called in a thread of each call's own."""
    folder = os.open(mailbox, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    listener = socket.socket(socket.AF_UNIX)
    try:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(NAME, dir_fd=folder)
        short = Path(f"/proc/self/fd/{folder}")  # an address may not be longer than a hundred bytes
        listener.bind(str((short if short.is_dir() else mailbox) / NAME))
        # Of more at once a hook gets no answer, and refuses.
        with answering(listener, partial(_answer, judge), _MOST_AT_ONCE, f"hooks of {mailbox}"):
            yield
    finally:
        listener.close()
        with contextlib.suppress(OSError):
            os.unlink(NAME, dir_fd=folder)
        os.close(folder)


def _answer(judge: Callable[[ToolCall], HookAnswer], connection: socket.socket) -> None:
    connection.settimeout(_SLOWEST_SECONDS)
    call = _read_call(connection)
    try:
        said = HookAnswer("deny", "the call cannot be read") if call is None else judge(call)
    except Exception as error:  # noqa: BLE001 - whatever goes wrong, nothing is allowed by it
        said = HookAnswer("deny", f"it cannot be judged: {error}")
    connection.sendall(json.dumps({"decision": said.decision, "reason": said.reason}).encode())


def _read_call(connection: socket.socket) -> ToolCall | None:
    received = bytearray()
    while piece := connection.recv(65536):
        received += piece
        if len(received) > _MOST_BYTES:
            return None
    try:
        body = json.loads(received)
        tool, parameters = body["tool_name"], body.get("tool_input") or {}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    if not isinstance(tool, str) or not isinstance(parameters, dict):
        return None
    folder, use = (one if isinstance(one, str) else "" for one in (body.get("cwd"), body.get("tool_use_id")))
    return ToolCall(tool, parameters, folder, use)
