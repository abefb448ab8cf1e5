"""Keeps on sharing until it is interrupted: at every change here, and every so often for what is new elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable

from gitticks.actions.context import Context
from gitticks.actions.sync import sync
from gitticks.actions.sync_outcome import Reached, Synced
from gitticks.errors import GitticksError
from gitticks.git.refs import read_ref
from gitticks.store.layout import STATE_REF

LOOK_SECONDS = 1.0
"""How often the branch here is looked at, which is one small read."""


def watch(
    context: Context,
    remote: str | None,
    *,
    every_seconds: float,
    timeout_seconds: float,
    told: Callable[[Synced], None],
    failed: Callable[[GitticksError], None],
) -> None:
    """Syncs until Ctrl-C; the first failure ends it, since it may be a wrong word, later ones are told and tried again.

    Args:
        context: where.
        remote: with which remote; None for the usual one.
        every_seconds: how long to wait for a change here before the remote is asked again.
        timeout_seconds: how long the remote may take for one answer.
        told: gets each sync that did something or came less or more far than the one before.
        failed: gets what went wrong, once for each time that it changes.
    """
    reached: Reached | None = None
    problem: str | None = None
    try:
        while True:
            fresh = context.renewed()
            try:
                done = sync(fresh, remote, timeout_seconds=timeout_seconds)
            except GitticksError as error:
                if reached is None:
                    raise
                if error.message != problem:
                    failed(error)
                problem = error.message
            else:
                if done.reached is not reached or done.has_moved:
                    told(done)
                reached, problem = done.reached, None
            _wait(context, read_ref(context.repository.common_dir, STATE_REF), every_seconds)
    except KeyboardInterrupt:
        return


def _wait(context: Context, tip: str | None, longest_seconds: float) -> None:
    """Waits until the branch moves, or for as long as that."""
    until = time.monotonic() + longest_seconds
    while (left := until - time.monotonic()) > 0:
        time.sleep(min(LOOK_SECONDS, left))
        if read_ref(context.repository.common_dir, STATE_REF) != tip:
            return
