"""Notes that a base is being moved, on disk before the ref moves, so that a kill leaves no checkout behind for good."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from gitticks.git.files import write_synced
from gitticks.git.repository import Repository
from gitticks.safe_read import read_plain_file


@dataclass(frozen=True, slots=True)
class BaseMove:
    """A branch, without `refs/heads/`, and the commits it goes between."""

    branch: str
    old: str
    new: str


def note_move(repository: Repository, move: BaseMove, checkouts: Sequence[Path]) -> None:
    """Writes the note and waits until it is on disk."""
    note = {
        "branch": move.branch,
        "old": move.old,
        "new": move.new,
        "checkouts": [os.fspath(path) for path in checkouts],
    }
    write_synced(_file(repository), json.dumps(note).encode())


def noted_move(repository: Repository) -> tuple[BaseMove, tuple[Path, ...]] | None:
    """Returns the move that was noted and its checkouts; None if there is none, or only a torn note."""
    try:
        note = json.loads(read_plain_file(_file(repository)))
        move = BaseMove(str(note["branch"]), str(note["old"]), str(note["new"]))
        return move, tuple(Path(path) for path in note["checkouts"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def forget_move(repository: Repository) -> None:
    """Removes the note."""
    _file(repository).unlink(missing_ok=True)


def _file(repository: Repository) -> Path:
    return repository.own_dir / "base-move.json"
