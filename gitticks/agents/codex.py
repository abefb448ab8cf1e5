"""Codex: its flags and its events.

It counts tokens over the whole thread, resumed sessions included, and reports no cost. A service that cannot be reached
makes it retry forever, so a session that a limit ended while it did is an outage.
"""

from __future__ import annotations

import json
from functools import partial

from gitticks.agents.base import AgentSpec, Invocation, PermissionHook, Places, Request
from gitticks.agents.stream import (
    Event,
    StreamReader,
    integer_at,
    mapping_at,
    objects_at,
    shown_tool,
    text_at,
)
from gitticks.agents.trouble import classify, one_line
from gitticks.model.settings import PermissionMode
from gitticks.model.task import Usage

PROGRAM = "codex"
HOSTS = ("api.openai.com", "chatgpt.com", "auth.openai.com")
VARIABLES = ("OPENAI_", "CODEX_", "AZURE_OPENAI_")
PLACES = Places(
    folders=("~/.codex",),
    settings=(
        "~/.codex/.env",
        "~/.codex/AGENTS.md",
        "~/.codex/AGENTS.override.md",
        "~/.codex/agents",
        "~/.codex/config.toml",
        "~/.codex/hooks",
        "~/.codex/hooks.json",
        "~/.codex/packages",
        "~/.codex/prompts",
        "~/.codex/rules",
    ),
    # It writes in all of these what it, or another session of it, runs.
    copies=("~/.codex/plugins", "~/.codex/shell_snapshots", "~/.codex/skills", "~/.codex/tmp"),
    state=tuple(
        f"~/.codex/{name}"
        for name in (
            ".tmp", "archived_sessions", "auth.json", "cache", "history.jsonl", "log", "memories", "sessions", "sqlite",
        )
    ),
    moved=(("~/.codex", "CODEX_HOME"),),
)  # fmt: skip
MODES = tuple(PermissionMode)

_READ_ONLY, _WORKSPACE = "read-only", "workspace-write"
_NO_OWN_WALLS = ("--sandbox", "danger-full-access")
_MODE_FLAGS = {
    PermissionMode.INTERACTIVE: ("--sandbox", _READ_ONLY),
    PermissionMode.AUTO_EDIT: ("--sandbox", _WORKSPACE),
    PermissionMode.AUTO_ALL: ("--sandbox", _WORKSPACE, "-c", "sandbox_workspace_write.network_access=true"),
    PermissionMode.YOLO: ("--dangerously-bypass-approvals-and-sandbox",),
}
_KEEPS_PATH = ("-c", "allow_login_shell=false")
"""Its commands run in a login shell else, whose profile may set another PATH, without `gt`."""
_HOOKS_ON = ("--dangerously-bypass-hook-trust", "-c", "features.hooks=true")
"""It carries out a hook else only once a person has looked at it, and none if the workspace's settings say so."""
_NO_TOOLS = frozenset({"agent_message", "error", "reasoning", "todo_list"})
"""Items that begin but use nothing; a plan is open until the turn ends."""
_DENIED = ("rejected:", "Command blocked by")


def invocation(spec: AgentSpec, request: Request) -> Invocation:
    """Returns how to start Codex for one session; the prompt goes in by stdin, which `-` names."""
    is_read_only = spec.sandbox_mode == _READ_ONLY
    flags = _MODE_FLAGS[PermissionMode.INTERACTIVE] if is_read_only else _MODE_FLAGS[spec.mode]
    if request.is_walled and _WORKSPACE in flags:
        flags = _NO_OWN_WALLS
    argv = [*(spec.argv or (PROGRAM,)), "exec", "--json", "--skip-git-repo-check", *_KEEPS_PATH, *flags]
    if _WORKSPACE in flags:
        # Its walls leave only the workspace writable, and a linked worktree's git directory is outside of that.
        argv += [word for folder in request.commit_folders for word in ("--add-dir", folder)]
    if request.hook is not None:
        argv += [*_HOOKS_ON, "-c", _hook_setting(request.hook)]
    if spec.model:
        argv += ["-m", spec.model]
    argv += spec.args
    if request.session_id:
        argv += ["resume", request.session_id]
    return Invocation(
        (*argv, "-"),
        partial(CodexReader, request.spent_before, spec.model),
        stdin=request.prompt.encode(),
    )


def _hook_setting(hook: PermissionHook) -> str:
    """Returns the setting, in TOML, by which our hook is called before each use of a tool."""
    command = json.dumps(hook.command)  # a basic string of TOML is written as one of JSON
    called = f'{{type="command",command={command},timeout={hook.seconds}}}'
    return f'hooks.PreToolUse=[{{matcher=".*",hooks=[{called}]}}]'


class CodexReader(StreamReader):
    """Reads `codex exec --json`."""

    def __init__(self, spent_before: Usage = Usage(), model: str | None = None) -> None:  # noqa: B008 - frozen
        super().__init__()
        self.model = model
        self._spent_before = spent_before

    def take(self, event: Event) -> str | None:
        """Takes one event."""
        match event.get("type"):
            case "thread.started":
                self.session_id = text_at(event, "thread_id") or None
            case "turn.started":
                self.is_connected = True
            case "item.started" | "item.completed" as kind:
                return self._take_item(mapping_at(event, "item"), is_completed=kind == "item.completed")
            case "turn.completed":
                self.is_finished = True
                self._take_usage(mapping_at(event, "usage"))
            case "turn.failed":
                self.failure = classify(text_at(mapping_at(event, "error"), "message"))
            case "error":
                self.passing = classify(text_at(event, "message"))
                return f"[retry] {one_line(text_at(event, 'message'))}"
        return None

    def _take_item(self, item: Event, *, is_completed: bool) -> str | None:
        if item.get("type") != "error":
            self.passing = None
        if is_completed:
            self.open_tools.pop(text_at(item, "id"), None)
        elif item.get("type") not in _NO_TOOLS:
            self.open_tools[text_at(item, "id")] = text_at(item, "type")
        match item.get("type"):
            case "agent_message" if is_completed:
                self.messages.add(text_at(item, "text"))
                return text_at(item, "text") or None
            case "command_execution":
                return self._take_command(item, is_completed=is_completed)
            case "file_change" if is_completed:
                changes = objects_at(item, "changes")
                self.used.append(("apply_patch", {"paths": [text_at(change, "path") for change in changes]}))
                return shown_tool("edit", ", ".join(text_at(change, "path") for change in changes))
        return None

    def _take_command(self, item: Event, *, is_completed: bool) -> str | None:
        command = text_at(item, "command")
        if not is_completed:
            self.used.append(("Bash", {"command": command}))
            return shown_tool("run", command)
        if item.get("status") == "declined" or text_at(item, "aggregated_output").startswith(_DENIED):
            self.deny("run", command)
        return None

    def _take_usage(self, usage: Event) -> None:
        total = Usage(
            tokens_in=integer_at(usage, "input_tokens"), tokens_out=integer_at(usage, "output_tokens")
        )
        before = self._spent_before
        is_counted_on = total.tokens_in >= before.tokens_in and total.tokens_out >= before.tokens_out
        since = before if is_counted_on else Usage()
        self.total_usage = total
        self.tells_all = True
        self.usage = Usage(
            tokens_in=total.tokens_in - since.tokens_in, tokens_out=total.tokens_out - since.tokens_out
        )
        share = self.usage.tokens_in / total.tokens_in if total.tokens_in else 0.0
        self.cached_tokens = round(integer_at(usage, "cached_input_tokens") * share)
