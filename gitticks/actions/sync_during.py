"""Shares tasks while a run goes on, as the setting `sync.auto` has it: a run is one command, and may last for days."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from gitticks.actions.background import in_background
from gitticks.actions.context import Context
from gitticks.actions.sync_after import asked_mode, share
from gitticks.git.refs import read_ref
from gitticks.model.settings import SyncMode
from gitticks.store.layout import STATE_REF

LOOK_SECONDS = 1.0
"""How often the branch here is looked at, which is one small read."""
REST_SECONDS = 5.0
"""The least between two syncs: several agents write several times in a second."""


@dataclass(slots=True)
class _Sharer:
    """What was shared, and when; `pull_seconds` is how often the remote is asked without a change here."""

    context: Context
    warn: Callable[[str], None]
    pull_seconds: float | None
    again_seconds: float
    _shared: str | None = None
    _tried: str | None = None
    _at: float = 0.0
    _told: set[str] = field(default_factory=set)

    def begin(self) -> None:
        """Counts what is there now as shared, or left by the person."""
        self._shared = self._tried = self._tip()
        self._at = self._clock()

    def look(self, *, is_last: bool = False) -> None:
        """Shares if there is something to share, or if it is time to ask the remote."""
        tip, passed = self._tip(), self._clock() - self._at
        is_new = tip not in (self._shared, self._tried) and (is_last or passed >= REST_SECONDS)
        is_left = tip != self._shared and (is_last or passed >= self.again_seconds)
        is_due = self.pull_seconds is not None and passed >= self.pull_seconds
        if is_new or is_left or is_due:
            self._share()

    def _share(self) -> None:
        from gitticks.actions.sync_outcome import Reached

        fresh = self.context.renewed()
        done = share(fresh)
        self._tried, self._at = self._tip(), self._clock()
        if done is not None and done.reached is not Reached.OFFLINE:
            self._shared = self._tried
            self._told.clear()
        for message in fresh.warnings:
            if message not in self._told:
                self._told.add(message)
                self.warn(message)

    def _tip(self) -> str | None:
        return read_ref(self.context.repository.common_dir, STATE_REF)

    def _clock(self) -> float:
        return self.context.world.monotonic_seconds()


@contextlib.contextmanager
def sharing(context: Context, warn: Callable[[str], None], *, every_seconds: float) -> Iterator[None]:
    """Shares in a thread while the block runs, and what is left at its end; nothing where the settings ask for none.

    Args:
        context: where.
        warn: gets what goes wrong, each once until it goes well again.
        every_seconds: how often the remote is asked what is new, under `both`, and asked again where it was away.
    """
    mode = asked_mode(context)
    if mode is SyncMode.OFF:
        yield
        return
    pull_seconds = every_seconds if mode is SyncMode.BOTH else None
    sharer = _Sharer(context, warn, pull_seconds, every_seconds)
    sharer.begin()

    def keep(over: threading.Event) -> None:
        while not over.wait(LOOK_SECONDS):
            sharer.look()

    try:
        with in_background(keep, "sharing"):
            yield
    finally:
        sharer.look(is_last=True)
