"""Makes of what agents' clients print the pieces that a person reads: prose, and calls of tools with what came of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from gitticks.actions.context import Context
from gitticks.agents.stream import mapping_at, objects_at, parse_event, text_at, tool_target
from gitticks.tui.theme import glyph

_LONGEST_DETAIL, _MOST_DETAIL = 400, 200
_OUTPUTS = ("aggregated_output", "output", "result", "content")
"""Under these names clients give what a tool printed."""
_VERBS = {
    "bash": "run",
    "shell": "run",
    "command_execution": "run",
    "run_shell_command": "run",
    "grep": "search",
}


class Piece(NamedTuple):
    """Something that an agent said or did.

    A call has a `verb` and `text` is what it was used on; `failed` is None until it has ended. A piece with the `call`
    of an earlier one and no verb is what came of that.
    """

    text: str
    verb: str = ""
    call: str = ""
    detail: tuple[str, ...] = ()
    failed: bool | None = None
    is_prose: bool = False


Reader = Callable[[str], list[Piece]]


def earlier() -> Piece:
    """Returns what stands in the place of output that is not shown."""
    return Piece(f"{glyph('more')} earlier output is in .git/gitticks/transcripts/")


def reader_for(context: Context, agent: str) -> Reader:
    """Returns what reads a line of an agent's client; an agent that the settings no longer name is read as plain lines."""
    from gitticks.actions.attaching import shown_by

    shown = shown_by(context, agent)

    def read(line: str) -> list[Piece]:
        event = parse_event(line)
        if event is not None:
            pieces = list(_calls(event))
            if pieces:
                return pieces
        text = shown(line)
        if event is not None and text == line:
            return []  # the protocol of an agent that nobody knows
        return [] if text is None or not text.strip() else [Piece(text, is_prose=event is not None)]

    return read


def _calls(event: Any) -> list[Piece]:
    """Returns the calls of tools, and the prose between them, of an event in any of the known clients' protocols."""
    found: list[Piece] = []
    for block in objects_at(mapping_at(event, "message"), "content"):  # claude
        kind = text_at(block, "type")
        if kind == "tool_use":
            found.append(_call(text_at(block, "name"), mapping_at(block, "input"), text_at(block, "id")))
        elif kind == "tool_result":
            failed = block.get("is_error") is True
            found.append(_result(text_at(block, "tool_use_id"), block.get("content"), failed=failed))
        elif kind == "text" and text_at(block, "text").strip():
            found.append(Piece(text_at(block, "text"), is_prose=True))
    item = mapping_at(event, "item")  # codex
    if text_at(item, "type") in ("command_execution", "file_change", "mcp_tool_call", "web_search"):
        found.append(_codex(event, item))
    part = mapping_at(event, "part")  # opencode
    if text_at(part, "type") == "tool":
        state = mapping_at(part, "state")
        call = _call(text_at(part, "tool"), mapping_at(state, "input"), text_at(part, "callID"))
        failed = text_at(state, "status") == "error"
        found.append(call._replace(detail=(*call.detail, *_lines(state.get("output"))), failed=failed))
    kind = text_at(event, "type")  # gemini
    if kind == "tool_use" and not found:
        found.append(
            _call(text_at(event, "tool_name"), mapping_at(event, "parameters"), text_at(event, "tool_id"))
        )
    elif kind == "tool_result" and not found:
        failed = text_at(event, "status") != "success"
        found.append(_result(text_at(event, "tool_id"), event.get("output"), failed=failed))
    return found


def _result(call: str, printed: Any, *, failed: bool) -> Piece:
    return Piece("", call=call, detail=_lines(printed), failed=failed)


def _codex(event: Any, item: Any) -> Piece:
    is_over = text_at(event, "type") == "item.completed"
    failed = (
        (text_at(item, "status") == "failed" or item.get("exit_code") not in (0, None)) if is_over else None
    )
    target = text_at(item, "command") or ", ".join(
        text_at(one, "path") for one in objects_at(item, "changes")
    )
    verb = "edit" if text_at(item, "type") == "file_change" else "run"
    output = next((item[name] for name in _OUTPUTS if item.get(name)), "")
    return Piece(target or text_at(item, "query"), verb, text_at(item, "id"), _lines(output), failed)


def _call(tool: str, given: Any, call: str) -> Piece:
    detail: list[str] = []
    for name, sign in (("old_string", "-"), ("new_string", "+"), ("content", "+")):
        detail += [f"{sign} {line}" for line in _lines(given.get(name))]
    verb = _VERBS.get(tool.lower(), tool.lower()) or "tool"
    return Piece(
        tool_target(given) or text_at(given, "query") or text_at(given, "description"),
        verb,
        call,
        tuple(detail),
    )


def _lines(value: Any) -> tuple[str, ...]:
    """Returns the beginning of what a tool was given or printed."""
    if isinstance(value, list):
        value = "\n".join(text_at(one, "text") for one in value if isinstance(one, dict))
    if not isinstance(value, str) or not value.strip():
        return ()
    lines = value[: _MOST_DETAIL * _LONGEST_DETAIL].rstrip("\n").split("\n")
    cut = [line[:_LONGEST_DETAIL] for line in lines[:_MOST_DETAIL]]
    return (*cut, f"… {len(lines) - _MOST_DETAIL} more lines") if len(lines) > _MOST_DETAIL else tuple(cut)
