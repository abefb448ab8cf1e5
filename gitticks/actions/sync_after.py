"""Shares tasks at the end of a command, as the setting `sync.auto` has it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gitticks.actions.context import Context
from gitticks.errors import GitticksError

if TYPE_CHECKING:
    from gitticks.actions.sync import Synced

LONGEST_SECONDS = 10.0
"""Nobody waits longer for a remote after a command that has done its work."""


def sync_after(context: Context) -> Synced | None:
    """Syncs if the settings ask for it: by `push` after a change of tasks, by `both` after each look at the branch too.

    The command has succeeded or failed by itself; trouble with the remote becomes a warning.
    """
    from gitticks.store.settings_glance import may_be_set

    if context.world.in_session:
        return None
    try:
        # off by default: reading all settings takes longer than most commands
        if not context.store.exists or not may_be_set(
            context.store, context.world.environment, context.overrides, "sync.auto"
        ):
            return None
        mode = context.settings.sync.auto
    except GitticksError:
        return (
            None  # the command has said what is broken, and nothing then says that anything is to be shared
        )
    from gitticks.model.settings import SyncMode

    if mode is SyncMode.OFF or (mode is SyncMode.PUSH and not context.store.has_written):
        return None
    try:
        from gitticks.actions.sync import Reached, sync

        done = sync(context, timeout_seconds=LONGEST_SECONDS)
    except GitticksError as error:
        context.warnings.append(f"not shared: {error.message}")
        return None
    if done.reached is Reached.OFFLINE:
        context.warnings.append(f"not shared yet: `{done.remote}` cannot be reached")
    for path in done.conflicts:
        context.warnings.append(f"both sides wrote the same in `.gitticks/{path}`: `gt sync` and `gt status`")
    return done
