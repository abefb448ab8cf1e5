"""Which of a person's fields a task's state has settled; apart from the approvals, as hooks ask it at each commit."""

from __future__ import annotations

from collections.abc import Container

from gitticks.errors import RefusedError
from gitticks.model.task import Task


def refuse_settled(task: Task, names: Container[str]) -> None:
    """Refuses to change a person's gate once the work has passed it and only the merge is left.

    Raises:
        RefusedError: `requires` is one of them, and the task is merging.
    """
    if task.is_merging and "requires" in names:
        raise RefusedError(
            f"`{task.id}` is approved and merging, so what it requires cannot be changed",
            hint=f"`gt update {task.id} --awaiting review` withdraws the approval",
        )
