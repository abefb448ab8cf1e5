"""Where a task's file is, and the errors for one that cannot be read or is only saved on the board."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gitticks.errors import GitticksError, NotFoundError
from gitticks.model.ids import BOARD_FOLDER, TaskId, is_valid_id, task_path
from gitticks.store.layout import TASK_FILE

if TYPE_CHECKING:
    from gitticks.actions.context import Context
    from gitticks.git.repository import Repository
    from gitticks.store.index import Index


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
    broken = next((file for file in index.broken() if file.task_id == task_id), None)
    if broken is None:
        return None
    return GitticksError(
        f"{BOARD_FOLDER}/{broken.message}", hint=f"`gt edit {task_id}` opens it at that line"
    )


def cannot_be_shown(index: Index, task_id: TaskId) -> GitticksError:
    """Returns the error to raise for a task that the index has no row of."""
    missing = NotFoundError(f"there is no task `{task_id}`", hint="`gt list` shows the tasks")
    return find_broken(index, task_id) or missing


class SavedTaskError(NotFoundError):
    """The task that was named is saved on the board, but nobody has taken it up yet."""

    def __init__(self, task_id: TaskId) -> None:
        super().__init__(
            f"`{task_id}` is only saved on the board, in `{BOARD_FOLDER}/{task_path(task_id)}`",
            hint="`gt status` commits it, or says why not",
        )
        self.task_id = task_id


def saved_task(repository: Repository, text: str) -> SavedTaskError | None:
    """Returns the error to raise for a task that is only on the board; None if it is not there.

    To be asked only where no task on the branch is meant.
    """
    from gitticks.board.place import board_path

    board = board_path(repository)
    if board is None or not is_valid_id(text) or not (board / task_path(TaskId(text))).is_file():
        return None
    return SavedTaskError(TaskId(text))


def find_task_path(context: Context, task: str | None) -> Path:
    """Returns the absolute path of a task's TASK.md on the board."""
    project = context.repository.require_project_dir("the board")
    try:
        task_id = context.resolve(task)
    except (SavedTaskError, UnreadableTaskError) as error:
        task_id = error.task_id
    board = project / BOARD_FOLDER
    if not (board / ".git").exists() and context.mailbox is not None:  # a sandbox hides the board
        if task_id == context.own_task:
            return context.mailbox / TASK_FILE
        raise NotFoundError("this session cannot see the board", hint=f"`gt show {task_id}` shows the task")
    if not (board / ".git").exists():
        raise NotFoundError(f"there is no board at `{board}`", hint="`gt doctor --fix` recreates it")
    path = board / task_path(task_id)
    if not path.is_file():
        raise NotFoundError(
            f"the board lacks `{path.relative_to(project)}`",
            hint=f"`git -C {BOARD_FOLDER} checkout HEAD -- {task_path(task_id)}` restores it",
        )
    return path
