"""How four services of models word an answer: events of a stream, as far as the real clients read them.

An answer is words, or the use of a tool. The tools are three: write a file, read one, run a command; each client has
its own names for them.
"""

from __future__ import annotations

import json
import shlex
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

TOKENS_IN, CACHED, TOKENS_OUT = 100, 30, 50
"""What each answer says it took; the cached part is among those that went in."""


@dataclass(frozen=True, slots=True)
class Say:
    """The model says something and ends its turn."""

    text: str


@dataclass(frozen=True, slots=True)
class Write:
    """The model writes a file; the path is absolute."""

    path: str
    content: str


@dataclass(frozen=True, slots=True)
class Read:
    """The model reads a file; the path is absolute."""

    path: str


@dataclass(frozen=True, slots=True)
class Shell:
    """The model runs a command."""

    command: str


Answer = Say | Write | Read | Shell
_Object = dict[str, Any]


@dataclass(frozen=True, slots=True)
class WireFormat:
    """One service's format: the beginning and a part of its address, whether a request is the agent's own turn, its stream and its errors."""

    address: str
    is_turn: Callable[[Mapping[str, Any]], bool]
    events: Callable[[Answer, str], Iterator[tuple[str | None, _Object | str]]]
    error: Callable[[int, str], _Object]


def encode(events: Iterator[tuple[str | None, _Object | str]]) -> bytes:
    """Returns server-sent events."""
    lines = []
    for name, data in events:
        lines += [f"event: {name}"] if name else []
        lines += [f"data: {data if isinstance(data, str) else json.dumps(data)}", ""]
    return ("\n".join(lines) + "\n").encode()


def _new(prefix: str) -> str:
    return f"{prefix}_{uuid.uuid4().hex[:20]}"  # with one that was there before, a client drops the call


def _anthropic(answer: Answer, model: str) -> Iterator[tuple[str, _Object]]:
    usage = {
        "input_tokens": TOKENS_IN - CACHED,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": CACHED,
        "output_tokens": 1,
    }
    message: _Object = {
        "id": _new("msg"),
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": usage,
    }
    match answer:
        case Say(text):
            block: _Object = {"type": "text", "text": ""}
            delta: _Object = {"type": "text_delta", "text": text}
        case Write(path, content):
            block = {"type": "tool_use", "id": _new("toolu"), "name": "Write", "input": {}}
            delta = _json_delta({"file_path": path, "content": content})
        case Read(path):
            block = {"type": "tool_use", "id": _new("toolu"), "name": "Read", "input": {}}
            delta = _json_delta({"file_path": path})
        case Shell(command):
            block = {"type": "tool_use", "id": _new("toolu"), "name": "Bash", "input": {}}
            delta = _json_delta({"command": command, "description": "as asked"})
    reason = "end_turn" if isinstance(answer, Say) else "tool_use"
    events: list[_Object] = [
        {"type": "message_start", "message": message},
        {"type": "content_block_start", "index": 0, "content_block": block},
        {"type": "content_block_delta", "index": 0, "delta": delta},
        {"type": "content_block_stop", "index": 0},
        {
            "type": "message_delta",
            "delta": {"stop_reason": reason, "stop_sequence": None},
            "usage": {"output_tokens": TOKENS_OUT},
        },
        {"type": "message_stop"},
    ]
    return ((event["type"], event) for event in events)


def _json_delta(given: _Object) -> _Object:
    return {"type": "input_json_delta", "partial_json": json.dumps(given)}


