"""Takes up what a person saved on the board and has not committed.

A verdict that is only saved does not count yet, so a file that holds a new one is left to its `git commit`; so is
one that cannot be read, or that asks for what is refused. What is left is named with the reason, never passed over,
and what is refused gets a note beside the file.
"""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gitticks.actions.context import Context
from gitticks.actions.one_edit import take_up_edit, why_left_alone
from gitticks.board.moved_folders import renamed_folders
from gitticks.board.skip_reasons import LEFT_ALONE, NOT_COMMITTED, REFUSED, Left
from gitticks.errors import GitticksError
from gitticks.model.ids import BOARD_FOLDER, TaskId, task_path
from gitticks.store.layout import STATE_REF, TASK_FILE, task_of_path

if TYPE_CHECKING:
    from gitticks.board.edits import SavedEdit

_SAID_ELSEWHERE = Left("its folder was renamed")


@dataclass(frozen=True, slots=True)
class TakenUp:
    """What became of the edits that were saved on the board.

    `paths` are committed now; `left` are those that stay, each with words that say why. `is_whole` is False where only
    some files were looked at, so that others may stay as well.
    """

    paths: tuple[str, ...] = ()
    left: Mapping[str, str] = field(default_factory=dict)
    is_whole: bool = True

    @property
    def has_refused(self) -> bool:
        """True if something is wrong with an edit, so that committing it would not help."""
        return any(words.startswith(REFUSED) for words in self.left.values())


def take_up_all(context: Context, among: Collection[str] | None = None) -> TakenUp:
    """Commits the edits of every task that a person saved, new tasks too, and carries out what they ask for.

    What is staged, and all of it during a merge or rebase, is left to the commit that the person prepares. To be
    called with the board in step. Where paths are given, only these files are looked at, as long as all that is found
    `among` them can be committed; anything else may hang together with other files, so that all are looked at.

    Raises:
        BoardError: the board is damaged, so that nobody can tell what was edited.
    """
    from gitticks.board.edits import edits_to_take_up

    with _only_taker(context):
        left, is_whole = ({}, True) if among is None else _take_up_among(context, among)
        if is_whole:
            left |= _take_up_edits(context, edits_to_take_up(context.repository))
    stays = {path: one for path, one in left.items() if one is not None and one != _SAID_ELSEWHERE}
    if is_whole:
        _keep_notes(context, stays)
    return TakenUp(
        tuple(sorted(path for path, one in left.items() if one is None)),
        {_named(path, one): one.words for path, one in stays.items()},
        is_whole,
    )


def _take_up_among(context: Context, among: Collection[str]) -> tuple[dict[str, Left | None], bool]:
    """Takes up the tasks' files that were saved among these; returns which, and whether all has to be looked at."""
    from gitticks.board.edits import edits_to_take_up
    from gitticks.board.notes import keep_note

    saved = [edit for edit in edits_to_take_up(context.repository, among) if not _is_dropping(edit.path)]
    if any(task_of_path(edit.path) is None or edit.content is None for edit in saved):
        return {}, True
    left = _take_up_edits(context, saved)
    taken: dict[str, Left | None] = {path: one for path, one in left.items() if one is None}
    for path in taken:
        keep_note(context.repository, path, None)
    return taken, len(taken) < len(left)


def _take_up_edits(context: Context, saved: Collection[SavedEdit]) -> dict[str, Left | None]:
    """Returns why each of the edits stays, None for one that is committed."""
    edits = {edit.path: edit for edit in saved if not _is_dropping(edit.path)}
    left = {edit.path: why_left_alone(context, edit) for edit in edits.values()}
    left |= _renamed(edits) if not context.world.in_session else {}
    prepared = _prepared(context) if edits else frozenset()
    plain = {path for path, edit in edits.items() if edit.is_plain and not edit.is_conflict}
    left |= dict.fromkeys(prepared & left.keys() & plain, Left(NOT_COMMITTED))
    waiting = [edits[path] for path, one in left.items() if one is None]
    left |= _take_up_tasks(context, [edit for edit in waiting if task_of_path(edit.path) is not None])
    left |= _take_up_files(context, [edit for edit in waiting if task_of_path(edit.path) is None])
    return left


