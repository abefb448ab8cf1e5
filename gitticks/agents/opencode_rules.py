"""OpenCode's `permission` configuration: what the mode grants, and over it the rules, as far as its patterns can say them.

In its patterns `*` stands for any characters, `/` among them, and of several that match the last one counts. So rules
that allow come first and those that deny last; where a pattern of ours is narrower, more is denied, never less. A rule
with `!` cannot be said there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from gitticks.model.settings import PermissionMode, PermissionRule
from gitticks.workflow.permissions import Answer, Operation, PolicyLayer, heard_to_allow

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
    own = {Operation.SHELL: rule.commands, Operation.NETWORK: rule.hosts}.get(
        Operation(rule.operation), rule.paths
    )
    if any(one.startswith("!") for one in own):
        return
    if not own:
        yield "*"
    for one in own:
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
