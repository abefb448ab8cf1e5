"""What the board's hooks refuse before a commit: broken files, illegal steps, a board that is out of date."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from gitticks.actions.context import Context
from gitticks.actions.edit_checks import (
    check_edit,
    check_team_file,
    edit_between,
    refuse_markers,
    refuse_new_secrets,
    warn_of_edit,
)
from gitticks.board.edits import renamed_folders
from gitticks.board.judge_edit import (
    ENGINE_FILES,
    IS_TASK_FILE,
    Ruling,
    SavedEdit,
    is_misnamed,
    is_of_people,
    is_team_file,
    join_moves,
    judge_edit,
)
from gitticks.board.skip_reasons import Problem, misnamed_when_staged, renamed_when_staged, why_refused
from gitticks.board.staged_edits import bring_staged_in_step
from gitticks.document.taskfile import TaskFile
from gitticks.document.texts import decode
from gitticks.errors import DocumentError, GitticksError
from gitticks.git.indexfile import saying_at_work
from gitticks.git.staged import PLAIN_MODES, StagedChange, is_sequencing, staged_changes
from gitticks.model.ids import BOARD_FOLDER, task_path
from gitticks.store.layout import CONFIG_PATH, task_around

_MOST_SEARCHED_BYTES = 1_000_000
_ON_BOARD = f"git -C {BOARD_FOLDER}"


def check_commit(context: Context) -> tuple[Problem, ...]:
    """Returns everything that speaks against what is staged on the board; empty if nothing does."""
    with saying_at_work(context.repository.git_dir):
        staged = bring_staged_in_step(context.repository, context.world.environment)
        context.warnings += staged.warnings
        if staged.problems:
            return staged.problems
        if is_sequencing(context.repository.git_dir):
            return check_merge(context, staged.changes)
        edits = [_staged_edit(context, change) for change in join_moves(staged.changes)]
        folders = renamed_folders(edits)
        around = tuple(f"{folder}/" for both in folders.items() for folder in both)
        files = [renamed_when_staged(*both) for both in folders.items()]
        others = (edit for edit in edits if not edit.path.startswith(around))
        files += [problem for edit in others for problem in _check_file(context, edit)]
        files += [problem for change in staged.changes for problem in _check_unread(context, change)]
        problems = tuple(files) or tuple(_check_edits(context, edits))
        if not problems and not context.world.in_session:
            _trust_settings(context, edits)
        return problems


def _trust_settings(context: Context, edits: list[SavedEdit]) -> None:
    """Trusts what a person commits of the settings already here: a run that is active sees the commit before its follow-up."""
    settings = {edit.path: (edit.base, edit.content) for edit in edits if edit.path == CONFIG_PATH}
    if settings:
        from gitticks.store.runnable_files import trust_own

        trust_own(context.repository, settings)


def check_merge(context: Context, changes: tuple[StagedChange, ...] | None = None) -> tuple[Problem, ...]:
    """Returns the files that a merge or rebase leaves unreadable, and the histories that it takes events from.

    What others committed is not judged again. What git merges by itself it commits as it is staged now.
    """
    if changes is None:
        changes = staged_changes(context.repository, context.world.environment)
    broken = [problem for change in changes for problem in _check_merged(_staged_edit(context, change))]
    return (
        *broken,
        *(problem for change in join_moves(changes) for problem in _check_events(context, change)),
    )


def _staged_edit(context: Context, change: StagedChange) -> SavedEdit:
    """Returns a staged change as an edit; files that gitticks does not read are none of those that are read here."""
    is_read = f"/{change.path}".endswith("/TASK.md") or is_team_file(change.path)

    def content(blob: str | None) -> bytes | None:
        return None if blob is None else context.store.objects.read_blob(blob) if is_read else b""

    return SavedEdit(
        change.path,
        content(change.old),
        content(change.new) if change.is_plain else None,
        change.is_unmerged,
        change.is_plain,
    )


def _check_file(context: Context, edit: SavedEdit) -> Iterator[Problem]:
    ruling, content, old = judge_edit(edit), edit.content or b"", edit.base or b""
    refused = why_refused(edit, ruling)
    if refused is not None:
        yield refused
    elif ruling is Ruling.TEAM:
        yield from _problem_of(lambda: check_team_file(edit.path, content, old), edit.path)
        yield from _problem_of(lambda: refuse_new_secrets(context, content, old, edit.path), edit.path)
    elif ruling is Ruling.TASK:
        yield from _problem_of(lambda: _read_task(content, old, edit.path), edit.path)
    elif ruling is Ruling.BESIDE and is_misnamed(edit.path):
        task_id = task_around(edit.path)
        if task_id is not None and context.store.read(task_path(task_id)) is None:
            yield misnamed_when_staged(edit)


def _check_unread(context: Context, change: StagedChange) -> Iterator[Problem]:
    """Yields the new secret in a file that gitticks does not read, if it is small enough to be searched."""
    if change.new is None or not change.is_plain or is_of_people(change.path):
        return
    read, old = context.store.objects.read_blob, change.old if change.old_mode in PLAIN_MODES else None
    content = read(change.new)
    if len(content) <= _MOST_SEARCHED_BYTES:
        before = b"" if old is None else read(old)
        yield from _problem_of(lambda: refuse_new_secrets(context, content, before, change.path), change.path)


def _check_merged(edit: SavedEdit) -> Iterator[Problem]:
    """Yields what is wrong with a file that a merge leaves, whoever wrote it."""
    if edit.is_conflict:
        refused = why_refused(edit, Ruling.CONFLICT)
        if refused is not None:
            yield refused
    elif edit.content is not None:
        content, old = edit.content, edit.base or b""
        if IS_TASK_FILE(edit.path):
            yield from _problem_of(lambda: _read_task(content, old, edit.path), edit.path)
        elif edit.path == CONFIG_PATH:
            from gitticks.document.settings import file_layer

            yield from _problem_of(lambda: file_layer(decode(content, CONFIG_PATH)), edit.path)


def _check_events(context: Context, change: StagedChange) -> Iterator[Problem]:
    """Yields a problem if events that the branch has would be gone.

    A merge reads the index, and writes it whole at its end, without what was committed in between.
    """
    if change.path.rpartition("/")[2] not in ENGINE_FILES or change.old is None or change.is_unmerged:
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


def _problem_of(read: Callable[[], object], path: str) -> Iterator[Problem]:
    try:
        read()
    except DocumentError as error:
        yield Problem(error.message.removesuffix(f": {error.problem}"), error.problem, error.hint)
    except GitticksError as error:
        yield Problem(path, error.message, error.hint)


def _read_task(content: bytes, old: bytes, path: str) -> None:
    refuse_markers(TaskFile.parse(content, path), old)


def _check_edits(context: Context, staged: list[SavedEdit]) -> Iterator[Problem]:
    """Yields what the state machine, the links or the rule about engine fields refuse, tried out on nothing real."""
    transaction = context.store.snapshot()
    edits = [
        edit_between(edit.base, edit.content, edit.path)
        for edit in staged
        if edit.content is not None and IS_TASK_FILE(edit.path)
    ]
    for edit in edits:
        if edit.before is None:
            transaction.write(edit.after.path, edit.after.data)  # so that links between new tasks are known
    for edit in edits:
        path = edit.after.path
        try:
            check_edit(context, transaction, edit)
            warn_of_edit(context, edit)
        except GitticksError as error:
            yield Problem("" if error.message.startswith(path) else path, error.message, error.hint)
