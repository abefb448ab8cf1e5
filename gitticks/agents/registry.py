"""The agents there are: those in the settings, the known ones found on PATH, and the built-in one."""

from __future__ import annotations

import difflib
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

from gitticks.agents import amp, claude, codex, command, gemini, opencode
from gitticks.agents.base import AgentSpec, Command, Invocation, Limits, Places, Request, agent_environment
from gitticks.errors import GitticksError, NotFoundError
from gitticks.model.settings import AgentKind, AgentSettings, PermissionMode

CLIENTS = tuple(kind for kind in AgentKind if kind not in (AgentKind.COMMAND, AgentKind.SCRIPT))
"""The agents that bring their own program and model."""
_KNOWN = tuple(kind.value for kind in (*CLIENTS, AgentKind.SCRIPT))
DEFAULT_ORDER = (AgentKind.CLAUDE, AgentKind.CODEX, AgentKind.GEMINI, AgentKind.OPENCODE)
"""Where no agent is configured, the first of these on PATH is the default, and `script` if there is none."""
_HINT = "`gt agents` lists the agents"
_VERSION_SECONDS = 5.0
_LONGEST_VERSION = 80
_NOWHERE = Places()


class Preset(NamedTuple):
    """One kind of agent: `program` is its name on PATH, `hosts` its service's, `variables` prefixes of its variables.

    `has_hook` says that it asks before each use of a tool. `modes` are those that it has, the strictest first; an empty tuple says that permissions are not its own affair.
    """

    invocation: Callable[[AgentSpec, Request], Invocation]
    program: str | None = None
    hosts: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    places: Places = _NOWHERE
    modes: tuple[PermissionMode, ...] = ()
    resumes: bool = False
    has_hook: bool = False
    tells_usage: bool = False
    tells_cost: bool = False


def _client(module: ModuleType, *, has_hook: bool = False, tells_cost: bool = False) -> Preset:
    return Preset(
        module.invocation,
        module.PROGRAM,
        module.HOSTS,
        module.VARIABLES,
        module.PLACES,
        module.MODES,
        resumes=True,
        has_hook=has_hook,
        tells_usage=True,
        tells_cost=tells_cost,
    )


PRESETS: Mapping[AgentKind, Preset] = {
    AgentKind.CLAUDE: _client(claude, has_hook=True, tells_cost=True),
    AgentKind.CODEX: _client(codex, has_hook=True),
    AgentKind.GEMINI: _client(gemini, has_hook=True),
    AgentKind.AMP: _client(amp),
    AgentKind.OPENCODE: _client(opencode, tells_cost=True),
    AgentKind.COMMAND: Preset(command.invocation),
    AgentKind.SCRIPT: Preset(command.script_invocation, "sh"),
}


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


class FoundAgent(NamedTuple):
    """One line of the list of agents; `path` is None where the program is not on PATH."""

    spec: AgentSpec
    path: str | None
    is_configured: bool


@dataclass(frozen=True, slots=True)
class Registry:
    """The agents of one repository on this machine."""

    configured: Mapping[str, AgentSettings] = field(default_factory=dict)
    default: str | None = None
    mode: PermissionMode = PermissionMode.AUTO_EDIT
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """Returns every name that an agent can be asked for by: the known ones, then the configured ones."""
        return (*_KNOWN, *sorted(set(self.configured).difference(_KNOWN)))

    def spec(self, name: str) -> AgentSpec:
        """Returns the agent of that name, with what the settings say of it."""
        if name not in self.names:
            near = difflib.get_close_matches(name, self.names, n=3)
            words = f"; did you mean {' or '.join(f'`{one}`' for one in near)}?" if near else ""
            raise NotFoundError(f"there is no agent `{name}`{words}", hint=_HINT)
        entry = self.configured.get(name, AgentSettings())
        return AgentSpec(
            name,
            _kind(name, entry),
            entry.argv,
            entry.prompt,
            entry.model,
            entry.mode or self.mode,
            entry.args,
            entry.fallback,
            entry.provider,
            entry.sandbox_mode,
        )

    def whole_spec(self, name: str) -> AgentSpec | None:
        """Returns the agent of that name; None if it is unknown, or its entry in the settings incomplete."""
        try:
            return self.spec(name)
        except GitticksError:
            return None

    def default_spec(self) -> AgentSpec:
        """Returns the agent of tasks that name none: the configured one, else the first on PATH, else `script`."""
        if self.default is not None:
            return self.spec(self.default)
        specs = (self.spec(kind.value) for kind in DEFAULT_ORDER)
        return next(
            (spec for spec in specs if self.path_of(spec) is not None), self.spec(AgentKind.SCRIPT.value)
        )

    def path_of(self, spec: AgentSpec) -> str | None:
        """Returns the absolute path of the agent's program; None if it is not on PATH or depends on the workspace."""
        program = spec.argv[0] if spec.argv else PRESETS[spec.kind].program
        if program is None or (os.sep in program and not os.path.isabs(program)):  # noqa: PTH117 - not a path yet
            return None
        return shutil.which(program, path=self.environment.get("PATH", os.defpath))

    def lacks(self, spec: AgentSpec) -> bool:
        """True for a client that is not on PATH; commands from the settings are not checked."""
        return spec.kind in CLIENTS and not spec.argv and self.path_of(spec) is None

    def found(self) -> tuple[FoundAgent, ...]:
        """Returns the configured agents and the known ones that are on PATH, in the order of `names`; no incomplete ones."""
        all_found = []
        for name in self.names:
            spec, is_configured = self.whole_spec(name), name in self.configured
            path = None if spec is None else self.path_of(spec)
            if spec is not None and (is_configured or path is not None):
                all_found.append(FoundAgent(spec, path, is_configured))
        return tuple(all_found)

    def version_of(self, found: FoundAgent) -> str | None:
        """Returns what a known client answers to `--version` within five seconds; None if it says nothing sensible.

        Commands of the settings are not asked: they need not know the flag, and would start to work.
        """
        if found.path is None or found.spec.kind not in CLIENTS:
            return None
        from gitticks.agents.process import run_supervised  # costs start-up time

        environment = agent_environment(
            found.spec.kind, PRESETS[found.spec.kind].variables, self.environment, {"NO_COLOR": "1"}
        )
        ended = run_supervised(
            Command((found.path, *found.spec.argv[1:], "--version"), Path("/"), environment),
            Limits(
                total_seconds=_VERSION_SECONDS, output_bytes=100_000, kept_bytes=10_000, grace_seconds=0.5
            ),
        )
        lines = [line.strip() for line in ended.output.splitlines() if line.strip()]
        if not ended.is_success or not lines:
            return None
        return "".join(letter for letter in lines[0] if letter.isprintable())[:_LONGEST_VERSION]


def _kind(name: str, entry: AgentSettings) -> AgentKind:
    kind = AgentKind(name) if entry.type is None and name in _KNOWN else entry.type
    if entry.argv or kind not in (None, AgentKind.COMMAND):
        return kind or AgentKind.COMMAND
    hint = f"`gt config agents.{name}.argv '[\"./agent.sh\"]'`"
    if kind is not None:
        raise GitticksError(f"the agent `{name}` has no `argv`", hint=hint)
    hint += f" for your own command, `gt config agents.{name}.type claude` for a known client"
    raise GitticksError(f"the agent `{name}` has neither `type` nor `argv`", hint=hint)
