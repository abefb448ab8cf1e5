"""What is wrong with the tasks themselves: waiting in circles, links to nothing, states that cannot be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gitticks.actions.agents import why_unknown
from gitticks.actions.circles import circles_of
from gitticks.actions.context import Context
from gitticks.actions.doctor.finding import Finding, Severity
from gitticks.errors import GitticksError
from gitticks.model.queries import TaskGraph
from gitticks.model.status import Awaiting
from gitticks.model.task import Task
from gitticks.store.index import open_index
from gitticks.workflow.past import impossible
from gitticks.workflow.transitions import AWAITED_IN

_SHOWN_TASKS = 3


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
    yield from _for_nobody(context, (task for task in tasks if task.is_open))


def _for_nobody(context: Context, tasks: Iterable[Task]) -> Iterator[Finding]:
    """Yields a warning for each agent that tasks name and the settings here do not know.

    Of settings that cannot be read their own check tells.
    """
    named: dict[str, list[Task]] = {}
    for task in tasks:
        if task.agent is not None:
            named.setdefault(task.agent, []).append(task)
    try:
        unknown = {name: why_unknown(context.settings, name) for name in named}
    except GitticksError:
        return
    for name, reason in unknown.items():
        if reason is not None:
            of_it = named[name]
            ids = ", ".join(f"`{task.id}`" for task in of_it[:_SHOWN_TASKS])
            more = f" and {len(of_it) - _SHOWN_TASKS} more" if len(of_it) > _SHOWN_TASKS else ""
            mend = f"`gt update {of_it[0].id} --agent null` leaves it to the default"
            yield Finding(Severity.WARNING, f"runs here leave {ids}{more} out: {reason}", mend)


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
