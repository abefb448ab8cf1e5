"""Wakes when the board or the state branch may have changed.

File events only wake up; whether anything happened is asked of the files. One watch serves all folders, since a
machine allows few, and it is laid again when one of them was removed or made again: the old one would be deaf.
"""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable, Collection, Iterator
from enum import Enum
from pathlib import Path
from typing import NamedTuple

from gitticks.board.place import board_path
from gitticks.git.refs import folder_of_ref
from gitticks.git.repository import Repository
from gitticks.store.layout import STATE_REF

LOOK_SECONDS = 1.0
"""So often the ref is read in any case."""

_STEP_MILLISECONDS = 50
_DEBOUNCE_MILLISECONDS = 200
_MOST_PATHS = 100
"""So many are named; more are looked for on the whole board."""


class Reason(Enum):
    """What is known of the files since the last look."""

    EVENT = "event"
    """One was written."""
    QUIET = "quiet"
    """None was, as far as the watch tells."""
    BLIND = "blind"
    """Nobody knows, since no watch can be had, as past the machine's limit of them."""


class Wake(NamedTuple):
    """Why to look now; `paths` are those written, from the board's top, None where they are not known."""

    reason: Reason
    paths: frozenset[str] | None = None


class _Places(NamedTuple):
    """What there is to watch: the folder of the state branch's ref, and the board; never a workspace."""

    refs: Path
    board: Path | None

    @classmethod
    def of(cls, repository: Repository) -> _Places:
        board = None
        with contextlib.suppress(OSError):
            board = board_path(repository)
        return cls(folder_of_ref(repository.common_dir, STATE_REF), board)

    @property
    def folders(self) -> list[Path]:
        return [folder for folder in (self.refs, self.board) if folder is not None and folder.is_dir()]

    def on_board(self, written: Collection[str]) -> frozenset[str] | None:
        """Returns which of the written files are on the board, from its top; None if they are many or lie elsewhere."""
        if len(written) > _MOST_PATHS:
            return None
        found = set()
        for path in written:
            if self.board is not None and path.startswith(f"{self.board}{os.sep}"):
                found.add(path[len(str(self.board)) + 1 :])
            elif not path.startswith(f"{self.refs}{os.sep}"):
                return None
        return frozenset(found)


def wakes(find: Callable[[], Repository], over: threading.Event) -> Iterator[Wake]:
    """Yields about once a second, and at once at file events, until `over` is set; `find` says where to watch by then."""
    before: list[tuple[str, int, int]] | None = None
    while not over.is_set():
        places = _Places.of(find())
        marks = _marks(places.folders)
        for wake in _events(places, over):
            # Nobody knows what was written before there was a watch, or since one ended.
            yield Wake(Reason.EVENT) if wake.reason is not Reason.BLIND and marks != before else wake
            before = None if wake.reason is Reason.BLIND else marks
            if over.is_set() or _marks(_Places.of(find()).folders) != marks:
                break


def _marks(folders: list[Path]) -> list[tuple[str, int, int]]:
    """Returns what tells a folder from another that took its place."""
    marks = []
    for folder in folders:
        with contextlib.suppress(OSError):
            status = os.stat(folder)  # noqa: PTH116 - once a second
            marks.append((str(folder), status.st_dev, status.st_ino))
    return marks


def _events(places: _Places, over: threading.Event) -> Iterator[Wake]:
    """Yields at file events and after each second without; ends where no watch works."""
    from watchfiles import watch

    try:
        for changes in watch(
            *places.folders,
            watch_filter=None,
            stop_event=over,
            rust_timeout=int(LOOK_SECONDS * 1000),
            yield_on_timeout=True,
            debounce=_DEBOUNCE_MILLISECONDS,
            step=_STEP_MILLISECONDS,
            raise_interrupt=False,
        ):
            written = {path for _, path in changes}
            yield Wake(Reason.EVENT, places.on_board(written)) if written else Wake(Reason.QUIET)
    except (
        OSError,
        RuntimeError,
        UnicodeError,
    ):  # the limit of watches, a folder that just went, an odd name
        over.wait(LOOK_SECONDS)
        yield Wake(Reason.BLIND)
