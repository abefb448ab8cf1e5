"""Gemini CLI: its flags and its events.

It starts itself again, and after a SIGTERM it exits with 0 and without a result: only the result counts. Where it fails
before its stream begins, a JSON object on stderr says why, and the status of the service leaks into the exit code.

It takes a hook from settings alone, and those of the machine only from files of root's. So a session that has a hook gets
a home of its own: the person's settings with the hook in them, beside links to all else that is there. The workspace's
settings rank above those and could switch the hook off, so with such ones no session begins.
"""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

from gitticks.agents.base import AgentSpec, Ended, Invocation, PermissionHook, Places, Request
from gitticks.agents.stream import (
    Event,
    StreamReader,
    integer_at,
    mapping_at,
    number_at,
    parse_event,
    shown_tool,
    text_at,
    tool_target,
)
from gitticks.agents.trouble import Trouble, classify, one_line
from gitticks.errors import GitticksError
from gitticks.model.settings import PermissionMode
from gitticks.model.task import Ending, Usage
from gitticks.safe_read import read_plain_file

PROGRAM = "gemini"
HOSTS = ("generativelanguage.googleapis.com", "cloudcode-pa.googleapis.com", "oauth2.googleapis.com")
VARIABLES = ("GEMINI_", "GOOGLE_")
PLACES = Places(
    folders=("~/.gemini", "~/.gemini/tmp"),  # the second so that nobody can move it away, and the copy in it
    settings=(
        "~/.gemini/.env",
        "~/.gemini/GEMINI.md",
        "~/.gemini/agents",
        "~/.gemini/commands",
        "~/.gemini/extensions",
        "~/.gemini/policies",
        "~/.gemini/settings.json",
        "~/.gemini/skills",
    ),
    copies=("~/.gemini/tmp/bin",),
    state=("~/.gemini/history", "~/.gemini/oauth_creds.json", "~/.gemini/tmp"),
    moved=(("~/.gemini", "GEMINI_CLI_HOME/.gemini"),),
)
MODES = (PermissionMode.INTERACTIVE, PermissionMode.AUTO_EDIT, PermissionMode.YOLO)

