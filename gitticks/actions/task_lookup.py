"""Finds the task that a person named, and its file, after applying what they saved of it on the board."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from gitticks.errors import DocumentError, GitticksError, NotFoundError
from gitticks.model.ids import BOARD_FOLDER, TaskId, is_valid_id, task_path
from gitticks.store.layout import TASK_FILE, TASKS_FOLDER, task_of_path

if TYPE_CHECKING:
    from pathlib import Path

    from gitticks.actions.context import Context
    from gitticks.git.repository import Repository
    from gitticks.store.index import Index

CHARACTERS_TO_DECIDE = 3
"""So many characters of an id have to be typed for what cannot be taken back, such as a merge."""


def find_task(context: Context, text: str | None) -> TaskId:
    """Returns the task that a person named, and lets go of the index, which would keep the write that follows waiting.

    Raises:
        NotFoundError: there is no such task, or several begin so.
        UsageError: none was named and we are in no workspace.
    """
    with _released_index(context):
        return context.resolve(text)


def find_or_take_up_task(context: Context, text: str | None, *, least: int = 1) -> TaskId:
    """Returns the task that a person named as `find_task` does; one that is only saved on the board is applied.

    Not to be called within a transaction. What is saved there may be refused.
    """
    with _released_index(context):
        return _resolve_to_change(context, text, least)


def find_task_to_change(
    context: Context, text: str | None, *, may_be_broken: bool = False, least: int = 1
) -> TaskId:
    """Returns the task that a person named, after what was saved by hand in its file was applied.

    What could not be applied becomes a warning; a file that cannot be read an error, unless it `may_be_broken`.
    """
    with _released_index(context):
        task_id = _resolve_to_change(context, text, least)
        broken = None if may_be_broken else find_broken(context.index, task_id)
    left = None if context.world.in_session else _take_up(context, task_id)
    if broken is not None:
        try:
            context.store.task_file(task_id)
        except DocumentError:
            raise broken from None
    if left is not None:
        context.warnings.append(f"`{BOARD_FOLDER}/{task_path(task_id)}` is {left}")
    return task_id


def _take_up(context: Context, task_id: TaskId) -> str | None:
    """Applies what was saved in a task's file, and returns why it stays where it does; a damaged board is a warning."""
    from gitticks.board.checkout_state import may_have_been_saved  # which whoever only reads does without
    from gitticks.board.place import BoardError, board_path

    try:
        if not may_have_been_saved(context.store, board_path(context.repository), task_path(task_id)):
            return None
        from gitticks.actions.saved_edits import take_up_saved

        return take_up_saved(context, task_id)
    except BoardError as error:
        context.warnings.append(error.message)
        return None


def find_tasks_to_decide(context: Context, texts: Sequence[str]) -> tuple[TaskId, ...]:
    """Returns the tasks that a person named, each once, in that order; all are looked up before anything is applied."""
    with _released_index(context):
        for text in texts:
            with suppress(SavedTaskError):
                context.resolve(text, least=CHARACTERS_TO_DECIDE)
    found = (find_task_to_change(context, text, least=CHARACTERS_TO_DECIDE) for text in texts)
    return tuple(dict.fromkeys(found))


def _resolve_to_change(context: Context, text: str | None, least: int = 1) -> TaskId:
    try:
        return context.resolve(text, least=least)
    except SavedTaskError as saved:
        with _released_index(context):  # it does not know the task
            pass
        return _take_up_new(context, saved.task_id)


def _take_up_new(context: Context, task_id: TaskId) -> TaskId:
    """Applies all that is saved, as one new task may name another, and returns the task that was meant."""
    from gitticks.actions.taking_up import take_up  # which loads what seldom is needed

    path = task_path(task_id)
    taken = take_up(context)
    if path in taken.left:
        raise GitticksError(
            f"`{BOARD_FOLDER}/{path}` is {taken.left[path]}", hint="fix the file, then run the command again"
        )
    return context.resolve(task_id)


@contextmanager
def _released_index(context: Context) -> Iterator[None]:
    try:
        yield
    finally:
        index = context.__dict__.pop("index", None)
        if index is not None:
            index.close()


