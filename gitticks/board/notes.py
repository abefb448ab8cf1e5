"""The notes beside files of the board that say why an edit is not applied; they are never committed.

Which there are is remembered, so that a note goes when the edit is fixed; one that a person made theirs stays.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from gitticks.board.journal import is_inside
from gitticks.board.judge_edit import NOTE_ENDING
from gitticks.board.place import REFUSALS_FILE, board_checkout
from gitticks.errors import GitticksError
from gitticks.git.config import exclude_patterns
from gitticks.git.files import CheckoutFiles, write_synced
from gitticks.git.repository import Repository
from gitticks.safe_read import read_json
from gitticks.store.layout import CONFIG_PATH, PROMPTS_FOLDER

NOTES_PATTERNS = tuple(
    f"/{path}{NOTE_ENDING}" for path in ("tasks/*/*/TASK.md", CONFIG_PATH, f"{PROMPTS_FOLDER}/**/*.md")
)
"""What git overlooks on the board."""

_FIRST_LINE = b"This edit was refused:\n\n"
_LAST_LINES = b"\n\nWhat you wrote stays. Save the file fixed, and this note goes by itself.\n"


def keep_notes(
    repository: Repository, reasons: Mapping[str, str], among: Iterable[str] | None = None
) -> None:
    """Makes the notes on the board those of `reasons`, by the path of the file that they are about.

    Where paths are given, only the notes about these are looked at. A board or disk that cannot be written to is no
    failure: the reasons are shown elsewhere too.
    """
    known = _load(repository)
    paths = {*known, *reasons} if among is None else {*known, *reasons}.intersection(among)
    checkout = board_checkout(repository) if paths else None
    if checkout is None:
        return
    with contextlib.suppress(GitticksError, OSError):
        files = CheckoutFiles.at(checkout.path, repository.own_dir, "notes")
        if reasons:
            exclude_patterns(repository, NOTES_PATTERNS)
        written = {path for path in paths if _put(files, path, reasons.get(path))}
        remembered = (known - paths) | (written & reasons.keys()) | (known & paths & reasons.keys())
        if not remembered:
            _file(repository).unlink(missing_ok=True)  # every change looks whether it is there
        elif remembered != known:
            write_synced(_file(repository), json.dumps(sorted(remembered)).encode())


def _put(files: CheckoutFiles, path: str, reason: str | None) -> bool:
    """Writes or removes one note, unless a person has made it theirs; returns whether it is as wanted."""
    wanted = None if reason is None else _FIRST_LINE + reason.encode() + _LAST_LINES
    present = files.read(path + NOTE_ENDING)
    is_ours = present is None or (present.startswith(_FIRST_LINE) and present.endswith(_LAST_LINES))
    return present == wanted or (is_ours and files.replace(path + NOTE_ENDING, present, wanted).is_done)


def _load(repository: Repository) -> frozenset[str]:
    return read_json(
        _file(repository), lambda paths: frozenset(filter(is_inside, map(str, paths))), frozenset()
    )


def _file(repository: Repository) -> Path:
    return repository.own_file(REFUSALS_FILE)
