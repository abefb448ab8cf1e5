"""Claude Code: its flags and its stream.

The result event says `success` also for errors of the service, and repeats their text as if it were the agent's, so
`is_error` and `api_error_status` decide. Its usage leaves out side calls, `modelUsage` does not. Asked to end by SIGINT it
still tells its result, by SIGTERM it does not. What it asks on its stdout before it uses a tool is answered on its
stdin, which stays open until its result.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import re
import signal
import threading
from collections.abc import Callable, Mapping
from typing import Any

from gitticks.agents.base import AgentSpec, Invocation, PermissionHook, Places, Request
from gitticks.agents.stream import (
    Event,
    StreamReader,
    integer_at,
    mapping_at,
    number_at,
    objects_at,
    parse_event,
    shown_tool,
    text_at,
    tool_target,
)
from gitticks.agents.supervision.supervisor import LINE_COST
from gitticks.agents.trouble import Trouble, classify, one_line
from gitticks.model.settings import PermissionMode
from gitticks.model.task import Ending, Usage

PROGRAM = "claude"
HOSTS = ("api.anthropic.com", "claude.ai", "console.anthropic.com", "platform.claude.com")
VARIABLES = ("ANTHROPIC_", "CLAUDE_", "AWS_", "GOOGLE_", "CLOUD_ML_", "VERTEX_")
PLACES = Places(
    folders=("~/.claude",),
    settings=tuple(
        f"~/.claude/{name}"
        for name in (
            "CLAUDE.md", "agents", "commands", "hooks", "local", "output-styles", "plugins", "rules", "settings.json",
            "settings.local.json", "skills",
        )
    ),
    copies=("~/.claude.json", "~/.claude/shell-snapshots"),
    state=tuple(
        f"~/.claude/{name}"
        for name in (
            ".credentials.json", "agent-memory", "backups", "cache", "debug", "file-history", "history.jsonl",
            "paste-cache", "plans", "projects", "session-env", "sessions", "statsig", "tasks", "teams", "telemetry", "todos",
        )
    ),
    moved=(("~/.claude", "CLAUDE_CONFIG_DIR"), ("~/.claude.json", "CLAUDE_CONFIG_DIR/.claude.json")),
)  # fmt: skip
MODES = tuple(PermissionMode)

_TOOLS = "Bash,Edit,Write,Read,Glob,Grep,NotebookEdit,WebFetch,WebSearch,TodoWrite"
_MODE_FLAGS = {
    PermissionMode.INTERACTIVE: ("--permission-mode", "default"),
    PermissionMode.AUTO_EDIT: ("--permission-mode", "acceptEdits", "--allowedTools"),
    PermissionMode.AUTO_ALL: ("--permission-mode", "acceptEdits", "--allowedTools", _TOOLS),
    PermissionMode.YOLO: ("--dangerously-skip-permissions",),
}
_ENVIRONMENT = {
    "CLAUDE_CODE_MAX_RETRIES": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "DISABLE_AUTOUPDATER": "1",
}
_HOOKS_ON = {"CLAUDE_CODE_SIMPLE": "0", "CLAUDE_CODE_SAFE_MODE": "0"}
"""Ways of it that leave hooks out, which settings can ask for too."""
_LIMIT_AS_RESULT = re.compile(r"Claude (?:AI |Code )?usage limit reached(?:\|\d+)?\.?")
_TURNS, _BUDGET = "error_max_turns", "error_max_budget_usd"
FLAGS = ("--input-format", "stream-json", "--permission-prompt-tool", "stdio")
Judge = Callable[[str, Mapping[str, Any], str], str | None]
"""Takes a tool, what it is given and the id of its use; returns why it may not be used, or None if it may."""
_FOR_PEOPLE = "AskUserQuestion"
_MOST_QUESTIONS = 64
"""That are open at once: each has a thread."""
_NO_PERSON = "nobody reads this session; `gt ask` puts a question to a person"


def invocation(spec: AgentSpec, request: Request) -> Invocation:
    """Returns how to start Claude Code for one session; the prompt goes in by stdin, where it may be long."""
    argv = [
        *(spec.argv or (PROGRAM,)),
        "-p",
        "--output-format",
        "stream-json",
        "--verbose",
        *_MODE_FLAGS[spec.mode],
    ]
    if spec.mode is PermissionMode.AUTO_EDIT:
        argv.append(",".join(f"Bash({command}:*)" for command in request.hand_over_commands))
    if spec.model:
        argv += ["--model", spec.model]
    if request.session_id:
        argv += ["--resume", request.session_id]
    if request.hook is not None:
        argv += ["--settings", _hook_settings(request.hook)]
    # In the other modes nearly all is decided before it would ask.
    is_dialogue = spec.mode is PermissionMode.INTERACTIVE and request.is_answered
    if is_dialogue:
        argv += FLAGS
    is_root_yolo = spec.mode is PermissionMode.YOLO and os.geteuid() == 0
    return Invocation(
        (*argv, *spec.args),
        ClaudeReader,
        stdin=request.prompt.encode(),
        environment={**_ENVIRONMENT, **({"IS_SANDBOX": "1"} if is_root_yolo else {})},
        stop_signal=signal.SIGINT,
        is_dialogue=is_dialogue,
    )


def _hook_settings(hook: PermissionHook) -> str:
    """Returns settings in which our hook is called before each use of a tool; those of the user's stay beside them.

    They rank above the workspace's, which could switch all hooks off.
    """
    called = {"type": "command", "command": hook.command, "timeout": hook.seconds}
    hooks = {"PreToolUse": [{"matcher": "*", "hooks": [called]}]}
    return json.dumps({"disableAllHooks": False, "env": _HOOKS_ON, "hooks": hooks})


class ClaudeReader(StreamReader):
    """Reads `--output-format stream-json`, and the clients that took it over."""

    def __init__(self) -> None:
        super().__init__()
        self._message_id = self._own_message = ""
        self._own_tools: list[str] = []

    def take(self, event: Event) -> str | None:
        """Takes one event."""
        self.session_id = text_at(event, "session_id") or self.session_id
        match event.get("type"):
            case "system":
                return self._take_system(event)
            case "assistant":
                return self._take_assistant(event)
            case "user":
                for block in objects_at(mapping_at(event, "message"), "content"):
                    self.open_tools.pop(text_at(block, "tool_use_id"), None)
            case "result":
                self._take_result(event)
        return None

    def _take_system(self, event: Event) -> str | None:
        if event.get("subtype") == "init":
            self.model = text_at(event, "model") or None
            self.is_connected = True
        if event.get("subtype") != "api_retry":
            return None
        status = number_at(event, "error_status")
        words = text_at(event, "error") or "unknown"
        if status is None and words == "unknown":
            words = "no connection to the service"
        self.passing = classify(words, status=status)
        return f"[retry] {one_line(words)}"

    def _take_assistant(self, event: Event) -> str | None:
        """Takes a message; one that the client made up to show an error, or that a sub-agent said, is not its own."""
        message = mapping_at(event, "message")
        if event.get("error") or message.get("model") == "<synthetic>":
            return None
        self.passing = None
        self.model = self.model or text_at(message, "model") or None
        self._count(message)
        used = [block for block in objects_at(message, "content") if block.get("type") == "tool_use"]
        if not event.get("parent_tool_use_id"):
            self._close_before(text_at(message, "id"))
            self._own_tools += [text_at(block, "id") for block in used]
        for block in used:
            self.open_tools[text_at(block, "id")] = text_at(block, "name")
            self.used.append((text_at(block, "name"), mapping_at(block, "input")))
        if event.get("parent_tool_use_id"):
            # A sub-agent talks to the service itself, so that the tool which it is does not hang.
            self.open_tools.pop(text_at(event, "parent_tool_use_id"), None)
            return None
        if message.get("stop_reason") == "refusal":
            self.failure = Trouble(Ending.REFUSED, "the model refused")
        shown = []
        for block in objects_at(message, "content"):
            if block.get("type") == "text":
                self.messages.add(text_at(block, "text"))
                shown.append(text_at(block, "text"))
            elif block.get("type") == "tool_use":
                shown.append(shown_tool(text_at(block, "name"), tool_target(mapping_at(block, "input"))))
        return "\n".join(shown) or None

    def _close_before(self, message: str) -> None:
        """Closes the tools of its messages before; their results may have been on lines too long to be read."""
        if message != self._own_message:
            self._own_message = message
            for tool in self._own_tools:
                self.open_tools.pop(tool, None)
            self._own_tools.clear()

    def _count(self, message: Event) -> None:
        """Counts what the stream reports on the way, for a session that never comes to its result."""
        identity = text_at(message, "id")
        if identity != self._message_id:
            self._message_id = identity
            self.usage = self.usage.plus(_spent(mapping_at(message, "usage")))

    def _take_result(self, event: Event) -> None:
        text = text_at(event, "result")
        self._take_cost(event)
        for denial in objects_at(event, "permission_denials"):
            self.deny(text_at(denial, "tool_name"), tool_target(mapping_at(denial, "tool_input")))
        if event.get("is_error") is not False or event.get("subtype") != "success":
            self.failure = _failure(event, text)
        elif event.get("stop_reason") == "refusal":
            self.failure = Trouble(Ending.REFUSED, one_line(text) or "the model refused")
        elif _LIMIT_AS_RESULT.fullmatch(text.strip()):
            self.failure = Trouble(Ending.USAGE_LIMITED, one_line(text))
        else:
            self.is_finished = True
            if text and text != self.messages.last:
                self.messages.add(text)

    def _take_cost(self, event: Event) -> None:
        self.tells_all = True
        by_model = mapping_at(event, "modelUsage")
        parts = [mapping_at(by_model, name) for name in by_model]
        if parts:
            cached = sum(integer_at(part, "cacheReadInputTokens") for part in parts)
            written = sum(integer_at(part, "cacheCreationInputTokens") for part in parts)
            fresh = sum(integer_at(part, "inputTokens") for part in parts)
            self.usage = Usage(
                tokens_in=fresh + cached + written,
                tokens_out=sum(integer_at(part, "outputTokens") for part in parts),
            )
            self.cached_tokens = cached
        elif mapping_at(event, "usage"):
            self.usage = _spent(mapping_at(event, "usage"))
            self.cached_tokens = integer_at(mapping_at(event, "usage"), "cache_read_input_tokens")
        self.cost = number_at(event, "total_cost_usd")


def _failure(event: Event, text: str) -> Trouble:
    if event.get("subtype") in (_TURNS, _BUDGET):
        said = event.get("errors")
        first = (
            said[0]
            if isinstance(said, list) and said and isinstance(said[0], str)
            else text_at(event, "subtype")
        )
        return Trouble(Ending.CRASHED, one_line(first))
    return classify(text or text_at(event, "subtype"), status=number_at(event, "api_error_status"))


def _spent(usage: Event) -> Usage:
    read, written = (
        integer_at(usage, "cache_read_input_tokens"),
        integer_at(usage, "cache_creation_input_tokens"),
    )
    return Usage(
        tokens_in=integer_at(usage, "input_tokens") + read + written,
        tokens_out=integer_at(usage, "output_tokens"),
    )


class ClaudeDialogue:
    """The prompt and the answers, written by a thread of their own: nobody waits for a client that does not read."""

    def __init__(self, prompt: str, judge: Judge, most_bytes: int) -> None:
        self._judge, self._bytes_left = judge, most_bytes
        self._is_over = False
        self._room = threading.BoundedSemaphore(_MOST_QUESTIONS)
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
            if self._room.acquire(blocking=False):
                threading.Thread(target=self._answer, args=(event,), daemon=True).start()
            else:
                self._reply(event, {"response": _refused("too many questions at once")})

    def close(self) -> None:
        """Says that nothing else will come; may be called twice."""
        self._is_over = True
        self.stdin.close()
        self._lines.put(None)

    def _answer(self, event: Event) -> None:
        asked = mapping_at(event, "request")
        try:
            if text_at(asked, "subtype") == "can_use_tool":
                self._reply(event, {"response": self._decide(asked)})
            else:
                self._reply(event, {"subtype": "error", "error": "gitticks answers `can_use_tool` only"})
        except RecursionError:
            self._reply(event, {"response": _refused("it is nested too deeply")})
        finally:
            self._room.release()

    def _reply(self, event: Event, said: Mapping[str, Any]) -> None:
        response = {"subtype": "success", "request_id": text_at(event, "request_id"), **said}
        self._say({"type": "control_response", "response": response})

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
        return _refused(refusal)

    def _say(self, event: Mapping[str, Any]) -> None:
        self._lines.put(json.dumps(event).encode() + b"\n")

    def _write(self) -> None:
        with self._stdin_end, contextlib.suppress(OSError):
            while (line := self._lines.get()) is not None:
                view = memoryview(line)
                while view:
                    view = view[self._stdin_end.write(view) or 0 :]


def _refused(why: str) -> dict[str, Any]:
    return {"behavior": "deny", "message": f"gitticks: {why}"}