def _responses(answer: Answer, model: str) -> Iterator[tuple[str, _Object]]:
    match answer:
        case Say(text):
            content = [{"type": "output_text", "text": text, "annotations": []}]
            item: _Object = {"type": "message", "role": "assistant", "id": _new("msg"), "content": content}
        case Write(path, content):
            lines = "".join(f"+{line}\n" for line in content.splitlines())
            patch = f"*** Begin Patch\n*** Add File: {path}\n{lines}*** End Patch\n"
            item = {"type": "custom_tool_call", "name": "apply_patch", "input": patch}
            item |= {"id": _new("ctc"), "call_id": _new("call"), "status": "completed"}
        case Read(path):
            return _responses(Shell(f"cat {shlex.quote(path)}"), model)
        case Shell(command):
            item = {
                "type": "function_call",
                "name": "exec_command",
                "arguments": json.dumps({"cmd": command}),
            }
            item |= {"id": _new("fc"), "call_id": _new("call")}
    usage = {
        "input_tokens": TOKENS_IN,
        "input_tokens_details": {"cached_tokens": CACHED},
        "output_tokens": TOKENS_OUT,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": TOKENS_IN + TOKENS_OUT,
    }
    response = {"id": _new("resp"), "model": model}
    events: list[_Object] = [
        {"type": "response.created", "response": response},
        {"type": "response.output_item.done", "output_index": 0, "item": item},
        {"type": "response.completed", "response": {**response, "usage": usage}},
    ]
    return ((event["type"], event) for event in events)


def _gemini(answer: Answer, model: str) -> Iterator[tuple[None, _Object]]:
    match answer:
        case Say(text):
            part: _Object = {"text": text}
        case Write(path, content):
            part = _call("write_file", {"file_path": path, "content": content})
        case Read(path):
            part = _call("read_file", {"file_path": path})
        case Shell(command):
            part = _call("run_shell_command", {"command": command, "description": "as asked"})
    usage = {
        "promptTokenCount": TOKENS_IN,
        "cachedContentTokenCount": CACHED,
        "candidatesTokenCount": TOKENS_OUT,
        "totalTokenCount": TOKENS_IN + TOKENS_OUT,
    }
    candidate = {"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}
    yield None, {"candidates": [candidate], "usageMetadata": usage, "modelVersion": model}


def _call(name: str, given: _Object) -> _Object:
    return {"functionCall": {"name": name, "args": given}}


def _chat(answer: Answer, model: str) -> Iterator[tuple[None, _Object | str]]:
    match answer:
        case Say(text):
            delta: _Object = {"content": text}
        case Write(path, content):
            delta = _tool_call("write", {"filePath": path, "content": content})
        case Read(path):
            delta = _tool_call("read", {"filePath": path})
        case Shell(command):
            delta = _tool_call("bash", {"command": command, "description": "as asked"})
    usage = {
        "prompt_tokens": TOKENS_IN,
        "completion_tokens": TOKENS_OUT,
        "total_tokens": TOKENS_IN + TOKENS_OUT,
        "prompt_tokens_details": {"cached_tokens": CACHED},
    }
    chunk = {"id": _new("chatcmpl"), "object": "chat.completion.chunk", "created": 0, "model": model}
    reason = "stop" if isinstance(answer, Say) else "tool_calls"
    yield None, {**chunk, "choices": [{"index": 0, "delta": {"role": "assistant", **delta}}]}
    yield None, {**chunk, "choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}
    yield None, {**chunk, "choices": [], "usage": usage}
    yield None, "[DONE]"


def _tool_call(name: str, given: _Object) -> _Object:
    function = {"name": name, "arguments": json.dumps(given)}
    return {"tool_calls": [{"index": 0, "id": _new("call"), "type": "function", "function": function}]}


def _has_tools(asked: Mapping[str, Any]) -> bool:
    """True for a turn of the agent; what clients ask beside it, such as a title, offers no tools."""
    return bool(asked.get("tools"))


def _plain_error(status: int, words: str) -> _Object:
    return {"type": "error", "error": {"type": "api_error", "code": status, "message": words}}


def _google_error(status: int, words: str) -> _Object:
    names = {401: "UNAUTHENTICATED", 429: "RESOURCE_EXHAUSTED"}
    return {"error": {"code": status, "message": words, "status": names.get(status, "UNAVAILABLE")}}


FORMATS = (
    WireFormat("/v1/messages", _has_tools, _anthropic, _plain_error),
    WireFormat("/v1/responses", _has_tools, _responses, _plain_error),
    WireFormat("/v1/chat/completions", _has_tools, _chat, _plain_error),
    WireFormat(":streamGenerateContent", _has_tools, _gemini, _google_error),
    WireFormat(":generateContent", lambda _: False, _gemini, _google_error),
)
