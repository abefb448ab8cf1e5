"""Wakes when files in some folders may have changed.

File events only wake up; whether anything happened is asked of the files. One watch serves all folders, since a
machine allows few, and it is laid again when one of them was removed or made again: the old one would be deaf.
"""

from __future__ import annotations

import contextlib
import os
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import threading
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path

LOOK_SECONDS = 1.0
"""So often it wakes in any case."""

_STEP_MILLISECONDS = 50
_DEBOUNCE_MILLISECONDS = 200


class Reason(Enum):
    """What is known of the files since the last look."""

    EVENT = "event"
    """One was written."""
    QUIET = "quiet"
    """None was, as far as the watch tells."""
    BLIND = "blind"
    """Nobody knows, since no watch can be had, as past the machine's limit of them."""


class Wake(NamedTuple):
    """Why to look now; `paths` are those written, None where they are not known."""

    reason: Reason
    paths: frozenset[str] | None = None


def wakes_in(
    find: Callable[[], Iterable[Path]], over: threading.Event, seconds: float = LOOK_SECONDS
) -> Iterator[Wake]:
    """Yields at file events in folders and after each time of `seconds` without, until `over` is set.

    `find` is asked each time for the folders; those that are missing are left out.
    """
    before: list[tuple[str, int, int]] | None = None
    while not over.is_set():
        folders = _marks(find())
        for wake in _events([path for path, _, _ in folders], over, seconds):
            # Nobody knows what was written before there was a watch, or since one ended.
            yield Wake(Reason.EVENT) if wake.reason is not Reason.BLIND and folders != before else wake
            before = None if wake.reason is Reason.BLIND else folders
            if over.is_set() or _marks(find()) != folders:
                break


def _marks(folders: Iterable[Path]) -> list[tuple[str, int, int]]:
    """Returns the folders that are there, with what tells one from another that took its place."""
    marks = []
    for folder in folders:
        with contextlib.suppress(OSError):
            status = os.stat(folder)  # noqa: PTH116 - once a second
            marks.append((str(folder), status.st_dev, status.st_ino))
    return marks


def _events(folders: list[str], over: threading.Event, seconds: float) -> Iterator[Wake]:
    """Yields at file events and after each time without; ends where no watch works."""
    from watchfiles import watch

    with contextlib.suppress(OSError, RuntimeError, UnicodeError):  # the limit of watches, an odd name
        for changes in watch(
            *folders,
            watch_filter=None,
            stop_event=over,
            rust_timeout=int(seconds * 1000),
            yield_on_timeout=True,
            debounce=_DEBOUNCE_MILLISECONDS,
            step=_STEP_MILLISECONDS,
            raise_interrupt=False,
        ):
            yield (
                Wake(Reason.EVENT, frozenset(path for _, path in changes)) if changes else Wake(Reason.QUIET)
            )
        return
    over.wait(seconds)
    yield Wake(Reason.BLIND)
