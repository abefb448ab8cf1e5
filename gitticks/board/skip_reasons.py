"""Why an edit on the board is not applied, or its commit refused, each with the command to type."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from shlex import quote
from typing import NamedTuple

from gitticks.board.checkout_state import REFUSED
from gitticks.board.judge_edit import Ruling, SavedEdit, is_team_file, place_for
from gitticks.errors import GitticksError
from gitticks.model.ids import BOARD_FOLDER
from gitticks.store.layout import TASK_FILE, task_around, task_of_path

LARGEST_BYTES = 10_000_000
"""What is larger is no task, and goes to everybody's clone only if a person says so."""

NOT_COMMITTED = "edited, not committed"
VERDICT = "edited, its verdict counts once it is committed"
LEFT_ALONE = "left alone: "
BACK = "checkout HEAD --"
"""The command of git that brings a file back as it was committed, also one that is staged or in conflict."""

_VERDICT = re.compile(rb"^verdict:", re.MULTILINE)
_RESTORE = "restore --staged --worktree"
_UNSTAGE = "rm --cached"
_IS_CALLED = f"a task's file is called `{TASK_FILE}`"
_WRONG_FOLDER = "is in the wrong folder"
_MOVES_BACK = "`gt doctor --fix` moves it back"


class Left(NamedTuple):
    """Why an edit is not applied; `note` is the text of the note next to its file, if any."""

    words: str
    note: str | None = None


class Problem(NamedTuple):
    """Why a commit is refused: the file, what is wrong with it, and what to type."""

    path: str
    message: str
    hint: str | None = None


def why_left(edit: SavedEdit, ruling: Ruling) -> Left | None:
    """Returns why a saved file stays by its ruling; None for one that is applied, if its content is fine."""
    words = _SAVED.get(ruling)
    return None if words is None else Left(words(edit))


def why_refused(edit: SavedEdit, ruling: Ruling) -> Problem | None:
    """Returns why a staged file is not committed by its ruling; None for one that is, if its content is fine."""
    words = _STAGED.get(ruling)
    return None if words is None else Problem(edit.path, *words(edit))


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


def is_for_nobody(words: str) -> bool:
    """True for what is only shown by `gt status`: it may well stay so."""
    return words == NOT_COMMITTED or words.startswith(LEFT_ALONE)


def awaits_commit(words: str) -> bool:
    """True for what any commit of all that is edited takes along, and nothing less does."""
    return words in (NOT_COMMITTED, VERDICT)


def on_board(command: str, path: str) -> str:
    """Returns a command of git on one file of the board, ready to be typed."""
    return f"git -C {BOARD_FOLDER} {command} {quote(path)}"


def merging(path: str, content: bytes | None) -> str:
    """Returns how a person joins their edit with what the branch has written at the same place."""
    is_verdict = task_of_path(path) is not None and _VERDICT.search((content or b"").partition(b"\n---")[0])
    without = " without your verdict, which was given before the task changed" if is_verdict else ""
    return f"merge them{without}, then `{on_board('add', path)}`"


def counts_once_committed(edit: SavedEdit) -> Left:
    """Returns what is left of settings and templates that can be read."""
    return Left(f"edited, counts once it is committed: {_committing(edit.path, is_new=edit.base is None)}")


def place_of(path: str) -> str:
    """Returns how a file that is nobody's here is named: by the hidden folder that it is in, else by its path."""
    names = path.split("/")
    hidden = next((at for at, name in enumerate(names[:-1], 1) if name.startswith(".")), None)
    return path if hidden is None else "/".join(names[:hidden]) + "/"


def sharing(edit: SavedEdit) -> str:
    """Returns what makes a file that is left alone go to everybody, as a clause."""
    if edit.base is not None:
        return f"{_committing(edit.path, is_new=False)} shares it"
    return f"`{on_board('add', place_of(edit.path))}` and a commit share it"


def _committing(path: str, *, is_new: bool) -> str:
    commit = on_board('commit -m "…"', path)
    return f"`{on_board('add', path)} && {commit}`" if is_new else f"`{commit}`"


def _back(edit: SavedEdit) -> str:
    return f"`{on_board(BACK, edit.path)}`"


def _not_plain(edit: SavedEdit) -> str:
    if edit.base is not None:
        return f"{REFUSED}it is not a regular file; move it away, then {_back(edit)} restores the file"
    if task_of_path(edit.path) is not None or is_team_file(edit.path):
        return f"{REFUSED}it is not a regular file; put the file itself there"
    return f"{LEFT_ALONE}it is not a regular file"


def _conflict(edit: SavedEdit) -> str:
    if edit.is_gone:
        return (
            f"not in step: conflict; it was deleted here and changed on the branch: {_back(edit)} restores it"
        )
    diff = on_board("diff HEAD --", edit.path)
    return f"not in step: conflict; `{diff}` shows both texts: {merging(edit.path, edit.content)} and commit"


