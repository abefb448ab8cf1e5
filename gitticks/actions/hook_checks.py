"""What the board's hooks refuse before a commit: broken files, illegal steps, and a board that is not in step."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from shlex import quote
from typing import TYPE_CHECKING

from gitticks.actions.changing import carry_out_edit
from gitticks.actions.context import Context
from gitticks.actions.hook_step import bring_staged_in_step
from gitticks.board.moved_folders import ID_LINE, home_of, is_astray, join_moves, place_for
from gitticks.board.notes import is_note
from gitticks.board.skip_reasons import Problem, on_board
from gitticks.errors import DocumentError, GitticksError, RefusedError
from gitticks.git.indexfile import saying_at_work
from gitticks.git.staged import (
    StagedChange,
    is_sequencing,
    staged_changes,
)
from gitticks.model.ids import BOARD_FOLDER, TaskId, is_valid_id
from gitticks.store.layout import AUDIT_FILE, CONFIG_PATH, HISTORY_FILE, task_around, task_of_path

if TYPE_CHECKING:
    from gitticks.document.taskfile import TaskFile
    from gitticks.store.hand_edits import HandEdit
    from gitticks.store.transaction import Transaction

_MARKER = re.compile(rb"^(?:<<<<<<<|>>>>>>>) ", re.MULTILINE)
_ENGINE_FILES = (HISTORY_FILE, AUDIT_FILE)
_TASK_FILE = re.compile(r"tasks/[^/]+/([^/]+)/TASK\.md")
_ON_BOARD = f"git -C {BOARD_FOLDER}"
_BACK = "restore --staged --worktree"
_UNSTAGE = "rm --cached"
_WRONG_FOLDER = "lies in the wrong folder"


def check_commit(context: Context) -> tuple[Problem, ...]:
    """Returns everything that speaks against what is staged on the board; empty if nothing does."""
    if is_sequencing(context.repository.git_dir):
        return check_merge(context)
    with saying_at_work(context.repository.git_dir):
        return _check_commit(context)


def _check_commit(context: Context) -> tuple[Problem, ...]:
    staged, conflicts = bring_staged_in_step(context)
    if conflicts:
        return conflicts
    changes = join_moves(staged)
    files = [problem for change in changes for problem in _check_file(context, change)]
    return tuple(files) or tuple(_check_edits(context, changes))


def check_merge(context: Context) -> tuple[Problem, ...]:
    """Returns the files that a merge or rebase leaves unreadable, and the histories that it takes events from.

    What others committed is not judged again.
    """
    changes = staged_changes(context.repository, context.world.environment)
    broken = [problem for change in changes for problem in _check_readable(context, change)]
    return (
        *broken,
        *(problem for change in join_moves(changes) for problem in _check_events(context, change)),
    )


def _check_file(context: Context, change: StagedChange) -> Iterator[Problem]:
    """Yields what is wrong with one file by itself."""
    from gitticks.actions.saved_files import check_team_file, is_team_file

    match = _TASK_FILE.fullmatch(change.path)
    problem = misplaced(change.path, None)
    if is_note(change.path) and change.new is not None:
        yield Problem(
            change.path, "is a note of gitticks, for you alone", f"`{on_board(_UNSTAGE, change.path)}`"
        )
    elif not change.is_plain:
        back = on_board(_UNSTAGE if change.old is None else _BACK, change.path)
        yield Problem(change.path, "is a link or a submodule", f"`{back}`")
    elif problem is not None and match is None:
        yield problem
    elif is_astray(change.path) and change.new is not None:
        content = context.store.objects.read_blob(change.new)
        yield Problem(change.path, _WRONG_FOLDER, place_for(change.path, content))
    elif match is not None and change.new is None:
        yield from _removed(context, change, match[1])
    elif problem is not None:
        yield problem
    elif change.new is not None and is_team_file(change.path) and not change.is_unmerged:
        content = context.store.objects.read_blob(change.new)
        old = b"" if change.old is None else context.store.objects.read_blob(change.old)
        yield from _parse_problem(lambda: check_team_file(change.path, content, old), change.path)
    else:
        yield from _check_readable(context, change)


def _removed(context: Context, change: StagedChange, name: str) -> Iterator[Problem]:
    """Yields a problem if a task's file would go, but for one that no command can name."""
    old = b"" if change.old is None else context.store.objects.read_blob(change.old)
    if is_valid_id(name) or ID_LINE.search(old):
        then = f", then `gt cancel {name}`" if task_of_path(change.path) is not None else ""
        back = f"`{on_board(_BACK, change.path)}`{then}"
        yield Problem(change.path, "a task is not removed, but cancelled", back)


def misplaced(path: str, content: bytes | None) -> Problem | None:
    """Returns what is wrong with a file's being at its path at all; None if nothing is.

    Where the content of a task's file is given, the id in it says where the file belongs.
    """
    name, match = path.rpartition("/")[2], _TASK_FILE.fullmatch(path)
    if name in _ENGINE_FILES and path.startswith("tasks/") and home_of(path) is None:
        away = f"`rm {quote(f'{BOARD_FOLDER}/{path}')}` takes it away"
        is_stray = content is not None and task_around(path) is None
        return Problem(
            path, "is written by gitticks alone", away if is_stray else f"`{on_board(_BACK, path)}`"
        )
    is_wrong = task_of_path(path) is None if match is not None else content is not None and is_astray(path)
    return Problem(path, _WRONG_FOLDER, place_for(path, content)) if is_wrong else None


