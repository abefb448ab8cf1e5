"""Says which agents can be started here, and what each can do."""

from __future__ import annotations

from dataclasses import dataclass

from gitticks.actions.context import Context
from gitticks.errors import NotFoundError
from gitticks.model.settings import PermissionMode, Settings


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
    """Returns the configured agents and those found on PATH; outside of a repository those of the defaults."""
    from gitticks.agents.presets import PRESETS
    from gitticks.agents.registry import Registry

    settings = _settings(context)
    registry = Registry(settings.agents, settings.agent, settings.permissions.mode, context.world.environment)
    default, is_trusted = registry.default_spec().name, _is_trusted(context)
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


def _is_trusted(context: Context) -> bool:
    """True if programs that the settings name may be asked for their version."""
    from gitticks.actions.trust import are_settings_trusted

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
