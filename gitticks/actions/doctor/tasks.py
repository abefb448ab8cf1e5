"""What is wrong with the tasks themselves: waiting in circles, links to nothing, states that cannot be."""

from __future__ import annotations

from collections.abc import Iterator

from gitticks.actions.circles import circles_of
from gitticks.actions.context import Context
from gitticks.actions.doctor.agents import unknown_workers
from gitticks.actions.doctor.finding import Finding, Severity
from gitticks.model.queries import TaskGraph
from gitticks.model.status import Awaiting
from gitticks.model.task import Task
from gitticks.store.index import open_index
from gitticks.workflow.history_rules import impossible
from gitticks.workflow.transitions import AWAITED_IN


def check_tasks(context: Context) -> Iterator[Finding]:
    """Yields what is wrong with the tasks."""
    with open_index(context.repository) as index:
        tasks, unreadable = index.tasks(), index.unreadable()
    graph = TaskGraph.of(tasks, unreadable)
    yield from _circles(graph)
    for task in tasks:
        yield from _impossible(task)
        if task.is_open:
            yield from _dangling(graph, task)
    yield from unknown_workers(context, (task for task in tasks if task.is_open))


def _circles(graph: TaskGraph) -> Iterator[Finding]:
    for circle in circles_of(graph):
        words = f"tasks wait for one another in a circle: {circle.words}"
        yield Finding(Severity.ERROR, words, circle.mend)


def _dangling(graph: TaskGraph, task: Task) -> Iterator[Finding]:
    for blocker in graph.idle_blockers(task):
        is_missing = blocker not in graph.tasks
        yield Finding(
            Severity.WARNING,
            f"`{task.id}` is blocked by `{blocker}`, which {'does not exist' if is_missing else 'was cancelled'}",
            f"`gt unblock {task.id} {blocker}`",
            task=task.id,
        )
    if task.parent is not None and task.parent not in graph.tasks and task.parent not in graph.unreadable:
        yield Finding(
            Severity.WARNING,
            f"the parent of `{task.id}`, `{task.parent}`, does not exist",
            f"`gt update {task.id} --parent=null`",
            task=task.id,
        )


def _impossible(task: Task) -> Iterator[Finding]:
    """Yields an error for a task in a state that no decision leads to."""
    problem = impossible(task)
    if problem is None:
        return
    kind = AWAITED_IN.get(task.status, Awaiting.REVIEW)
    if kind is task.awaiting:
        kind = Awaiting.APPROVAL
    mend = f"`gt update {task.id} --awaiting {kind}` makes it a person's turn, and clears the rest"
    if not task.is_open:
        mend = f"`gt reopen {task.id}`, then close it again"
    yield Finding(Severity.ERROR, f"`{task.id}` {problem}", mend, task=task.id)
