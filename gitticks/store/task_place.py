"""Whether a task's file lies where its id says, and on which line a field stands; what every reader refuses first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gitticks.errors import DocumentError
from gitticks.model.ids import TaskId, shard

if TYPE_CHECKING:
    from gitticks.document.taskfile import TaskFile


def check_place(file: TaskFile, task_id: TaskId) -> None:
    """Refuses a file that names another task than the folder it lies in.

    Raises:
        DocumentError: the id is another one.
    """
    if file.task.id != task_id:
        raise DocumentError(
            f"`id` is `{file.task.id}`, but the folder is that of `{task_id}`",
            path=file.path,
            line=line_of(file, "id"),
            hint=f"write `id: {task_id}`; a task of its own lies in `tasks/{shard(file.task.id)}/{file.task.id}/`",
        )


def line_of(file: TaskFile, key: str) -> int | None:
    """Returns the line, counted from 1, on which a field of the frontmatter stands; None if it is not there."""
    from gitticks.document.lines import line_starts

    node = file.frontmatter.tree.get(key)
    if node is None:
        return None
    return 1 + sum(1 for start in line_starts(file.frontmatter.yaml) if start <= node.start)
