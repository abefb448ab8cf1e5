"""Called by a client before it uses a tool: asks the run, and answers in the client's format.

It is started for every use of a tool, so it loads next to nothing. Where nobody answers it refuses: exit code 2 is how
all clients understand that.
"""

from __future__ import annotations

import json
import os
import socket
import sys

MOST_BYTES = 8_000_000
_REFUSED = 2


def answer_hook(words: list[str]) -> int:
    """Answers `gt hook permission CLIENT SOCKET`, the call on stdin, and returns the exit code."""
    if len(words) != 2:  # noqa: PLR2004 - the client and the socket
        return _refuse("`gt hook permission CLIENT SOCKET` is what clients call; `gt run` sets it up")
    client, place = words
    call = sys.stdin.buffer.read(MOST_BYTES + 1)
    if len(call) > MOST_BYTES:
        return _refuse("the call is too large to check")
    try:
        said = json.loads(_ask(place, call))
        decision, reason = str(said["decision"]), str(said["reason"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return _refuse("no run is answering, so nothing is allowed")
    text = _in_words_of(client, decision, f"gitticks: {reason}")
    if text:
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()
    return 0


def _ask(place: str, call: bytes) -> bytes:
    folder, name = os.path.split(place)
    if folder:
        os.chdir(folder)  # a socket's address may not be longer than a hundred bytes
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(name)
        connection.sendall(call)
        connection.shutdown(socket.SHUT_WR)
        received = bytearray()
        while piece := connection.recv(65536):
            received += piece
    return bytes(received)


def _in_words_of(client: str, decision: str, reason: str) -> str:
    """Returns what a client reads; nothing leaves the call to the client's own mode."""
    if client == "gemini":
        return json.dumps({"decision": "deny", "reason": reason}) if decision == "deny" else ""
    if decision == "deny" or (decision == "allow" and client == "claude"):
        said = {
            "hookEventName": "PreToolUse",
            "permissionDecision": decision,
            "permissionDecisionReason": reason,
        }
        return json.dumps({"hookSpecificOutput": said})
    return ""


def _refuse(reason: str) -> int:
    sys.stderr.write(f"gitticks: {reason}\n")
    return _REFUSED
