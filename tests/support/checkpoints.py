"""Makes checkpoints without a run."""

from __future__ import annotations

from datetime import UTC, datetime

from gitticks.model.checkpoint import Cause, Checkpoint
from gitticks.model.ids import TaskId
from gitticks.model.task import Usage
from gitticks.store.checkpoints import path_of, render
from tests.support.projects import Project
from tests.support.tasks import write_files

AT = datetime(2026, 11, 22, 10, 0, tzinfo=UTC)


def checkpoint(
    task_id: str = "k7f2", number: int = 1, *, head: str = "a" * 40, commit: str = ""
) -> Checkpoint:
    """Returns a checkpoint of a task in a workspace of its own."""
    name = TaskId(task_id)
    usage = {name: Usage(number, 1000, 200, 0.5, 60.0)}
    return Checkpoint(name, number, AT, Cause.ITERATIONS, name, None, usage, (), "", head, commit or head)


def make_checkpoint(project: Project, task_id: str, number: int = 1, *, head: str) -> None:
    """Writes a checkpoint onto the state branch."""
    made = checkpoint(task_id, number, head=head)
    write_files(project.store, {path_of(made.workspace, number): render(made)})