def _check_readable(context: Context, change: StagedChange) -> Iterator[Problem]:
    if change.is_unmerged:
        yield Problem(
            change.path, "is in conflict", f"join both sides, then `{on_board('add', change.path)}`"
        )
        return
    if change.new is None or not change.is_plain:
        return
    content = context.store.objects.read_blob(change.new)
    old = b"" if change.old is None else context.store.objects.read_blob(change.old)
    if _TASK_FILE.fullmatch(change.path):
        yield from _parse_problem(lambda: _parse_task(content, old, change.path), change.path)
    elif change.path == CONFIG_PATH:
        yield from _parse_problem(lambda: _parse_settings(content), change.path)


def refuse_markers(content: bytes, old: bytes, path: str) -> None:
    """Refuses the conflict markers of a merge that were not there before.

    Raises:
        DocumentError: there are some; it names the line of the first.
    """
    first = _MARKER.search(content)
    if first is not None and len(set(_MARKER.findall(content))) > 1 and not _MARKER.search(old):
        raise DocumentError(
            "holds conflict markers",
            path=path,
            line=content[: first.start()].count(b"\n") + 1,
            hint="keep what is right and delete the markers",
        )


def _check_events(context: Context, change: StagedChange) -> Iterator[Problem]:
    """Yields a problem if events that the branch has would be gone.

    A merge reads the index, and writes it whole at its end, without what was committed in between.
    """
    if change.path.rpartition("/")[2] not in _ENGINE_FILES or change.old is None or change.is_unmerged:
        return
    read = context.store.objects.read_blob
    kept = set() if change.new is None else set(read(change.new).splitlines())
    lost = len(set(read(change.old).splitlines()) - kept)
    if lost:
        yield Problem(
            change.path,
            f"{lost} of its events would be lost: the branch has moved since the merge began",
            f"`{_ON_BOARD} merge --abort`, or `{_ON_BOARD} reset --hard` where that fails, then merge again",
        )


def _parse_problem(parse: Callable[[], None], path: str) -> Iterator[Problem]:
    try:
        parse()
    except DocumentError as error:
        yield Problem(error.message.removesuffix(f": {error.problem}"), error.problem, error.hint)
    except GitticksError as error:
        yield Problem(path, error.message, error.hint)


def _parse_task(content: bytes, old: bytes, path: str) -> None:
    from gitticks.document.taskfile import TaskFile

    refuse_markers(content, old, path)
    TaskFile.parse(content, path)


def _parse_settings(content: bytes) -> None:
    from gitticks.document.frontmatter import decode
    from gitticks.document.settings import file_layer

    file_layer(decode(content, CONFIG_PATH))


def _check_edits(context: Context, changes: tuple[StagedChange, ...]) -> Iterator[Problem]:
    """Yields what the state machine, the links or the rule about engine fields refuse, tried out on nothing real."""
    from gitticks.actions.one_edit import warn_of_edit

    transaction = context.store.snapshot()
    edits = list(_staged_edits(context, changes))
    for path, edit in edits:
        if edit.before is None:
            transaction.write(path, edit.after.data)  # so that links between new tasks are known
    for path, edit in edits:
        try:
            check_edit(context, transaction, edit, TaskId(path.split("/")[-2]))
            warn_of_edit(context, edit)
        except GitticksError as error:
            yield Problem("" if error.message.startswith(path) else path, error.message, error.hint)


def _staged_edits(context: Context, changes: tuple[StagedChange, ...]) -> Iterator[tuple[str, HandEdit]]:
    objects = context.store.objects
    for change in changes:
        if _TASK_FILE.fullmatch(change.path) and change.new is not None:
            old = None if change.old is None else objects.read_blob(change.old)
            yield change.path, edit_between(old, objects.read_blob(change.new), change.path)


def edit_between(old: bytes | None, new: bytes, path: str) -> HandEdit:
    """Returns the edit that turns one version of a task's file into another.

    Raises:
        DocumentError: the new version cannot be read.
    """
    from dataclasses import replace

    from gitticks.document.taskfile import TaskFile
    from gitticks.store.hand_edits import HandEdit

    after = TaskFile.parse(new, path)
    if old is None:
        return HandEdit(None, after, None)
    try:
        before: TaskFile = TaskFile.parse(old, path)
    except DocumentError:
        # What a broken file's fields were cannot be known: only a verdict is still a wish.
        before = after.with_task(replace(after.task, verdict=None))
    return HandEdit(before, after, before.task)


def check_edit(context: Context, transaction: Transaction, edit: HandEdit, task_id: TaskId) -> None:
    """Carries an edit of a task's file out in a transaction that is then given up.

    Raises:
        GitticksError: something of it is refused.
    """
    from gitticks.store.hand_edits import check_fields
    from gitticks.store.layout import check_place

    refuse_markers(edit.after.data, edit.before.data if edit.before else b"", edit.after.path)
    check_place(edit.after, task_id)
    check_fields(edit)
    _try_out(context, transaction, edit)


def _try_out(context: Context, transaction: Transaction, edit: HandEdit) -> None:
    if edit.before is None and not edit.after.task.is_open:
        raise RefusedError(
            f"`{edit.after.task.id}` is new, so it cannot be {edit.after.task.status} already",
            hint="write `status: pending`",
        )
    carry_out_edit(context, transaction, edit, context.actor)
