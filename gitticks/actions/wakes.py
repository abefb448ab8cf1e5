"""Says when it is time to look at the board and the state branch again.

File events only wake up; whether anything happened is asked of the files. One watch serves all folders, since a
machine allows few, and it is laid anew when one of them was removed or made again: the old one would be deaf.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Iterator
from enum import Enum
from typing import TYPE_CHECKING

from gitticks.git.repository import Repository
from gitticks.store.layout import STATE_REF

if TYPE_CHECKING:
    from pathlib import Path

LOOK_SECONDS = 1.0
"""So often the ref is read in any case."""

_STEP_MILLISECONDS = 50
_DEBOUNCE_MILLISECONDS = 200


class Wake(Enum):
    """What is known of the files since the last look."""

    EVENT = "event"
    """One was written."""
    QUIET = "quiet"
    """None was, as far as the watch tells."""
    BLIND = "blind"
    """Nobody knows, since no watch can be had, as past the machine's limit of them."""


def wakes(find: Callable[[], Repository], over: threading.Event) -> Iterator[Wake]:
    """Yields about once a second, and at once at file events, until `over` is set; `find` says where to watch by then."""
    before: list[tuple[str, int, int]] | None = None
    while not over.is_set():
        folders = _folders(find())
        marks = _marks(folders)
        for wake in _events(folders, over):
            # Nobody knows what was written before there was a watch.
            yield Wake.EVENT if wake is Wake.QUIET and marks != before else wake
            before = marks
            if over.is_set() or _marks(_folders(find())) != marks:
                break


def _folders(repository: Repository) -> list[Path]:
    """Returns what there is of the board and the folder of the state branch's ref; never a workspace."""
    from gitticks.store.board import board_path

    found = [(repository.common_dir / STATE_REF).parent]
    with contextlib.suppress(OSError):
        found += [board for board in [board_path(repository)] if board is not None]
    return [folder for folder in found if folder.is_dir()]


def _marks(folders: list[Path]) -> list[tuple[str, int, int]]:
    """Returns what tells a folder from another that took its place."""
    marks = []
    for folder in folders:
        with contextlib.suppress(OSError):
            status = os.stat(folder)  # noqa: PTH116 - once a second
            marks.append((str(folder), status.st_dev, status.st_ino))
    return marks


def _events(folders: list[Path], over: threading.Event) -> Iterator[Wake]:
    """Yields at each file event and after each second without; ends where no watch works."""
    from watchfiles import watch

    try:
        for changes in watch(
            *folders,
            watch_filter=None,
            stop_event=over,
            rust_timeout=int(LOOK_SECONDS * 1000),
            yield_on_timeout=True,
            debounce=_DEBOUNCE_MILLISECONDS,
            step=_STEP_MILLISECONDS,
            raise_interrupt=False,
        ):
            yield Wake.EVENT if changes else Wake.QUIET
    except (OSError, RuntimeError):  # the limit of watches, or a folder that went at this moment
        over.wait(LOOK_SECONDS)
        yield Wake.BLIND
