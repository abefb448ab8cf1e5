"""Applies what a person saved on the board and has not committed.

A verdict that is only saved does not count yet, so a file that holds a new one is left to its `git commit`; so is
one that cannot be read, or that asks for what is refused. What is left is named with the reason, never passed over,
and what is refused gets a note beside the file.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import AbstractContextManager

from gitticks.actions.changing import warn_of_leaving
from gitticks.actions.context import Context
from gitticks.actions.edit_checks import (
    check_edit,
    check_team_file,
    edit_between,
    refuse_new_secrets,
    refuse_secrets,
    warn_of_edit,
)
from gitticks.actions.hook_followup import carry_out_request, needs_follow_up
from gitticks.board.checkout_state import REFUSED, TakenUp
from gitticks.board.edits import edits_to_take_up, renamed_folders
from gitticks.board.ignored import is_dropping
from gitticks.board.judge_edit import Ruling, SavedEdit, is_misnamed, judge_edit
from gitticks.board.notes import keep_notes
from gitticks.board.place import board_checkout, is_on_state_branch
from gitticks.board.skip_reasons import (
    LEFT_ALONE,
    NOT_COMMITTED,
    VERDICT,
    Left,
    counts_once_committed,
    misnamed,
    place_of,
    refused,
    renamed,
    sharing,
    why_left,
)
from gitticks.errors import GitticksError, LostRaceError, first_of
from gitticks.git.checkouts import converted_paths
from gitticks.git.locks import hold_lock_if_possible
from gitticks.git.repository import discover
from gitticks.git.staged import is_sequencing, staged_changes
from gitticks.model.ids import BOARD_FOLDER, TaskId, task_folder, task_path
from gitticks.store.hand_edits import HandEdit, describe_edit, record_plain_edit
from gitticks.store.layout import TASK_FILE, task_around, task_of_path
from gitticks.store.transaction import Transaction

_SAID_ELSEWHERE = Left("its folder was renamed")
_MOST_NAMED = 3


def take_up_all(context: Context, among: Collection[str] | None = None) -> TakenUp:
    """Commits the edits of every task that a person saved, new tasks too, and carries out what they ask for.

    What is staged, and all of it during a merge or rebase, is left to the commit that the person prepares. To be
    called with the board in step. Where paths are given, only these files are looked at, as long as all that is found
    `among` them can be committed; anything else may hang together with other files, so that all are looked at.
    """
    with _only_taker(context):
        left, is_whole = ({}, True) if among is None else _take_up_among(context, among)
        if is_whole:
            left |= _take_up_edits(context, edits_to_take_up(context.repository))
    stays = {path: one for path, one in left.items() if one is not None and one != _SAID_ELSEWHERE}
    if is_whole and not context.world.in_session:
        keep_notes(
            context.repository, {path: one.note for path, one in stays.items() if one.note is not None}
        )
    return TakenUp(
        tuple(sorted(path for path, one in left.items() if one is None)),
        # another tool's folder is named once, and not each of its files
        {
            place_of(path) if one.words.startswith(LEFT_ALONE) else path: one.words
            for path, one in stays.items()
        },
        is_whole,
    )


def take_up_saved(context: Context, task_id: TaskId) -> str | None:
    """Commits a person's saved edit of one task as theirs, and carries out what it asks for.

    Returns:
        why an edit stays as it is, in words that follow the file's path; None if there is none that does.
    """
    path = task_path(task_id)
    with _only_taker(context):
        found = edits_to_take_up(context.repository, (path,))
        left = _take_up_edits(context, [edit for edit in found if edit.path == path]).get(path)
    reasons = {} if left is None or left.note is None else {path: left.note}
    keep_notes(context.repository, reasons, (path,))
    return None if left is None else left.words


def why_stuck(context: Context, saved: SavedEdit) -> Left | None:
    """Returns why an edit stays until a person does something about it; None of any other. Nothing is written."""
    left = _why_left(context, saved)
    if left is not None:
        is_stuck = judge_edit(saved) in (Ruling.CONFLICT, Ruling.REMOVED) or left.words.startswith(REFUSED)
        return left if is_stuck else None
    try:
        if task_of_path(saved.path) is not None:
            edit = edit_between(saved.base, saved.content or b"", saved.path)
            check_edit(context, context.store.snapshot(), edit)
    except GitticksError as error:
        return refused(error, saved.path)
    return None


def _only_taker(context: Context) -> AbstractContextManager[object]:
    """Lets one process at a time take up edits; where no lock can be had, two may try the same, and one will do it."""
    return hold_lock_if_possible(context.repository.own_file("taking-up.lock"))


def _take_up_among(context: Context, among: Collection[str]) -> tuple[dict[str, Left | None], bool]:
    """Applies the tasks' files that were saved among these; returns which, and whether all has to be looked at."""
    saved = [edit for edit in edits_to_take_up(context.repository, among) if not is_dropping(edit.path)]
    if any(task_of_path(edit.path) is None or edit.content is None for edit in saved):
        return {}, True
    left = _take_up_edits(context, saved)
    taken: dict[str, Left | None] = {path: one for path, one in left.items() if one is None}
    keep_notes(context.repository, {}, taken)
    return taken, len(taken) < len(left)


