"""Waiting for the state branch to change: file events wake up, the ref read once a second is the truth."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from gitticks.git.refs import folder_of_ref, read_ref
from gitticks.git.repository import Repository
from gitticks.store.layout import STATE_REF

_TRUTH_SECONDS = 1.0


def wait_for_change(
    repository: Repository, seconds: float, over: threading.Event, is_over: Callable[[], bool]
) -> bool:
    """Waits until the state branch moves, and returns whether it did.

    Args:
        repository: whose state branch.
        seconds: how long at most.
        over: ends the waiting at once.
        is_over: asked about once a second; ends the waiting too.
    """
    before = read_ref(repository.common_dir, STATE_REF)
    deadline = time.monotonic() + seconds
    while not over.is_set() and not is_over() and time.monotonic() < deadline:
        _wait_for_event(repository, min(_TRUTH_SECONDS, max(0.01, deadline - time.monotonic())), over)
        if read_ref(repository.common_dir, STATE_REF) != before:
            return True
    return False


def _wait_for_event(repository: Repository, seconds: float, over: threading.Event) -> None:
    """Returns at the first file event near the ref, or after `seconds`; without a working watch it only waits."""
    from watchfiles import watch

    folder = folder_of_ref(repository.common_dir, STATE_REF)
    if not folder.is_dir():
        over.wait(seconds)
        return
    milliseconds = int(seconds * 1000)
    try:
        for _ in watch(
            folder,
            watch_filter=None,
            stop_event=over,
            rust_timeout=milliseconds,
            yield_on_timeout=True,
            debounce=50,
            step=10,
            raise_interrupt=False,
        ):
            return
    except OSError:
        over.wait(seconds)