class UnreadableTaskError(NotFoundError):
    """The task that was named is on the branch, but git's object for its file or folder is damaged or gone."""

    def __init__(self, task_id: TaskId, message: str) -> None:
        super().__init__(
            f"{BOARD_FOLDER}/{message}",
            hint="`gt doctor --full` says how to restore it",
        )
        self.task_id = task_id


def find_unreadable(index: Index, text: str) -> UnreadableTaskError | None:
    """Returns the error to raise for an id that is not known, if it is one whose file git cannot give; else None."""
    if not is_valid_id(text):
        return None
    task_id = TaskId(text)
    found = (file for file in index.broken() if f"{task_path(task_id)}/".startswith(f"{file.path}/"))
    file = next(found, None)
    return None if file is None else UnreadableTaskError(task_id, file.message)


def find_broken(index: Index, task_id: TaskId) -> GitticksError | None:
    """Returns the error to raise for a task whose file is broken; None if it is not."""
    files = index.broken()
    broken = next((file for file in files if file.task_id == task_id), None)
    if broken is None:
        return None
    others = len({*index.find_ids("")} - {file.task_id for file in files})
    return GitticksError(
        f"{BOARD_FOLDER}/{broken.message}", hint=f"`gt edit {task_id}` opens it at that line; {_fine(others)}"
    )


def cannot_be_shown(index: Index, task_id: TaskId) -> GitticksError:
    """Returns the error to raise for a task that the index has no row of."""
    missing = NotFoundError(f"there is no task `{task_id}`", hint="`gt list` shows the tasks")
    return find_broken(index, task_id) or missing


def _fine(others: int) -> str:
    if others == 0:
        return "there is no other task"
    return "the other task is fine" if others == 1 else f"the other {others} tasks are fine"


class SavedTaskError(NotFoundError):
    """The task that was named is saved on the board, but nobody has taken it up yet."""

    def __init__(self, task_id: TaskId) -> None:
        super().__init__(
            f"`{task_id}` is only saved on the board, in `{BOARD_FOLDER}/{task_path(task_id)}`",
            hint="`gt status` commits it, or says why not",
        )
        self.task_id = task_id


def saved_task(repository: Repository, text: str) -> SavedTaskError | None:
    """Returns the error to raise for the one task on the board whose id is or begins with `text`; None without one.

    To be asked only where no task on the branch is meant.
    """
    from gitticks.board.place import board_path  # which `gt path` of a task on the branch does without

    board = board_path(repository)
    if board is None or not is_valid_id(text):
        return None
    found = list(_folders(board, text))
    if text in found:
        return SavedTaskError(TaskId(text))
    return SavedTaskError(found[0]) if len(found) == 1 else None


def _folders(board: Path, beginning: str) -> list[TaskId]:
    try:
        files = sorted((board / TASKS_FOLDER).glob(f"*/{beginning}*/{TASK_FILE}"))
    except OSError:
        return []
    places = [file.relative_to(board).as_posix() for file in files if file.is_file()]
    return [task_id for task_id in map(task_of_path, places) if task_id is not None]


def find_task_path(context: Context, task: str | None) -> Path:
    """Returns the absolute path of a task's TASK.md on the board."""
    project = context.repository.require_project_dir("the board")
    task_id = _find(context, task)
    board = project / BOARD_FOLDER
    if not (board / ".git").exists():
        raise NotFoundError(f"there is no board at `{board}`", hint="`gt doctor --fix` recreates it")
    path = board / task_path(task_id)
    if not path.is_file():
        raise NotFoundError(
            f"the board lacks `{path.relative_to(project)}`",
            hint=f"`git -C {BOARD_FOLDER} checkout HEAD -- {task_path(task_id)}` restores it",
        )
    return path


def _find(context: Context, task: str | None) -> TaskId:
    try:
        return context.resolve(task)
    except NotFoundError as error:
        if isinstance(error, SavedTaskError | UnreadableTaskError):
            return error.task_id
        raise