def _take_up_edits(context: Context, saved: Collection[SavedEdit]) -> dict[str, Left | None]:
    """Returns why each of the edits stays, None for one that is committed."""
    edits = [edit for edit in saved if not is_dropping(edit.path)]
    if context.world.in_session or not edits:
        return {edit.path: Left(NOT_COMMITTED) for edit in edits}
    is_prepared = _prepared(context)
    prepared = {
        edit.path for edit in edits if edit.is_plain and not edit.is_conflict and is_prepared(edit.path)
    }
    left = {edit.path: _why_left(context, edit) for edit in edits if edit.path not in prepared}
    left |= dict.fromkeys(prepared, Left(NOT_COMMITTED))
    left |= _renamed(edits)
    waiting = [edit for edit in edits if left[edit.path] is None]
    left |= _take_up_tasks(context, [edit for edit in waiting if task_of_path(edit.path) is not None])
    left |= _take_up_files(context, [edit for edit in waiting if task_of_path(edit.path) is None])
    return left


def _prepared(context: Context) -> Callable[[str], bool]:
    """Returns what tells the paths of the board whose content is staged; all of them while git merges or is elsewhere."""
    checkout = board_checkout(context.repository)
    if checkout is None or is_sequencing(checkout.git_dir) or not is_on_state_branch(checkout):
        return lambda _: True
    staged = staged_changes(discover(checkout.path), {})
    return frozenset(change.path for change in staged if change.old != change.new).__contains__


def _why_left(context: Context, edit: SavedEdit) -> Left | None:
    """Returns why an edit is not even tried; None for one that is."""
    ruling = judge_edit(edit)
    return _why_not_yet(context, edit) if ruling is Ruling.TEAM else why_left(edit, ruling)


def _why_not_yet(context: Context, edit: SavedEdit) -> Left:
    """Returns that settings and templates count once they are committed, or what is wrong with them."""
    if edit.content is None:
        return Left(f"{REFUSED}it is too large")
    try:
        check_team_file(edit.path, edit.content, edit.base or b"")
        refuse_new_secrets(context, edit.content, edit.base or b"", edit.path)
    except GitticksError as error:
        return refused(error, edit.path)
    return counts_once_committed(edit)


def _renamed(edits: Collection[SavedEdit]) -> Mapping[str, Left]:
    """Returns what is said of folders that were renamed: once, at their TASK.md."""
    found: dict[str, Left] = {}
    for wrong, home in renamed_folders(edits).items():
        inside = [edit.path for edit in edits if edit.path.startswith((f"{wrong}/", f"{home}/"))]
        found |= dict.fromkeys(inside, _SAID_ELSEWHERE)
        found[f"{wrong}/{TASK_FILE}"] = renamed(home)
    return found


def _take_up_tasks(context: Context, edits: list[SavedEdit]) -> dict[str, Left | None]:
    """Returns why each stays, None for one that is committed; a new task may name another that is new too."""
    results: dict[str, Left | None] = {}
    while edits:
        found = {edit.path: _take_up_task(context, edit) for edit in edits}
        results |= found
        has_taken = None in found.values()
        edits = [edit for edit in edits if has_taken and found[edit.path] is not None and edit.base is None]
    return results


