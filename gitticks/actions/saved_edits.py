"""Takes up what a person saved on the board and has not committed.

A verdict that is only saved does not count yet, so a file that holds a new one is left to its `git commit`; so is
one that cannot be read, or that asks for what is refused. What is left is named with the reason, never passed over,
and what is refused gets a note beside the file.
"""

from __future__ import annotations

import contextlib
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gitticks.actions.context import Context
from gitticks.actions.left_edits import (
    BACK,
    LEFT_ALONE,
    NOT_COMMITTED,
    REFUSED,
    VERDICT,
    Left,
    conflict,
    on_board,
    refused,
)
from gitticks.actions.moved_folders import renamed_folders
from gitticks.errors import GitticksError, LostRaceError
from gitticks.model.ids import BOARD_FOLDER, TaskId, task_path
from gitticks.store.layout import STATE_REF, TASK_FILE, task_around, task_of_path

if TYPE_CHECKING:
    from gitticks.store.board.saved import SavedEdit
    from gitticks.store.hand_edits import HandEdit
    from gitticks.store.transaction import Transaction

_SAID_ELSEWHERE = Left("its folder was renamed")


@dataclass(frozen=True, slots=True)
class TakenUp:
    """What became of the edits that were saved on the board.

    `paths` are committed now; `left` are those that stay, each with words that say why.
    """

    paths: tuple[str, ...] = ()
    left: Mapping[str, str] = field(default_factory=dict)

    @property
    def has_refused(self) -> bool:
        """True if something is wrong with an edit, so that committing it would not help."""
        return any(words.startswith(REFUSED) for words in self.left.values())


def take_up_all(context: Context) -> TakenUp:
    """Commits the edits of every task that a person saved, new tasks too, and carries out what they ask for.

    What is staged, and all of it during a merge or rebase, is left to the commit that the person prepares. To be
    called with the board in step.

    Raises:
        BoardError: the board is damaged, so that nobody can tell what was edited.
    """
    from gitticks.store.board.saved import edits_to_take_up

    with _only_taker(context):
        saved = edits_to_take_up(context.repository)
        edits = {edit.path: edit for edit in saved if not _is_dropping(edit.path)}
        left = {edit.path: _left_alone(context, edit) for edit in edits.values()}
        left |= _renamed(edits) if not context.world.in_session else {}
        prepared = _prepared(context) if edits else frozenset()
        left |= {path: Left(NOT_COMMITTED) for path in prepared & left.keys() if not edits[path].is_conflict}
        waiting = [edits[path] for path, one in left.items() if one is None]
        left |= _take_up_tasks(context, [edit for edit in waiting if task_of_path(edit.path) is not None])
        left |= _take_up_files(context, [edit for edit in waiting if task_of_path(edit.path) is None])
    stays = {path: one for path, one in left.items() if one is not None and one != _SAID_ELSEWHERE}
    _keep_notes(context, stays)
    return TakenUp(
        tuple(sorted(path for path, one in left.items() if one is None)),
        {_named(path, one): one.words for path, one in stays.items()},
    )


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
        found = {edit.path: _take_up(context, edit) for edit in edits}
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
    from gitticks.actions.saved_files import is_dropping

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


def _left_alone(context: Context, saved: SavedEdit) -> Left | None:
    """Returns why an edit is not even tried; None for one that is."""
    from gitticks.actions.hook_checks import misplaced

    if context.world.in_session:
        return Left(NOT_COMMITTED)
    back = f"`{on_board(BACK, saved.path)}`"
    if not saved.is_plain and saved.base is not None:
        return Left(f"{REFUSED}it is no plain file; move it away, then {back} brings the file back")
    if not saved.is_plain and task_of_path(saved.path) is not None:
        return Left(f"{REFUSED}it is no plain file; put the file itself there")
    if saved.is_conflict:
        return conflict(saved)
    if task_of_path(saved.path) is not None:
        return None
    problem = misplaced(saved.path, saved.content)
    if problem is not None and task_around(saved.path) is not None:
        away = f"`rm {BOARD_FOLDER}/{shlex.quote(saved.path)}` takes it away"
        mend = away if saved.base is None else f"{back} puts it back"
        return Left(f"{REFUSED}it is written by gitticks alone; {mend}")
    if problem is not None:
        hint = f" ({problem.hint})" if problem.hint else ""
        return Left(f"{REFUSED}it {problem.message}{hint}")
    from gitticks.actions.saved_files import why_left

    return why_left(saved)


