"""Claims tasks at the shared remote, for runs and for work started by hand."""

from __future__ import annotations

import contextlib
import socket
import threading
from collections.abc import Callable, Iterator
from datetime import timedelta

from gitticks.actions.context import Context
from gitticks.actions.sync import Reached
from gitticks.actions.sync_auto import share
from gitticks.actions.watching import in_background
from gitticks.git.refs import read_ref
from gitticks.git.sharing import remote_of_branch, tracking_ref
from gitticks.runner.claiming import RunClaims
from gitticks.store.claims import Claims
from gitticks.store.layout import STATE_BRANCH
from gitticks.store.sharing import last_shared

_LOOK_SECONDS = 1.0


def claims_of(context: Context, warn: Callable[[str], None]) -> RunClaims:
    """Returns what claims tasks for this clone; nothing does where no remote is known to have its tasks.

    `warn` gets what goes wrong on the way, each once.
    """
    remote = remote_of_branch(context.repository, STATE_BRANCH)
    if remote is None or not _has_tasks(context, remote):
        return RunClaims.none()
    seen = set[str]()
    sharing = threading.Lock()

    def share_now() -> bool:
        with sharing:
            fresh = context.renewed()
            done = share(fresh)
            for message in fresh.warnings:
                if message not in seen:
                    seen.add(message)
                    warn(message)
        return done is not None and done.reached is Reached.DONE

    me = (context.author.name, socket.gethostname())
    lease = timedelta(seconds=context.settings.claims.lease)
    claims = Claims(context.repository, remote, me, lease, context.world.now)
    return RunClaims(claims, share_now, warn, context.world.monotonic_seconds)


def _has_tasks(context: Context, remote: str) -> bool:
    """True if a remote had the state branch, whether `gt sync`, `gt init` or plain git saw it there."""
    tracked = tracking_ref(remote, STATE_BRANCH)
    return (
        last_shared(context.store, remote) is not None
        or read_ref(context.repository.common_dir, tracked) is not None
    )


@contextlib.contextmanager
def keeping(claims: RunClaims) -> Iterator[None]:
    """Renews claims in a thread while the block runs, and gives back what is left at its end."""

    def keep(over: threading.Event) -> None:
        while not over.wait(_LOOK_SECONDS):
            claims.look()

    try:
        with in_background(keep, "claims"):
            yield
    finally:
        claims.end()
