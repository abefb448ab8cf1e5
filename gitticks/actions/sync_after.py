"""Shares tasks at the end of a command, and at the beginning of a run, as the setting `sync.auto` has it."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from gitticks.actions.context import Context
from gitticks.errors import GitticksError

if TYPE_CHECKING:
    from gitticks.actions.sync_outcome import Synced
    from gitticks.model.settings import SyncMode

LONGEST_SECONDS = 10.0
"""Nobody waits longer for a remote after a command that has done its work."""


def sync_after(context: Context) -> Synced | None:
    """Syncs if the settings ask for it: by `push` after a change of tasks, by `both` after each look at the branch too.

    The command has succeeded or failed by itself; trouble with the remote becomes a warning.
    """
    if not _may_ask(context):
        return None
    from gitticks.model.settings import SyncMode

    mode = asked_mode(context)
    if mode is SyncMode.OFF or (mode is SyncMode.PUSH and not context.store.written):
        return None
    return share(context)


def sync_before(context: Context) -> None:
    """Syncs before a run looks at the tasks, if the settings say `both`: it picks from what others have done too.

    Settings that came along hold for the run.
    """
    from gitticks.model.settings import SyncMode

    if asked_mode(context) is SyncMode.BOTH:
        share(context)
    context.__dict__.pop("settings", None)


def asked_mode(context: Context) -> SyncMode:
    """Returns what is to be shared without being asked for; nothing in a session, or where something is broken."""
    from gitticks.model.settings import SyncMode

    with contextlib.suppress(GitticksError):  # whoever reads the settings says what is broken
        if _may_ask(context):
            return context.settings.sync.auto
    return SyncMode.OFF


def _may_ask(context: Context) -> bool:
    """True unless it is plain without reading all settings, which takes longer than most commands, that none asks."""
    from gitticks.store.settings_glance import may_be_set

    if context.world.in_session:
        return False
    with contextlib.suppress(GitticksError):
        store = context.store
        return store.exists and may_be_set(store, context.world.environment, context.overrides, "sync.auto")
    return False


def share(context: Context) -> Synced | None:
    """Syncs with the usual remote; what goes wrong becomes a warning, and then the return value is None."""
    from gitticks.actions.sync import sync
    from gitticks.actions.sync_outcome import Reached

    try:
        done = sync(context, timeout_seconds=LONGEST_SECONDS)
    except GitticksError as error:
        context.warnings.append(f"not shared: {error.message}")
        return None
    if done.reached is Reached.OFFLINE:
        context.warnings.append(f"not shared yet: `{done.remote}` cannot be reached")
    for path in done.conflicts:
        context.warnings.append(f"both sides wrote the same in `.gitticks/{path}`: `gt sync` and `gt status`")
    return done