def _keep_notes(context: Context, left: Mapping[str, Left]) -> None:
    from gitticks.store.board.refusals import keep_notes

    if not context.world.in_session:
        keep_notes(context.repository, {path: one.note for path, one in left.items() if one.note is not None})


def _prepared(context: Context) -> frozenset[str]:
    """Returns the paths of the board that are staged; all that is edited while git merges or is elsewhere."""
    from gitticks.git.repository import discover
    from gitticks.git.staged import checked_out_ref, is_sequencing, staged_changes
    from gitticks.store.board import board_path
    from gitticks.store.board.saved import uncommitted_paths

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
    from gitticks.store.board.refusals import keep_note
    from gitticks.store.board.saved import edits_to_take_up

    path = task_path(task_id)

    with _only_taker(context):
        saved = next((edit for edit in edits_to_take_up(context.repository) if edit.path == path), None)
        if saved is None:
            left = None
        elif path in _prepared(context):
            left = Left(NOT_COMMITTED)
        else:
            left = _left_alone(context, saved) or _take_up(context, saved)
    keep_note(context.repository, path, None if left is None else left.note)
    return None if left is None else left.words


def _take_up(context: Context, saved: SavedEdit) -> Left | None:
    """Commits one saved edit; returns why it stays, None if it does not."""
    from gitticks.actions.hook_followup import follow_edit

    task_id = TaskId(saved.path.split("/")[-2])
    if saved.content is None:
        back = f"`{on_board(BACK, saved.path)}` brings it back"
        return Left(f"{REFUSED}a task is not removed, but cancelled (`gt cancel {task_id}`); {back}")
    content = saved.content
    try:
        if _edit(saved.base, content, saved.path).wanted.verdict is not None:
            return Left(VERDICT)
        edit = context.store.transact(
            lambda transaction: _commit(context, transaction, saved, content), author=context.author
        )
    except LostRaceError:
        return Left(NOT_COMMITTED)
    except GitticksError as error:
        return refused(error, saved.path)
    if edit is None:
        return Left(NOT_COMMITTED)
    follow_edit(context, edit, context.author)
    return None


def refusal_of(context: Context, saved: SavedEdit) -> Left | None:
    """Returns why what an edit says would be refused; None if it would not. Nothing is written."""
    from gitticks.actions.hook_checks import check_edit

    if saved.content is None:
        return None
    if task_of_path(saved.path) is None:
        left = _left_alone(context, saved)
        return left if left is not None and left.words.startswith(REFUSED) else None
    try:
        edit = _edit(saved.base, saved.content, saved.path)
        check_edit(context, context.store.snapshot(), edit, TaskId(saved.path.split("/")[-2]))
    except GitticksError as error:
        return refused(error, saved.path)
    return None


def _edit(base: bytes | None, content: bytes, path: str) -> HandEdit:
    from gitticks.actions.hook_checks import edit_between

    return edit_between(base, content, path)


def _commit(context: Context, transaction: Transaction, saved: SavedEdit, content: bytes) -> HandEdit | None:
    """Writes the file as it was saved, so that the board has nothing to merge; None if the branch has moved on.

    Raises:
        GitticksError: something of it is refused.
    """
    from gitticks.actions.hook_checks import check_edit
    from gitticks.store.hand_edits import describe_edit

    path = saved.path
    if transaction.read(path) != saved.base:
        return None
    edit = _edit(saved.base, content, path)
    check_edit(context, context.store.snapshot(transaction.base), edit, TaskId(path.split("/")[-2]))
    transaction.write(path, content)
    describe_edit(transaction, edit, context.actor)
    return edit
