"""Says which agents can be started here, and what each can do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gitticks.actions.context import Context
from gitticks.actions.trust import are_settings_trusted
from gitticks.agents.registry import PRESETS
from gitticks.errors import GitticksError, NotFoundError
from gitticks.model.settings import PermissionMode, Settings
from gitticks.runner.reviewing import registry_for

if TYPE_CHECKING:
    from gitticks.agents.registry import Registry
    from gitticks.model.ids import TaskId


@dataclass(frozen=True, slots=True)
class KnownAgent:
    """An agent; `path` and `version` are None where its program is not on PATH or does not say."""

    name: str
    kind: str
    path: str | None
    version: str | None
    is_default: bool
    is_configured: bool
    modes: tuple[PermissionMode, ...]
    resumes: bool
    tells_usage: bool
    tells_cost: bool


def known_agents(context: Context) -> list[KnownAgent]:
    """Returns the configured agents and those found on PATH; outside of a repository those of the defaults.

    A default that there is not is only warned of: this is the list to choose another from.
    """
    registry = registry_for(_settings(context), context.world.environment)
    default, is_trusted = _default(context, registry), _is_trusted(context)
    return [
        KnownAgent(
            name=found.spec.name,
            kind=found.spec.kind.value,
            path=found.path,
            version=registry.version_of(found) if is_trusted or not found.is_configured else None,
            is_default=found.spec.name == default,
            is_configured=found.is_configured,
            modes=preset.modes,
            resumes=preset.resumes,
            tells_usage=preset.tells_usage,
            tells_cost=preset.tells_cost,
        )
        for found in registry.found()
        for preset in (PRESETS[found.spec.kind],)
    ]


def why_unknown(settings: Settings, name: str) -> str | None:
    """Returns that these settings know no agent of a name, with near ones; None if they do."""
    try:
        registry_for(settings, {}).spec(name)
    except NotFoundError as error:
        return f"{error.message} ({error.hint})"
    except GitticksError:  # its entry is not complete, which is said by what asks for more than its name
        return None
    return None


def warn_of_unknown(context: Context, task_id: TaskId, name: str) -> None:
    """Warns of a task's agent that the settings here do not know; they may where its run is, so it is no error."""
    try:
        reason = why_unknown(context.settings, name)
    except GitticksError:
        return  # the settings are to be fixed before any run, which says why
    if reason is not None:
        context.warnings.append(f"runs here leave `{task_id}` out: {reason}")


def _default(context: Context, registry: Registry) -> str | None:
    try:
        return registry.default_spec().name
    except NotFoundError as error:
        context.warnings.append(f"the setting `agent`: {error.message}")
        return None


def _is_trusted(context: Context) -> bool:
    """True if programs that the settings name may be asked for their version."""
    try:
        return are_settings_trusted(context)
    except NotFoundError:
        return True


def _settings(context: Context) -> Settings:
    try:
        _ = context.repository
    except NotFoundError:
        return Settings()
    return context.settings
