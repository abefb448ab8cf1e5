"""The known agents in one table: how each is started, what it needs and what it can do."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from gitticks.agents import amp, claude, codex, command, gemini, opencode, script
from gitticks.agents.base import AgentKind, AgentSpec, Invocation, Request
from gitticks.model.settings import PermissionMode


@dataclass(frozen=True, slots=True)
class Preset:
    """One kind of agent: `program` is its name on PATH, `hosts` its service's, `variables` prefixes of its variables.

    `modes` are those that it has, the strictest first; an empty tuple says that permissions are not its own affair.
    """

    kind: AgentKind
    invocation: Callable[[AgentSpec, Request], Invocation]
    program: str | None = None
    hosts: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    modes: tuple[PermissionMode, ...] = ()
    resumes: bool = False
    tells_usage: bool = False
    tells_cost: bool = False


_CLIENT = {"resumes": True, "tells_usage": True}

PRESETS: Mapping[AgentKind, Preset] = {
    AgentKind.CLAUDE: Preset(
        AgentKind.CLAUDE,
        claude.invocation,
        claude.PROGRAM,
        claude.HOSTS,
        claude.VARIABLES,
        claude.MODES,
        **_CLIENT,
        tells_cost=True,
    ),
    AgentKind.CODEX: Preset(
        AgentKind.CODEX, codex.invocation, codex.PROGRAM, codex.HOSTS, codex.VARIABLES, codex.MODES, **_CLIENT
    ),
    AgentKind.GEMINI: Preset(
        AgentKind.GEMINI,
        gemini.invocation,
        gemini.PROGRAM,
        gemini.HOSTS,
        gemini.VARIABLES,
        gemini.MODES,
        **_CLIENT,
    ),
    AgentKind.AMP: Preset(
        AgentKind.AMP, amp.invocation, amp.PROGRAM, amp.HOSTS, amp.VARIABLES, amp.MODES, **_CLIENT
    ),
    AgentKind.OPENCODE: Preset(
        AgentKind.OPENCODE,
        opencode.invocation,
        opencode.PROGRAM,
        opencode.HOSTS,
        opencode.VARIABLES,
        opencode.MODES,
        **_CLIENT,
        tells_cost=True,
    ),
    AgentKind.COMMAND: Preset(AgentKind.COMMAND, command.invocation),
    AgentKind.SCRIPT: Preset(AgentKind.SCRIPT, script.invocation, "sh"),
}

CLIENTS = tuple(kind for kind in AgentKind if kind not in (AgentKind.COMMAND, AgentKind.SCRIPT))
"""The agents that bring their own program and model."""

DEFAULT_ORDER = (AgentKind.CLAUDE, AgentKind.CODEX, AgentKind.GEMINI, AgentKind.OPENCODE)
"""Where no agent is configured, the first of these on PATH is the default, and `script` if there is none."""


def invoke(spec: AgentSpec, request: Request) -> Invocation:
    """Returns how to start an agent for one session, in the mode asked for or the next stricter one it has."""
    preset = PRESETS[spec.kind]
    mode = granted_mode(preset, spec.mode)
    invocation = preset.invocation(replace(spec, mode=mode), request)
    if mode is spec.mode:
        return invocation
    warning = f"`{spec.name}` has no mode `{spec.mode}`: it runs as `{mode}`"
    return replace(invocation, warnings=(*invocation.warnings, warning))


def granted_mode(preset: Preset, asked: PermissionMode) -> PermissionMode:
    """Returns the loosest mode of the agent that is no looser than the one asked for."""
    order = list(PermissionMode)
    allowed = [mode for mode in preset.modes if order.index(mode) <= order.index(asked)]
    return allowed[-1] if allowed else asked
