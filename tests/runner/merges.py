"""A project with approved work, and its merge queue."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from gitticks.actions.context import Context
from gitticks.actions.run import run_context
from gitticks.git.identity import Identity
from gitticks.model.ids import TaskId
from gitticks.runner.events import RunEvent
from gitticks.runner.mergequeue import MergeQueue, MergeResult
from tests.support.projects import make_reviewing
from tests.support.repositories import git
from tests.support.runs import RunProject


def queue(project: RunProject, told: Callable[[RunEvent], None] = lambda _: None, **more: Any) -> MergeQueue:
    """Returns the queue of the clone, merging in Ada's name."""
    ada = Identity("Ada", "ada@example.org")
    return MergeQueue(run_context(Context(directory=project.path), told), ada, **more)


def approved(project: RunProject, task_id: str = "k7f2") -> Path:
    """Makes a task whose work is approved; returns its workspace."""
    workspace = make_reviewing(project, task_id)
    project.ok("config", "merge.mode", "queue")
    approve(project, task_id)
    return workspace


def approve(project: RunProject, task_id: str) -> None:
    from gitticks.actions.verdict import approve_task, look_at

    context = Context(directory=project.path)
    approve_task(context, TaskId(task_id), None, look_at(context, TaskId(task_id)))
    assert project.task(task_id).is_merging


def head(project: RunProject, ref: str = "main") -> str:
    return git("rev-parse", ref, at=project.path)


def merge(project: RunProject, task_id: str = "k7f2", **more: Any) -> MergeResult:
    return queue(project, **more).merge(TaskId(task_id))
