"""A fast check whether `sync.auto` may be set: every command ends with it, and the answer is mostly no."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from gitticks.errors import GitticksError
from gitticks.git.config import read_config
from gitticks.store.index import open_index
from gitticks.store.layout import CONFIG_PATH

if TYPE_CHECKING:
    from gitticks.actions.context import Context


def may_share(context: Context) -> bool:
    """True unless every layer of the settings is silent about `sync.auto`, or this is an agent's session."""
    if context.world.in_session:
        return False
    if "sync.auto" in context.overrides or "GITTICKS_CONFIG_SYNC_AUTO" in context.world.environment:
        return True
    with suppress(GitticksError):
        team = _team_settings(context)
        # in quotes a key may be written with escapes
        if b"\\" in team or (b"sync" in team and b"auto" in team):
            return True
        return bool(read_config(context.repository, r"^gitticks\.sync\.auto$"))
    return False


def _team_settings(context: Context) -> bytes:
    """Returns config.yaml, from the index where the store was not opened."""
    if context.has_store:
        return context.store.read(CONFIG_PATH) or b""
    with open_index(context.repository) as index:
        return index.team_settings()
