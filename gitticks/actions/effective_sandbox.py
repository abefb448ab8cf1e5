"""The sandbox that runs here get: the chosen one, or the default if this machine supports it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from gitticks.document.settings_layers import DEFAULT
from gitticks.model.settings import SandboxPreset, Settings
from gitticks.sandbox.probe import require_walls, why_no_default

if TYPE_CHECKING:
    from gitticks.actions.context import Context


def why_no_sandbox(context: Context) -> str | None:
    """Returns why the default sandbox does not work here, found by setting it up; None if it does, or if one was chosen."""
    if context.resolved_settings.origin("sandbox.preset") != DEFAULT:
        return None
    return why_no_default(context.settings, context.world.environment)


def no_sandbox_warning(context: Context) -> str | None:
    """Returns the warning of each start without a sandbox, with the reason; None if there is one."""
    if settings_here(context).sandbox.preset is not SandboxPreset.NONE:
        return None
    why = why_no_sandbox(context) or "`sandbox.preset` is `none`"
    return f"no sandbox: agents run as you and can do anything you can: {why}"


def settings_here(context: Context) -> Settings:
    """Returns the settings for what is started on this machine.

    Raises:
        GitticksError: the sandbox that somebody chose does not work here.
    """
    settings = context.settings
    if why_no_sandbox(context) is not None:
        return replace(settings, sandbox=replace(settings.sandbox, preset=SandboxPreset.NONE))
    require_walls(settings.sandbox, context.world.environment)
    return settings
