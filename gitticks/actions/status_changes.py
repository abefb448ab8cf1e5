"""Detects that what `gt status` shows may have changed, without gathering it again."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

from gitticks.git.refs import folder_of_ref, read_ref
from gitticks.runner.liveness import (
    HELD_FOLDER,
    MERGING_FILE,
    OVERLAPS_FILE,
    PAUSED_FILE,
    RESTING_FILE,
    SESSIONS_FOLDER,
    SPENDING_FILE,
    held_tasks,
    is_run_alive_at,
    sessions_here,
)
from gitticks.runner.waking import file_events
from gitticks.store.layout import STATE_REF

if TYPE_CHECKING:
    from pathlib import Path

    from gitticks.actions.context import Context

_LOOK_SECONDS = 30.0
"""So often stock is taken in any case, for what people saved on the board."""


def changes(context: Context, over: threading.Event) -> Iterator[bool]:
    """Yields at once and then about once a second until `over` is set: whether something may have changed."""
    own, clock = context.repository.own_dir, context.world.monotonic_seconds
    refs = folder_of_ref(context.repository.common_dir, STATE_REF)
    before, looked = _mark(context), clock()
    yield True
    for _ in file_events(lambda: [refs, own / SESSIONS_FOLDER, own / HELD_FOLDER], over):
        now = _mark(context)
        has_changed = now != before or clock() - looked >= _LOOK_SECONDS
        if has_changed:
            looked = clock()
        yield has_changed
        before = now


def _mark(context: Context) -> tuple[object, ...]:
    """Returns what differs once a run, a session, a hold or a task is another."""
    own = context.repository.own_dir
    place = str(own)
    names = (PAUSED_FILE, RESTING_FILE, SPENDING_FILE, OVERLAPS_FILE, MERGING_FILE)
    return (
        read_ref(context.repository.common_dir, STATE_REF),
        *sessions_here(place),
        held_tasks(place),
        is_run_alive_at(place),
        *(_changed_at(own / name) for name in names),
    )


def _changed_at(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0
