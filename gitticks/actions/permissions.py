"""What agents may do: the rules, which one decides and why, open requests and answers, the mode."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple

from gitticks.actions.context import Context
from gitticks.actions.trust import settings_here
from gitticks.agents.tool_calls import file_names, host_of
from gitticks.errors import GitticksError, NotFoundError, UsageError
from gitticks.model.settings import PermissionMode, SandboxPreset, Settings
from gitticks.runner.liveness import is_run_alive_at
from gitticks.runner.permissions import OWN_LAYER, grants_of, mode_of
from gitticks.runner.questions import Question, Questions, Reply
from gitticks.runner.reviewing import registry_for
from gitticks.store.permissions import LearnedRule, forget, learned_rules, policy_layers
from gitticks.store.settings import set_clone_mode, settings_with_clone_mode
from gitticks.workflow.permissions import Access, Operation, PolicyLayer, Ruling, is_looser, judge, strictness


class Explained(NamedTuple):
    """What the rules say of something that an agent might want to do, and under which mode."""

    access: Access
    agent: str
    mode: PermissionMode
    ruling: Ruling


class Policy(NamedTuple):
    """All that decides: the mode and where it comes from, the rules by their places, the answers by their numbers."""

    mode: PermissionMode
    mode_origin: str
    layers: tuple[PolicyLayer, ...]
    learned: tuple[LearnedRule, ...]
    timeout: int


def policy(context: Context) -> Policy:
    """Returns what holds in this clone."""
    found = context.resolved_settings
    layers = policy_layers(context.repository, context.world.environment, context.overrides)
    permissions = found.settings.permissions
    origin = found.origin("permissions.mode")
    return Policy(permissions.mode, origin, layers, learned_rules(context.repository), permissions.timeout)


def explain_access(context: Context, operation: str, target: str, agent: str | None = None) -> Explained:
    """Returns which rule decides about something and why, for an agent or the default one."""
    registry = registry_for(context.settings, context.world.environment)
    spec = registry.default_spec() if agent is None else registry.spec(agent)
    rules = policy_layers(context.repository, context.world.environment, context.overrides)
    grants = grants_of(spec, mode_of(spec, context.settings))
    judged = (
        (access, judge(access, (OWN_LAYER, *rules), grants)) for access in _names(context, operation, target)
    )
    access, ruling = min(judged, key=lambda one: strictness(one[1]))
    return Explained(access, spec.name, grants.mode, ruling)


def _names(context: Context, operation: str, target: str) -> tuple[Access, ...]:
    try:
        kind = Operation(operation)
    except ValueError:
        known = ", ".join(f"`{one}`" for one in Operation)
        raise UsageError(f"`{operation}` is not an operation", hint=f"it is one of {known}") from None
    if not target.strip():
        raise UsageError("the target is empty", hint=f"`gt permissions explain {operation} TARGET`")
    if kind is Operation.SHELL:
        return (Access(kind, target),)
    if kind is Operation.NETWORK:
        return (Access(kind, host_of(target) or target),)
    top = str(context.repository.project_dir or context.directory)
    return file_names(kind, target, workspace=top, folder=top)


def open_questions(context: Context) -> tuple[Question, ...]:
    """Returns what agents ask at the moment, the oldest first."""
    return Questions(context.repository.own_dir).open()


def answer_questions(
    context: Context, numbers: Iterable[int], *, allows: bool, always: bool = False
) -> tuple[Question, ...]:
    """Answers questions and returns them; none is answered if one is not open.

    Raises:
        NotFoundError: one of them does not wait for an answer.
        RefusedError: this is an agent's session, or somebody else was faster.
    """
    context.require_person("answer for a person")
    questions, wanted = Questions(context.repository.own_dir), tuple(dict.fromkeys(numbers))
    known = {one.number for one in questions.open()}
    missing = [number for number in wanted if number not in known]
    if missing:
        raise NotFoundError(
            f"no request {missing[0]} is waiting for an answer", hint="`gt permissions` lists those that do"
        )
    return tuple(questions.answer(number, Reply(allows, always)) for number in wanted)


def attached(context: Context) -> AbstractContextManager[None]:
    """Says while the block runs that a person is there to answer, so that agents ask instead of being refused."""
    context.require_person("answer for a person")
    return Questions(context.repository.own_dir).attached()


def forget_rules(context: Context, numbers: Iterable[int]) -> tuple[LearnedRule, ...]:
    """Drops rules that were learned from answers and returns them."""
    context.require_person("change rules")
    return forget(context.repository, numbers)


class Loosened(NamedTuple):
    """Who may do more under another mode: an agent that has a mode of its own, or with an empty name all others."""

    agent: str
    before: PermissionMode
    after: PermissionMode


class ChangedMode(NamedTuple):
    """The mode before and after; `holds` is what holds, which may be stricter than what was asked for.

    `is_looser` says that agents may do more than before, at least one of them.
    """

    before: PermissionMode
    asked: PermissionMode | None
    holds: PermissionMode
    origin: str
    is_looser: bool
    is_run_alive: bool


def loosened_by(context: Context, mode: PermissionMode | None) -> tuple[Loosened, ...]:
    """Returns who might do more if the mode of this clone were set so, whatever stricter one of another place holds."""
    then = settings_with_clone_mode(context.repository, context.world.environment, context.overrides, mode)
    if mode is not None:
        then = then._replace(permissions=then.permissions._replace(mode=mode))
    return _loosened(context.settings, then)


def _loosened(before: Settings, after: Settings) -> tuple[Loosened, ...]:
    later = _modes(after)
    return tuple(
        Loosened(agent, mode, later[agent])
        for agent, mode in _modes(before).items()
        if is_looser(later[agent], mode)
    )


def _modes(settings: Settings) -> dict[str, PermissionMode]:
    """Returns the mode of all, by an empty name, and of each agent that has its own."""
    own = {name: one.mode for name, one in settings.agents.items() if one.mode is not None}
    return {"": settings.permissions.mode, **own}


def change_mode(context: Context, mode: PermissionMode | None) -> ChangedMode:
    """Sets the mode of this clone, or takes it back with None; a stricter one of another place still holds.

    What is stricter holds at once, also for agents at work; what is looser from their next iteration on.
    """
    context.require_person("change the mode")
    before = context.settings
    set_clone_mode(context.repository, mode)
    found = context.renewed().resolved_settings
    return ChangedMode(
        before.permissions.mode,
        mode,
        found.settings.permissions.mode,
        found.origin("permissions.mode"),
        bool(_loosened(before, found.settings)),
        is_run_alive_at(context.repository.own_place),
    )


def needs_walls(context: Context) -> bool:
    """True if agents would run without questions and without a sandbox."""
    settings = context.settings
    modes = {settings.permissions.mode, *(one.mode for one in settings.agents.values())}
    return PermissionMode.YOLO in modes and settings_here(context).sandbox.preset is SandboxPreset.NONE


def require_yolo_meant(context: Context, *, is_confirmed: bool) -> None:
    """Refuses `yolo` without a sandbox unless a person has said that they mean it."""
    if needs_walls(context) and not is_confirmed:
        raise GitticksError(
            "`yolo` without a sandbox lets agents do anything you can, without asking",
            hint="`--yolo-without-sandbox` confirms it; `--permission auto-all` is safer",
        )


def flags_as_rules(
    *, allow_network: bool, allow_paths: str | None, deny_commands: str | None, folder: Path
) -> dict[str, str]:
    """Returns the settings that a run's flags for single rules stand for, as texts by their names."""
    allow: list[dict[str, object]] = [{"operation": "network"}] if allow_network else []
    paths = [str(folder / os.path.expanduser(one)) for one in _words("--allow-paths", allow_paths)]
    if paths:
        allow += [{"operation": operation, "paths": paths} for operation in ("file_read", "file_write")]
    commands = _words("--deny-commands", deny_commands)
    deny = [{"operation": "shell", "commands": list(commands)}] if commands else []
    given = {"permissions.allow": allow, "permissions.deny": deny}
    return {name: json.dumps(rules) for name, rules in given.items() if rules}


def _words(option: str, text: str | None) -> tuple[str, ...]:
    words = tuple(word.strip() for word in (text or "").split(",") if word.strip())
    if text is not None and not words:
        raise UsageError(f"`{option}` names nothing", hint=f"`{option} one,two`")
    return words