def _take_up_task(context: Context, saved: SavedEdit) -> Left | None:
    """Commits one task's file, and what it asks for in the same move; returns why it stays, None if it does not."""
    content = saved.content or b""

    def carry_out(transaction: Transaction, edit: HandEdit | None) -> None:
        if edit is not None and needs_follow_up(edit):
            carry_out_request(context, transaction, edit, context.actor)

    try:
        if edit_between(saved.base, content, saved.path).wanted.verdict is not None:
            return why_stuck(context, saved) or Left(VERDICT)
        edit = context.store.transact(
            lambda transaction: _commit(context, transaction, saved, content),
            author=context.author,
            then=carry_out,
        )
    except LostRaceError:
        return Left(NOT_COMMITTED)
    except GitticksError as error:
        return refused(error, saved.path)
    if edit is None:
        return Left(NOT_COMMITTED)
    warn_of_edit(context, edit)
    warn_of_leaving(context, edit.before and edit.before.task, edit.after.task)
    return None


def _commit(context: Context, transaction: Transaction, saved: SavedEdit, content: bytes) -> HandEdit | None:
    """Writes the file as it was saved, so that the board has nothing to merge; None if the branch has moved on."""
    if transaction.read(saved.path) != saved.base:
        return None
    edit = edit_between(saved.base, content, saved.path)
    check_edit(context, context.store.snapshot(transaction.base), edit)
    transaction.write(saved.path, content)
    if needs_follow_up(edit):  # whose commit is described like the edit
        transaction.describe(f"{edit.after.task.id}: saved on the board")
        describe_edit(transaction, edit, context.actor)
    else:
        record_plain_edit(transaction, edit, context.actor, context.now)
    return edit


def _take_up_files(context: Context, edits: list[SavedEdit]) -> dict[str, Left | None]:
    """Commits files in the folders of tasks that are on the branch, in one commit for each task.

    Returns:
        why each stays, by path; None for one that is committed.
    """
    waiting = {edit.path: edit for edit in edits}
    checkout = board_checkout(context.repository)
    if not waiting or checkout is None:
        return {}
    results: dict[str, Left | None] = {
        path: Left(f"{LEFT_ALONE}git converts it, {sharing(waiting.pop(path))}")
        for path in converted_paths(checkout, list(waiting))
    }
    of_tasks: dict[TaskId, list[SavedEdit]] = {}
    for edit in waiting.values():
        task_id = task_around(edit.path)
        try:
            refuse_secrets(context, edit.content or b"", edit.path)
        except GitticksError as error:  # it would be masked on the branch alone
            results[edit.path] = Left(refused(error, edit.path).words)
            continue
        if task_id is not None:
            of_tasks.setdefault(task_id, []).append(edit)
    for task_id, files in of_tasks.items():
        results |= _take_up_beside(context, task_id, files)
    return results


def _take_up_beside(context: Context, task_id: TaskId, files: list[SavedEdit]) -> dict[str, Left | None]:
    def write(transaction: Transaction) -> list[str]:
        if transaction.read(task_path(task_id)) is None:
            return []
        taken = [edit for edit in files if transaction.read(edit.path) == edit.base]
        for edit in taken:
            transaction.write(edit.path, edit.content or b"")
        names = [edit.path.removeprefix(f"{task_folder(task_id)}/") for edit in taken]
        transaction.describe_change(task_id, first_of(names, _MOST_NAMED), context.actor)
        return [edit.path for edit in taken]

    is_there = context.store.read(task_path(task_id)) is not None
    try:
        taken = context.store.transact(write, author=context.author)
    except LostRaceError:
        taken = []
    except GitticksError as error:
        return {edit.path: Left(refused(error, edit.path).words) for edit in files}
    return {
        edit.path: None if edit.path in taken else _not_now(edit, task_id, is_there=is_there)
        for edit in files
    }


def _not_now(edit: SavedEdit, task_id: TaskId, *, is_there: bool) -> Left:
    if is_there:
        return Left(f"{LEFT_ALONE}it has just changed; it is checked again")
    if is_misnamed(edit.path):
        return misnamed(edit)
    together = f"it is committed together with `{BOARD_FOLDER}/{task_path(task_id)}`"
    return Left(f"{LEFT_ALONE}there is no task `{task_id}` yet; {together}")
