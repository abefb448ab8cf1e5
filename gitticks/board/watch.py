"""Wakes when the board or the state branch may have changed, and says which files of the board were written."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Collection, Iterator
from pathlib import Path

from gitticks.board.place import board_path
from gitticks.file_watch import Wake, wakes_in
from gitticks.git.refs import folder_of_ref
from gitticks.git.repository import Repository
from gitticks.store.layout import STATE_REF

_MOST_PATHS = 100
"""So many are named; more are looked for on the whole board."""


def wakes(repository: Repository, over: threading.Event) -> Iterator[Wake]:
    """Yields about once a second, and at once at file events, until `over` is set.

    The paths are those on the board, from its top.
    """

    def places() -> tuple[Path, Path | None]:
        board = None
        with contextlib.suppress(OSError):
            board = board_path(repository)
        return folder_of_ref(repository.common_dir, STATE_REF), board

    for wake in wakes_in(lambda: [folder for folder in places() if folder is not None], over):
        yield wake._replace(paths=None if wake.paths is None else _on_board(wake.paths, *places()))


def _on_board(written: Collection[str], refs: Path, board: Path | None) -> frozenset[str] | None:
    """Returns which of the written files are on the board, from its top; None if they are many or lie elsewhere."""
    if len(written) > _MOST_PATHS:
        return None
    found = set()
    for path in written:
        if board is not None and path.startswith(f"{board}{os.sep}"):
            found.add(path[len(str(board)) + 1 :])
        elif not path.startswith(f"{refs}{os.sep}"):
            return None
    return frozenset(found)
