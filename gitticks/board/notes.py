"""The notes beside files of the board that say why an edit is not taken up; they are never committed.

What was written is remembered, so that a note goes when the edit is fixed, and one that a person changed stays.
"""

from __future__ import annotations

import contextlib
import hashlib
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
from gitticks.safe_read import read_plain_file
from gitticks.store.layout import CONFIG_PATH, PROMPTS_FOLDER

NOTES_PATTERNS = tuple(
    f"/{path}{NOTE_ENDING}" for path in ("tasks/*/*/TASK.md", CONFIG_PATH, f"{PROMPTS_FOLDER}/**/*.md")
)
"""What git overlooks on the board."""

_FIRST_LINE = "This edit is not taken up:\n\n"
_LAST_LINES = "\n\nWhat you wrote stays. Save the file fixed, and this note goes by itself.\n"


def keep_notes(repository: Repository, reasons: Mapping[str, str]) -> None:
    """Makes the notes on the board those of `reasons`, by the path of the file that they are about.

    A board or disk that cannot be written to is no failure: the reasons are told elsewhere too.
    """
    known = _load(repository)
    if reasons or known:
        with contextlib.suppress(GitticksError, OSError):
            _bring(repository, known, reasons, {*known, *reasons})


def keep_note(repository: Repository, path: str, reason: str | None) -> None:
    """Makes the note about one file say `reason`, or takes it away."""
    known = _load(repository)
    if reason is not None or path in known:
        with contextlib.suppress(GitticksError, OSError):
            _bring(repository, known, {} if reason is None else {path: reason}, (path,))


def _bring(
    repository: Repository, known: Mapping[str, str], reasons: Mapping[str, str], paths: Iterable[str]
) -> None:
    checkout = board_checkout(repository)
    if checkout is None:
        return

    files = CheckoutFiles.at(checkout.path, repository.own_dir, "notes")
    remembered = dict(known)
    if reasons:
        exclude_patterns(repository, NOTES_PATTERNS)
    for path in paths:
        reason = reasons.get(path)
        wanted = None if reason is None else f"{_FIRST_LINE}{reason}{_LAST_LINES}".encode()
        if wanted is None:
            remembered.pop(path, None)
        if _put(files, path + NOTE_ENDING, known.get(path), wanted) and wanted is not None:
            remembered[path] = _digest(wanted)
    if not remembered:
        _file(repository).unlink(missing_ok=True)  # every change looks whether it is there
    elif remembered != known:
        write_synced(_file(repository), json.dumps(remembered).encode())


def _put(files: CheckoutFiles, path: str, written: str | None, wanted: bytes | None) -> bool:
    """Writes or removes one note, unless a person has made it theirs; returns whether it is as wanted."""
    present = files.read(path)
    if present == wanted:
        return True
    return _is_ours(present, written) and files.replace(path, present, wanted).is_done


def _is_ours(present: bytes | None, written: str | None) -> bool:
    if present is None or _digest(present) == written:
        return True
    return present.startswith(_FIRST_LINE.encode()) and present.endswith(_LAST_LINES.encode())


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _load(repository: Repository) -> Mapping[str, str]:
    try:
        values = json.loads(read_plain_file(_file(repository)))
        return {str(path): str(blob) for path, blob in values.items() if is_inside(str(path))}
    except (OSError, ValueError, AttributeError, RecursionError):
        return {}


def _file(repository: Repository) -> Path:
    return repository.own_dir / REFUSALS_FILE