_APPROVAL = {
    PermissionMode.INTERACTIVE: "default",
    PermissionMode.AUTO_EDIT: "auto_edit",
    PermissionMode.YOLO: "yolo",
}
_ENVIRONMENT = {"GEMINI_CLI_NO_RELAUNCH": "true", "GEMINI_CLI_TRUST_WORKSPACE": "true"}
_HOME, _FOLDER, _SETTINGS = "GEMINI_CLI_HOME", ".gemini", "settings.json"
"""The variable that names what stands for the person's home, and what is there."""
_NOT_SHARED = (_SETTINGS, "projects.json", "projects.json.lock")
"""What it replaces by renaming, which would leave no link; it finds its projects again without their list."""
_COMMENT = re.compile(r'("(?:\\.|[^"\\])*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_DENIALS = frozenset({"policy_violation", "tool_not_registered"})
_NEEDS_A_PERSON = "requires user confirmation"
_LOGIN_CODES = frozenset({41, 55})
_STATUSES = {400 % 256: 400, 401 % 256: 401, 403 % 256: 403, 429 % 256: 429, 500 % 256: 500, 503 % 256: 503}
_FIRST_STATUS = 400


def invocation(spec: AgentSpec, request: Request) -> Invocation:
    """Returns how to start Gemini CLI for one session; the prompt goes in by stdin."""
    argv = [
        *(spec.argv or (PROGRAM,)),
        "-o",
        "stream-json",
        "--skip-trust",
        "--approval-mode",
        _APPROVAL[spec.mode],
    ]
    if spec.mode is PermissionMode.AUTO_EDIT:
        # Without these there is no shell at all, and no way to commit.
        allowed = ",".join(f"run_shell_command({command})" for command in request.hand_over_commands)
        argv += ["--allowed-tools", allowed]
    if spec.model:
        argv += ["-m", spec.model]
    if request.session_id:
        argv += ["--resume", request.session_id]
    environment, files = dict(_ENVIRONMENT), {}
    if request.hook is not None:
        _require_hooks(request.hook.workspace)
        home = Path(os.environ.get(_HOME) or Path.home())
        environment[_HOME] = str(request.hook.folder)
        files = _home_with_hook(home, request.hook)
    return Invocation(
        (*argv, *spec.args), GeminiReader, stdin=request.prompt.encode(), environment=environment, files=files
    )


def _require_hooks(workspace: Path) -> None:
    """Refuses a workspace whose settings switch hooks off, or cannot be read."""
    try:
        about = _parsed(read_plain_file(workspace / _FOLDER / _SETTINGS)).get("hooksConfig", {})
    except (FileNotFoundError, NotADirectoryError):
        return
    except (OSError, ValueError, RecursionError):
        about = None
    if not isinstance(about, dict) or about.get("enabled", True) is not True or about.get("disabled"):
        raise GitticksError(
            f"`{_FOLDER}/{_SETTINGS}` in the workspace can switch off the hook that applies the rules",
            hint="remove `hooksConfig` from it, or the file where it is no plain one, or choose another agent: `gt agents`",
        )


def _home_with_hook(home: Path, hook: PermissionHook) -> dict[Path, bytes | Path]:
    """Returns what the session's own home holds: settings with our hook in them, and links to the rest."""
    theirs, ours = home / _FOLDER, hook.folder / _FOLDER
    shared = [path for path in _entries(theirs) if path.name not in _NOT_SHARED]
    files: dict[Path, bytes | Path] = {ours / path.name: path for path in shared}
    if (home / ".env").is_file():
        files[hook.folder / ".env"] = home / ".env"
    return files | {ours / _SETTINGS: _settings_with_hook(theirs / _SETTINGS, hook)}


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _settings_with_hook(file: Path, hook: PermissionHook) -> bytes:
    """Returns the person's settings with our hook in them, called before each use of a tool; broken ones as they are."""
    try:
        content = read_plain_file(str(file))
    except OSError:
        content = b"{}"
    try:
        settings = _parsed(content)
    except (ValueError, RecursionError):
        return content  # it says itself what is wrong with them
    about = mapping_at(settings, "hooksConfig")
    hooks = dict(mapping_at(settings, "hooks")) if about.get("enabled") is not False else {}
    before = hooks.get("BeforeTool")
    called = {"name": "gitticks", "type": "command", "command": hook.command, "timeout": hook.seconds * 1000}
    ours = {"matcher": ".*", "hooks": [called]}
    hooks["BeforeTool"] = [*(before if isinstance(before, list) else []), ours]
    return json.dumps({**settings, "hooks": hooks, "hooksConfig": {**about, "enabled": True}}).encode()


def _parsed(content: bytes) -> Event:
    settings = json.loads(_COMMENT.sub(lambda found: found[1] or "", content.decode()))
    return settings if isinstance(settings, dict) else {}


class GeminiReader(StreamReader):
    """Reads `-o stream-json`; pieces of one message are joined until a tool is used."""

    def __init__(self) -> None:
        super().__init__()
        self._is_in_message = False

    def take(self, event: Event) -> str | None:
        """Takes one event."""
        match event.get("type"):
            case "init":
                self.session_id = text_at(event, "session_id") or None
                self.model = text_at(event, "model") or None
                self.is_connected = True
            case "message" if event.get("role") == "assistant":
                return self._take_message(event)
            case "tool_use":
                self._is_in_message = False
                self.used.append((text_at(event, "tool_name"), mapping_at(event, "parameters")))
                target = tool_target(mapping_at(event, "parameters"))
                self.open_tools[text_at(event, "tool_id")] = f"{text_at(event, 'tool_name')}: {target}"
                return shown_tool(text_at(event, "tool_name"), target)
            case "tool_result":
                self._take_tool_result(event)
            case "result":
                self._take_result(event)
        return None

    def explain(self, ended: Ended) -> Trouble | None:
        """Returns what stderr and the exit code say."""
        if ended.exit_code in (0, None):
            return None
        last = ended.errors[ended.errors.rfind("\n{\n") + 1 :]
        error = mapping_at(parse_event(last) or {}, "error")
        text = text_at(error, "message")
        status = number_at(error, "code")
        if status is None or status < _FIRST_STATUS:
            status = _STATUSES.get(ended.exit_code or 0)
        if ended.exit_code in _LOGIN_CODES:
            return Trouble(Ending.START_FAILED, one_line(text) or f"exit code {ended.exit_code}")
        if text or status is not None:
            return classify(text or f"status {int(status or 0)}", status=status)
        return super().explain(ended)

    def _take_message(self, event: Event) -> str | None:
        text = text_at(event, "content")
        if self._is_in_message and event.get("delta") is True:
            self.messages.extend_last(text)
        else:
            self.messages.add(text)
        self._is_in_message = event.get("delta") is True
        return text or None

    def _take_tool_result(self, event: Event) -> None:
        self._is_in_message = False
        used = self.open_tools.pop(text_at(event, "tool_id"), "tool")
        error = mapping_at(event, "error")
        if event.get("status") == "error" and (
            error.get("type") in _DENIALS or _NEEDS_A_PERSON in text_at(error, "message")
        ):
            self.deny(used)

    def _take_result(self, event: Event) -> None:
        stats = mapping_at(event, "stats")
        self.tells_all = True
        asked = integer_at(stats, "input_tokens")
        thought = integer_at(stats, "total_tokens") - asked  # its `output_tokens` are without thoughts
        self.usage = Usage(tokens_in=asked, tokens_out=max(integer_at(stats, "output_tokens"), thought))
        self.cached_tokens = integer_at(stats, "cached")
        if event.get("status") == "success":
            self.is_finished = True
            return
        error = mapping_at(event, "error")
        text = text_at(error, "message") or "ended with an error"
        if text_at(error, "type") == "FatalTurnLimitedError":
            self.failure = Trouble(Ending.CRASHED, one_line(text))
        else:
            self.failure = classify(text)
