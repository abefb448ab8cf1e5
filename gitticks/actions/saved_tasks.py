"""A task that is saved on the board and not on the branch yet: what is said of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gitticks.board.place import board_path
from gitticks.errors import NotFoundError
from gitticks.git.repository import Repository
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


def saved_task(repository: Repository, text: str) -> SavedTaskError | None:
    """Returns the error to raise for the one task on the board whose id is or begins with `text`; None without one.

    To be asked only where no task on the branch is meant.
    """
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
