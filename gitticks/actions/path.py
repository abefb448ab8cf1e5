"""Finds the file that a person edits for a task."""

from __future__ import annotations

from pathlib import Path

from gitticks.actions.context import Context
from gitticks.errors import NotFoundError
from gitticks.model.ids import BOARD_FOLDER, TaskId, task_path


def find_task_path(context: Context, task: str | None) -> Path:
    """Returns the absolute path of a task's TASK.md on the board."""
    project = context.repository.require_project_dir("the board")
    task_id = _find(context, task)
    board = project / BOARD_FOLDER
    if not (board / ".git").exists():
        raise NotFoundError(f"there is no board at `{board}`", hint="`gt doctor --fix` makes it again")
    path = board / task_path(task_id)
    if not path.is_file():
        raise NotFoundError(
            f"the board lacks `{path.relative_to(project)}`",
            hint=f"`git -C {BOARD_FOLDER} checkout HEAD -- {task_path(task_id)}` brings it back",
        )
    return path


def _find(context: Context, task: str | None) -> TaskId:
    try:
        return context.resolve(task)
    except NotFoundError as error:
        from gitticks.actions.broken import UnreadableTaskError
        from gitticks.actions.saved_tasks import SavedTaskError

        if isinstance(error, SavedTaskError | UnreadableTaskError):
            return error.task_id
        raise
