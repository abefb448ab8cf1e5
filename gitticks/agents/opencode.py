"""OpenCode: its flags and its events.

It prints nothing before its service has answered, nor while a tool runs. There is no final event: it is done if the
last step ended with `stop` and the process with 0. A permission that nobody could give ends the run after that step,
also with 0.

In the patterns of its `permission` configuration `*` stands for any characters, `/` among them, and of several that
match the last one counts. So rules that allow come first and those that deny last; where a pattern of ours is
narrower, more is denied, never less. A rule with `!` cannot be said there.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping

from gitticks.agents.base import AgentSpec, Ended, Invocation, Places, Request
from gitticks.agents.stream import (
    Event,
    StreamReader,
    integer_at,
    mapping_at,
    number_at,
    shown_tool,
    text_at,
    tool_target,
)
from gitticks.agents.trouble import Trouble, classify, one_line
from gitticks.model.settings import PermissionMode, PermissionRule
from gitticks.model.task import Ending, Usage
from gitticks.workflow.permissions import Answer, Operation, PolicyLayer, heard_to_allow

PROGRAM = "opencode"
HOSTS = ("opencode.ai", "models.dev", "api.anthropic.com", "api.openai.com", "openrouter.ai")
VARIABLES = (
    "OPENCODE_",
    "ANTHROPIC_",
    "OPENAI_",
    "GEMINI_",
    "GOOGLE_",
    "OPENROUTER_",
    "AWS_",
    "GROQ_",
    "MISTRAL_",
)
PLACES = Places(
    folders=("~/.local/share/opencode", "~/.local/state/opencode"),
    # What it downloads to its cache, or to `bin` in older versions, it runs.
    copies=("~/.config/opencode", "~/.cache/opencode", "~/.local/share/opencode/bin"),
    state=tuple(
        f"~/.local/share/opencode/{name}"
        for name in ("auth.json", "log", "project", "snapshot", "storage", "tool-output")
    ),
    moved=(
        ("~/.local/share", "XDG_DATA_HOME"),
        ("~/.local/state", "XDG_STATE_HOME"),
        ("~/.config", "XDG_CONFIG_HOME"),
        ("~/.cache", "XDG_CACHE_HOME"),
    ),
)
MODES = tuple(PermissionMode)

_CONTEXT_FULL = "ContextOverflowError"
_AUTO = frozenset({PermissionMode.AUTO_ALL, PermissionMode.YOLO})
_TOOLS = {
    Operation.SHELL: "bash",
    Operation.FILE_WRITE: "edit",
    Operation.FILE_READ: "read",
    Operation.NETWORK: "webfetch",
}
_MODES: Mapping[PermissionMode, str | dict[str, str]] = {
    PermissionMode.INTERACTIVE: {"edit": "ask", "bash": "ask"},
    PermissionMode.AUTO_EDIT: {"edit": "allow"},
    PermissionMode.AUTO_ALL: {"edit": "allow", "bash": "allow"},
    PermissionMode.YOLO: "allow",
}
_MAILBOX = {".gt/TASK.md": "allow", ".gt/learnings.md": "allow"}


def invocation(spec: AgentSpec, request: Request) -> Invocation:
    """Returns how to start OpenCode for one session; permissions go in by its configuration variable."""
    argv = [*(spec.argv or (PROGRAM,)), "run", "--format", "json"]
    if spec.mode in _AUTO:
        argv.append("--auto")
    if spec.model:
        is_whole = spec.provider is None or "/" in spec.model
        argv += ["-m", spec.model if is_whole else f"{spec.provider}/{spec.model}"]
    if request.session_id:
        argv += ["--session", request.session_id]
    permission = permission_config(spec.mode, request.hand_over_commands, request.rules)
    configuration = {"permission": permission, "autoupdate": False, "share": "disabled"}
    return Invocation(
        (*argv, *spec.args),
        OpencodeReader,
        stdin=request.prompt.encode(),
        environment={"OPENCODE_CONFIG_CONTENT": json.dumps(configuration)},
    )


class OpencodeReader(StreamReader):
    """Reads `opencode run --format json`, adding up what each step cost."""

    def __init__(self) -> None:
        super().__init__()
        self._reason = ""
        self._is_in_step = False

    @property
    def awaits_service(self) -> bool:
        """True between two steps, and before the first."""
        return not self._is_in_step and not self.is_finished and self.failure is None

    def take(self, event: Event) -> str | None:
        """Takes one event."""
        self.session_id = text_at(event, "sessionID") or self.session_id
        part = mapping_at(event, "part")
        match event.get("type"):
            case "text":
                self.messages.add(text_at(part, "text"))
                return text_at(part, "text") or None
            case "tool_use":
                return self._take_tool(part)
            case "step_start":
                self.is_finished = False
                self._is_in_step = True
                self.tells_all = False
            case "step_finish":
                self._take_step(part)
            case "error":
                self.failure = _failure(mapping_at(event, "error"))
        return None

    def explain(self, ended: Ended) -> Trouble | None:
        """Returns why the last step was not the end."""
        if ended.exit_code == 0 and self.denied:
            return Trouble(Ending.CRASHED, f"stopped because it was not allowed: {self.denied[-1]}")
        if ended.exit_code == 0 and self._reason == "content-filter":
            return Trouble(Ending.REFUSED, "the model refused")
        return super().explain(ended)

    def _take_tool(self, part: Event) -> str:
        state = mapping_at(part, "state")
        target = tool_target(mapping_at(state, "input"))
        self.used.append((text_at(part, "tool"), mapping_at(state, "input")))
        if state.get("status") == "error" and "permission" in text_at(state, "error"):
            self.deny(text_at(part, "tool"), target)
        return shown_tool(text_at(part, "tool"), target)

    def _take_step(self, part: Event) -> None:
        self.failure = None
        self._is_in_step = False
        self.tells_all = True
        self._reason = text_at(part, "reason")
        self.is_finished = self._reason == "stop"
        tokens, cache = mapping_at(part, "tokens"), mapping_at(part, "tokens", "cache")
        read = integer_at(cache, "read")
        self.cached_tokens += read
        self.usage = self.usage.plus(
            Usage(
                tokens_in=integer_at(tokens, "input") + read + integer_at(cache, "write"),
                tokens_out=integer_at(tokens, "output") + integer_at(tokens, "reasoning"),
            )
        )
        cost = number_at(part, "cost")
        if cost is not None:
            self.cost = round((self.cost or 0.0) + cost, 9)


def _failure(error: Event) -> Trouble:
    data = mapping_at(error, "data")
    if text_at(error, "name") == _CONTEXT_FULL:
        return Trouble(Ending.CONTEXT_FULL, one_line(text_at(data, "message") or _CONTEXT_FULL))
    after = text_at(mapping_at(data, "responseHeaders"), "retry-after")
    return classify(
        text_at(data, "message") or text_at(error, "name") or "ended with an error",
        status=number_at(data, "statusCode"),
        retry_after_seconds=float(after) if after.isdecimal() else None,
    )


def permission_config(
    mode: PermissionMode, hand_over_commands: Iterable[str], layers: tuple[PolicyLayer, ...] = ()
) -> object:
    """Returns the value of `permission` for a mode and the rules of every layer."""
    granted = _MODES[mode]
    tools: dict[str, object] = {"*": granted} if isinstance(granted, str) else dict(granted)
    if mode is PermissionMode.AUTO_EDIT:
        tools["bash"] = {"*": "deny", **{f"{command}*": "allow" for command in hand_over_commands}}
    if any(layer.default is Answer.DENY for layer in layers):
        tools |= {tool: {"*": "deny"} for tool in _TOOLS.values()}
        tools["edit"] = {"*": "deny", **_MAILBOX}
    allowed = [rule for layer in heard_to_allow(layers) for rule in layer.allow if _is_narrow(rule)]
    denied = [rule for layer in layers for rule in layer.deny]
    for answer, rules in (("allow", allowed), ("deny", denied)):
        for rule in rules:
            tool = _TOOLS[Operation(rule.operation)]
            before = tools.get(tool, tools.get("*"))
            patterns = before if isinstance(before, dict) else {} if before is None else {"*": before}
            said = dict.fromkeys(_patterns(rule), answer)
            # What is said again goes to the end, where it counts.
            tools[tool] = {**{one: word for one, word in patterns.items() if one not in said}, **said}
    return granted if tools == {"*": granted} else tools


def _is_narrow(rule: PermissionRule) -> bool:
    """True for a rule that allows no more in OpenCode's patterns than in ours: those of commands alone."""
    return rule.operation == Operation.SHELL and not any("*" in one for one in rule.commands)


def _patterns(rule: PermissionRule) -> Iterator[str]:
    if any(one.startswith("!") for one in rule.patterns):
        return
    if not rule.patterns:
        yield "*"
    for one in rule.patterns:
        if rule.operation == Operation.SHELL:
            yield from (one, f"{one} *")
        elif rule.operation == Operation.NETWORK:
            yield from (f"*://{one}", f"*://{one}/*", f"*://{one}:*")
        else:
            yield from _paths(one)


def _paths(pattern: str) -> Iterator[str]:
    """Yields what a path or glob means: the file or all of the folder, and for a bare name the same in every folder."""
    is_anywhere = "/" not in pattern.rstrip("/") or pattern.startswith("**/")
    path = pattern.removeprefix("./").removeprefix("**/").removesuffix("/**").rstrip("/")
    tops = ("", "*/") if is_anywhere else ("",)
    if pattern.startswith(("/", "~")):  # OpenCode names what is outside from the workspace: `../../etc/x`
        path, tops = path.rpartition("/")[2].strip("~") or "*", ("../", "../*/")
    for top in tops:
        for one in dict.fromkeys((path.replace("/**/", "/").replace("**", "*"), path.replace("**", "*"))):
            yield from (f"{top}{one}", f"{top}{one}/*")