def _of_engine(edit: SavedEdit) -> str:
    away = f"`rm {BOARD_FOLDER}/{quote(edit.path)}` removes it"
    fix = away if edit.base is None else f"{_back(edit)} restores it"
    return f"{REFUSED}it can only be written by gitticks; {fix}"


def _task_removed(edit: SavedEdit) -> str:
    task_id = task_around(edit.path)
    cancelled = "" if task_id is None else f" (`gt cancel {task_id}`)"
    return f"{REFUSED}tasks are cancelled, not deleted{cancelled}; {_back(edit)} restores it"


def _removed(edit: SavedEdit) -> str:
    commit = _committing(edit.path, is_new=False)
    return f"deleted, not committed; {_back(edit)} restores it, {commit} deletes it"


def _record(edit: SavedEdit) -> str:
    back = "" if edit.base is None else f"; {_back(edit)} restores it"
    return f"{LEFT_ALONE}gitticks writes that itself, {sharing(edit)}{back}"


def _foreign(edit: SavedEdit) -> str:
    return f"{LEFT_ALONE}it is not a file of gitticks, {sharing(edit)}"


_SAVED: Mapping[Ruling, Callable[[SavedEdit], str]] = {
    Ruling.NOTE: _foreign,
    Ruling.NOT_PLAIN: _not_plain,
    Ruling.CONFLICT: _conflict,
    Ruling.YOUNG: lambda _: f"{LEFT_ALONE}somebody keeps saving it; it is checked again",
    Ruling.TASK_REMOVED: _task_removed,
    Ruling.WRONG_FOLDER: lambda edit: f"{REFUSED}it {_WRONG_FOLDER} ({place_for(edit.path, edit.content)})",
    Ruling.ENGINE: _of_engine,
    Ruling.REMOVED: _removed,
    Ruling.FOREIGN: _foreign,
    Ruling.RECORD: _record,
    Ruling.LARGE: lambda edit: (
        f"{LEFT_ALONE}it is larger than {LARGEST_BYTES // 1_000_000} MB, {sharing(edit)}"
    ),
    Ruling.EXECUTABLE: lambda edit: f"{LEFT_ALONE}it is executable, {sharing(edit)}",
}


def _staged_link(edit: SavedEdit) -> tuple[str, str]:
    back = on_board(_UNSTAGE if edit.base is None else _RESTORE, edit.path)
    return "is a link or a submodule", f"`{back}`"


def _staged_removal(edit: SavedEdit) -> tuple[str, str]:
    then = f", then `gt cancel {task_around(edit.path)}`" if task_of_path(edit.path) is not None else ""
    return "tasks are cancelled, not deleted", f"`{on_board(_RESTORE, edit.path)}`{then}"


_STAGED: Mapping[Ruling, Callable[[SavedEdit], tuple[str, str]]] = {
    Ruling.NOTE: lambda edit: ("is a note of gitticks, for you alone", f"`{on_board(_UNSTAGE, edit.path)}`"),
    Ruling.NOT_PLAIN: _staged_link,
    Ruling.CONFLICT: lambda edit: (
        "is in conflict",
        f"merge both sides, then `{on_board('add', edit.path)}`",
    ),
    Ruling.TASK_REMOVED: _staged_removal,
    Ruling.WRONG_FOLDER: lambda edit: (_WRONG_FOLDER, place_for(edit.path, edit.content)),
    Ruling.ENGINE: lambda edit: ("can only be written by gitticks", f"`{on_board(_RESTORE, edit.path)}`"),
}


def renamed(home: str) -> Left:
    """Returns what is left of a task's folder that was renamed on the board."""
    return Left(f"{REFUSED}it {_WRONG_FOLDER}, it belongs in `{home}`: {_MOVES_BACK}")


def renamed_when_staged(wrong: str, home: str) -> Problem:
    """Returns why a commit with a task's folder that was renamed is refused."""
    return Problem(wrong, f"{_WRONG_FOLDER}, it belongs in `{home}`", _MOVES_BACK)


def misnamed(edit: SavedEdit) -> Left:
    """Returns what is left of a task's file whose name has other letters."""
    move = f"mv -n {BOARD_FOLDER}/{quote(edit.path)} {BOARD_FOLDER}/{_named(edit)}"
    return Left(f"{REFUSED}{_IS_CALLED}: `{move}`")


def misnamed_when_staged(edit: SavedEdit) -> Problem:
    """Returns why a commit with such a file is refused: nobody would find the task."""
    return Problem(edit.path, _IS_CALLED, f"`{on_board('mv', edit.path)} {_named(edit)}`")


def _named(edit: SavedEdit) -> str:
    return edit.path.rpartition("/")[0] + f"/{TASK_FILE}"
