"""Why an edit on the board stays as it is: the words that name it, each with what to type."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, NamedTuple

from gitticks.errors import GitticksError
from gitticks.model.ids import BOARD_FOLDER

if TYPE_CHECKING:
    from gitticks.board.edits import SavedEdit

NOT_COMMITTED = "edited, not committed"
VERDICT = "edited, its verdict counts once it is committed"
REFUSED = "edited, not taken up: "
LEFT_ALONE = "left alone: "
BACK = "checkout HEAD --"
"""The command of git that brings a file back as it was committed, also one that is staged or in conflict."""

_CONFLICT = "not in step: conflict; `{diff}` shows both texts: join them, then `{add}`"
_GONE = "not in step: conflict; it is gone here and changed on the branch: `{back}` brings it back"


class Left(NamedTuple):
    """Why an edit stays as it is; `note` is what the note beside its file says, None where it needs none."""

    words: str
    note: str | None = None


def refused(error: GitticksError, path: str) -> Left:
    """Returns what is left because something in the file at `path` is wrong, with its note."""
    reason = _reason(error, path)
    return Left(REFUSED + reason, f"{reason}\n{error.hint}" if error.hint else reason)


def _reason(error: GitticksError, path: str) -> str:
    """Returns an error's message with its line, but without the file's path, which its reader knows."""
    place = re.match(rf"{re.escape(path)}(?::(\d+))?(?::\d+)?: ", error.message)
    if place is None:
        return error.message
    line = f"line {place[1]}: " if place[1] else ""
    return line + error.message[place.end() :]


def conflict(edit: SavedEdit) -> Left:
    """Returns what is left because the branch has changed the same place."""
    back, diff, add = (on_board(command, edit.path) for command in (BACK, "diff", "add"))
    return Left(
        _GONE.format(back=back) if edit.content is None else _CONFLICT.format(diff=diff, add=add),
    )


def is_for_nobody(words: str) -> bool:
    """True for what is only named where somebody asks how the board stands: it may well stay so."""
    return words == NOT_COMMITTED or words.startswith(LEFT_ALONE)


def awaits_commit(words: str) -> bool:
    """True for what any commit of all that is edited takes along, and nothing less does."""
    return words in (NOT_COMMITTED, VERDICT)


def on_board(command: str, path: str) -> str:
    """Returns a command of git on one file of the board, ready to be typed."""
    return f"git -C {BOARD_FOLDER} {command} {shlex.quote(path)}"


def committing(path: str, *, is_new: bool) -> str:
    """Returns what to type so that one file of the board is committed, and nothing else."""
    commit = on_board('commit -m "…"', path)
    return f"`{on_board('add', path)} && {commit}`" if is_new else f"`{commit}`"


class Problem(NamedTuple):
    """Why a commit is refused: the file, what is wrong with it, and what to type."""

    path: str
    message: str
    hint: str | None = None
