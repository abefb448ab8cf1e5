"""What Claude Code asks on its stdout before it uses a tool, answered on its stdin, which stays open until its result."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import threading
from collections.abc import Callable, Mapping
from typing import Any

from gitticks.agents.stream import Event, mapping_at, parse_event, text_at
from gitticks.agents.supervision.channel import LINE_COST

FLAGS = ("--input-format", "stream-json", "--permission-prompt-tool", "stdio")
Judge = Callable[[str, Mapping[str, Any], str], str | None]
"""Takes a tool, what it is given and the id of its use; returns why it may not be used, or None if it may."""
_FOR_PEOPLE = "AskUserQuestion"
_NO_PERSON = "nobody reads this session; `gt ask` puts a question to a person"


class ClaudeDialogue:
    """The prompt and the answers, written by a thread of their own: nobody waits for a client that does not read."""

    def __init__(self, prompt: str, judge: Judge, most_bytes: int) -> None:
        self._judge, self._bytes_left = judge, most_bytes
        self._is_over = False
        reading, writing = os.pipe()
        self.stdin, self._stdin_end = os.fdopen(reading, "rb"), os.fdopen(writing, "wb", buffering=0)
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._say({"type": "user", "message": {"role": "user", "content": prompt}})
        threading.Thread(target=self._write, name="answers to claude", daemon=True).start()

    def hear(self, line: str) -> None:
        """Takes a line of stdout; a question is answered from another thread, as a person may take long.

        Of a session that prints more than is passed on at once, what follows would not be heard before its end.
        """
        self._bytes_left -= len(line.encode(errors="replace")) + LINE_COST
        if self._bytes_left < 0:
            self.close()
        event = None if self._is_over else parse_event(line)
        if event is None:
            return
        if event.get("type") == "result":
            self.close()
        elif event.get("type") == "control_request":
            threading.Thread(target=self._answer, args=(event,), daemon=True).start()

    def close(self) -> None:
        """Says that nothing else will come; may be called twice."""
        self._is_over = True
        self.stdin.close()
        self._lines.put(None)

    def _answer(self, event: Event) -> None:
        asked = mapping_at(event, "request")
        said: dict[str, Any] = {"subtype": "success", "request_id": text_at(event, "request_id")}
        if text_at(asked, "subtype") == "can_use_tool":
            said["response"] = self._decide(asked)
        else:
            said |= {"subtype": "error", "error": "gitticks answers `can_use_tool` only"}
        self._say({"type": "control_response", "response": said})

    def _decide(self, asked: Event) -> dict[str, Any]:
        tool, given = text_at(asked, "tool_name"), mapping_at(asked, "input")
        if tool == _FOR_PEOPLE:
            return {"behavior": "deny", "message": _NO_PERSON}
        try:
            refusal = self._judge(tool, given, text_at(asked, "tool_use_id"))
        except Exception as error:  # noqa: BLE001 - whatever goes wrong, nothing is allowed by it
            refusal = f"it cannot be judged: {error}"
        if refusal is None:
            return {"behavior": "allow", "updatedInput": given}
        return {"behavior": "deny", "message": f"gitticks: {refusal}"}

    def _say(self, event: Mapping[str, Any]) -> None:
        self._lines.put(json.dumps(event).encode() + b"\n")

    def _write(self) -> None:
        with self._stdin_end, contextlib.suppress(OSError):
            while (line := self._lines.get()) is not None:
                view = memoryview(line)
                while view:
                    view = view[self._stdin_end.write(view) or 0 :]
