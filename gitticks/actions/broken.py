"""The error for a task whose file cannot be read: where it is broken, how to open it there, and that the rest is fine."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gitticks.errors import GitticksError
from gitticks.model.ids import BOARD_FOLDER, TaskId

if TYPE_CHECKING:
    from gitticks.store.index import Index


def find_broken(index: Index, task_id: TaskId) -> GitticksError | None:
    """Returns the error to raise for a task whose file is broken; None if it is not."""
    files = index.broken()
    broken = next((file for file in files if file.task_id == task_id), None)
    if broken is None:
        return None
    others = len(index.find_ids("")) - len({file.task_id for file in files})
    return GitticksError(
        f"{BOARD_FOLDER}/{broken.message}", hint=f"`gt edit {task_id}` opens it at that line; {_fine(others)}"
    )


def _fine(others: int) -> str:
    if others == 0:
        return "there is no other task"
    return "the other task is fine" if others == 1 else f"the other {others} tasks are fine"
