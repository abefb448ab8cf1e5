"""A task that is saved on the board and not on the branch yet: what is said of it, and how a change takes it up."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gitticks.actions.context import Context
from gitticks.errors import GitticksError, NotFoundError
from gitticks.model.ids import BOARD_FOLDER, TaskId, is_valid_id, task_path
from gitticks.store.layout import TASK_FILE, TASKS_FOLDER, task_of_path

if TYPE_CHECKING:
    from pathlib import Path


class SavedTaskError(NotFoundError):
    """The task that was named is saved on the board, but nobody has taken it up yet."""

    def __init__(self, task_id: TaskId) -> None:
        super().__init__(
            f"`{task_id}` is only saved on the board, in `{BOARD_FOLDER}/{task_path(task_id)}`",
            hint="`gt status` takes it up, or says why not",
        )
        self.task_id = task_id


def saved_task(context: Context, text: str) -> SavedTaskError | None:
    """Returns the error to raise for the one task on the board whose id is or begins with `text`; None without one.

    To be asked only where no task on the branch is meant.
    """
    from gitticks.board import board_path

    board = board_path(context.repository)
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


def take_up_task(context: Context, saved: SavedTaskError) -> TaskId:
    """Takes up all that is saved, as one new task may name another, and returns the task that was meant.

    Raises:
        GitticksError: that one was not taken up; the message says why.
    """
    from gitticks.actions.taking_up import take_up

    path = task_path(saved.task_id)
    taken = take_up(context)
    if path in taken.left:
        raise GitticksError(
            f"`{BOARD_FOLDER}/{path}` is {taken.left[path]}", hint="fix the file, then repeat the command"
        )
    return context.resolve(saved.task_id)
