"""The socket that hooks ask: whatever an agent sends there, nothing is allowed by it."""

from __future__ import annotations

import json
import socket
import threading
from contextlib import ExitStack
from pathlib import Path

import pytest

from gitticks.runner.places.permission_socket import NAME, HookAnswer, ToolCall, serving
from tests.support.waiting import LONGEST_SECONDS

CALL = b'{"tool_name": "Bash", "tool_input": {"command": "ls"}}'
AT_ONCE = 64


def connect(folder: Path, monkeypatch: pytest.MonkeyPatch) -> socket.socket:
    monkeypatch.chdir(folder)  # an address may not be long
    asking = socket.socket(socket.AF_UNIX)
    asking.settimeout(LONGEST_SECONDS)
    asking.connect(NAME)
    return asking


def answer(asking: socket.socket, said: bytes) -> bytes:
    asking.sendall(said)
    asking.shutdown(socket.SHUT_WR)
    return b"".join(iter(lambda: asking.recv(4096), b""))


@pytest.mark.parametrize(
    "said",
    [b"", b"{", b"[]", b"\xff", b'{"tool_name": 1}', b'{"tool_name": "B", "tool_input": [1]}', b"[" * 99_999],
)
def test_what_cannot_be_read_is_denied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: bytes) -> None:
    with (
        serving(tmp_path, lambda call: HookAnswer("allow", call.tool)),
        connect(tmp_path, monkeypatch) as asking,
    ):
        assert json.loads(answer(asking, said))["decision"] == "deny"
    with (
        serving(tmp_path, lambda call: HookAnswer("allow", call.tool)),
        connect(tmp_path, monkeypatch) as asking,
    ):
        assert json.loads(answer(asking, CALL)) == {"decision": "allow", "reason": "Bash"}


def test_one_connection_too_many_gets_no_answer_and_later_ones_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_answer = threading.Event()

    def judge(call: ToolCall) -> HookAnswer:
        may_answer.wait(LONGEST_SECONDS)
        return HookAnswer("allow", "")

    with serving(tmp_path, judge), ExitStack() as held:
        waiting = [held.enter_context(connect(tmp_path, monkeypatch)) for _ in range(AT_ONCE)]
        for asking in waiting:
            asking.sendall(CALL)
        with connect(tmp_path, monkeypatch) as one_more:
            assert one_more.recv(1) == b""
        may_answer.set()
        for asking in waiting:
            assert b"allow" in answer(asking, b"")
        with connect(tmp_path, monkeypatch) as later:
            assert b"allow" in answer(later, CALL)
