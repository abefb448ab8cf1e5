"""How tasks stand among the others: what a reader asks beside the fields, derived from one snapshot of the branch."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from gitticks.actions.context import Context
from gitticks.model.ids import BOARD_FOLDER, TaskId, task_path
from gitticks.model.queries import Surroundings, TaskGraph, is_deferred
from gitticks.model.task import Task


@dataclass(frozen=True, slots=True)
class Standing:
    """A task with what is derived and never stored.

    `blockers` are the open tasks that it or an ancestor waits for; `worktree` is the checkout that holds the board,
    None in a repository without one.
    """

    task: Task
    is_ready: bool
    blockers: tuple[TaskId, ...]
    is_deferred: bool
    is_live: bool
    is_held: bool
    worktree: Path | None

    @property
    def is_blocked(self) -> bool:
        """True for an open task that waits for another one."""
        return self.task.is_open and bool(self.blockers)

    @property
    def path(self) -> Path | None:
        """Returns where the task's file lies on the board; None in a repository without a checkout."""
        return _file_below(self.worktree, self.task.id)


def board_path(context: Context, task_id: TaskId) -> Path | None:
    """Returns where the task's file lies on the board; None in a repository without a checkout."""
    return _file_below(context.repository.main_worktree, task_id)


def _file_below(worktree: Path | None, task_id: TaskId) -> Path | None:
    return None if worktree is None else worktree / BOARD_FOLDER / task_path(task_id)


def standing_of(context: Context, task: Task, graph: TaskGraph, around: Surroundings) -> Standing:
    """Returns how one task of the graph stands."""
    return Standing(
        task=task,
        is_ready=graph.is_ready(task, around),
        blockers=graph.open_blockers(task) if task.is_open else (),
        is_deferred=task.is_open and is_deferred(task, around.today),
        is_live=task.id in around.live,
        is_held=task.id in around.held,
        worktree=context.repository.main_worktree,
    )


def standings_of(context: Context, tasks: Iterable[Task], graph: TaskGraph) -> list[Standing]:
    """Returns how these tasks of the graph stand, in their order."""
    around = context.surroundings()
    return [standing_of(context, task, graph, around) for task in tasks]


def standing_now(context: Context, task_id: TaskId) -> Standing:
    """Returns how a task stands at this moment, whatever was read of the branch before.

    Raises:
        NotFoundError: there is no such task.
    """
    from gitticks.store.index import open_index

    with open_index(context.repository) as index:
        task = index.task(task_id)
        graph = TaskGraph.of([*index.tasks(open_only=True), task], index.unreadable())
    return standing_of(context, task, graph, context.surroundings())