def _renamed(edits: Mapping[str, SavedEdit]) -> Mapping[str, Left]:
    """Returns what is said of folders that were renamed: once, at their TASK.md."""
    found: dict[str, Left] = {}
    for wrong, home in renamed_folders(edits.values()).items():
        inside = [path for path in edits if path.startswith((f"{wrong}/", f"{home}/"))]
        found |= dict.fromkeys(inside, _SAID_ELSEWHERE)
        found[f"{wrong}/{TASK_FILE}"] = Left(
            f"{REFUSED}it lies in the wrong folder: `mv {BOARD_FOLDER}/{shlex.quote(wrong)} {BOARD_FOLDER}/{home}` "
            "or `gt doctor --fix` puts it back"
        )
    return found


def _take_up_tasks(context: Context, edits: list[SavedEdit]) -> dict[str, Left | None]:
    """Returns why each stays, None for one that is committed; a new task may name another that is new too."""
    results: dict[str, Left | None] = {}
    while edits:
        found = {edit.path: take_up_edit(context, edit) for edit in edits}
        results |= found
        has_taken = None in found.values()
        edits = [edit for edit in edits if has_taken and found[edit.path] is not None and edit.base is None]
    return results


def _take_up_files(context: Context, edits: list[SavedEdit]) -> Mapping[str, Left | None]:
    if not edits:
        return {}
    from gitticks.actions.saved_files import take_up_files

    return take_up_files(context, edits)


def _is_dropping(path: str) -> bool:
    from gitticks.board.ignored import is_dropping

    return is_dropping(path)


def _named(path: str, left: Left) -> str:
    """Returns how what stays is named: another tool's folder once, and not each of its files."""
    from gitticks.actions.saved_files import place_of

    return place_of(path) if left.words.startswith(LEFT_ALONE) else path


@contextlib.contextmanager
def _only_taker(context: Context) -> Iterator[None]:
    """Lets one process at a time take up edits; where no lock can be had, two may try the same, and one will do it."""
    from gitticks.git.locks import hold_lock

    with contextlib.ExitStack() as held:
        with contextlib.suppress(GitticksError, OSError):
            held.enter_context(hold_lock(context.repository.own_dir / "taking-up.lock"))
        yield


def _keep_notes(context: Context, left: Mapping[str, Left]) -> None:
    from gitticks.board.notes import keep_notes

    if not context.world.in_session:
        keep_notes(context.repository, {path: one.note for path, one in left.items() if one.note is not None})


def _prepared(context: Context) -> frozenset[str]:
    """Returns the paths of the board that are staged; all that is edited while git merges or is elsewhere."""
    from gitticks.board import board_path
    from gitticks.board.edits import uncommitted_paths
    from gitticks.git.repository import discover
    from gitticks.git.staged import checked_out_ref, is_sequencing, staged_changes

    board = board_path(context.repository)
    if board is None:
        return frozenset()
    here = discover(board)
    if is_sequencing(here.git_dir) or checked_out_ref(here.git_dir) != STATE_REF:
        return frozenset(uncommitted_paths(context.repository))
    return frozenset(change.path for change in staged_changes(here, {}))


def take_up_saved(context: Context, task_id: TaskId) -> str | None:
    """Commits a person's saved edit of one task as theirs, and carries out what it asks for.

    Returns:
        why an edit stays as it is, in words that follow the file's path; None if there is none that does.
    """
    from gitticks.board.edits import edits_to_take_up
    from gitticks.board.notes import keep_note

    path = task_path(task_id)

    with _only_taker(context):
        found = edits_to_take_up(context.repository, (path,))
        saved = next((edit for edit in found if edit.path == path), None)
        if saved is None:
            left = None
        elif path in _prepared(context):
            left = Left(NOT_COMMITTED)
        else:
            left = why_left_alone(context, saved) or take_up_edit(context, saved)
    keep_note(context.repository, path, None if left is None else left.note)
    return None if left is None else left.words
