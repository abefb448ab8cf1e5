"""The error for a task whose file cannot be read: where it is broken, how to open it there, and that the rest is fine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gitticks.errors import GitticksError, NotFoundError
from gitticks.model.ids import BOARD_FOLDER, TaskId, is_valid_id, task_path

if TYPE_CHECKING:
    from gitticks.store.index import Index


class UnreadableTaskError(NotFoundError):
    """The task that was named is on the branch, but git's object for its file or folder is damaged or gone."""

    def __init__(self, task_id: TaskId, message: str) -> None:
        super().__init__(
            f"{BOARD_FOLDER}/{message}",
            hint="`gt doctor --full` says how it comes back",
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


def _fine(others: int) -> str:
    if others == 0:
        return "there is no other task"
    return "the other task is fine" if others == 1 else f"the other {others} tasks are fine"
