"""What is wrong with the tasks themselves: files that cannot be read, waiting in circles, states that cannot be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise

from gitticks.actions.context import Context
from gitticks.actions.doctor.finding import Finding, Severity
from gitticks.actions.moved_folders import home_of
from gitticks.model.circles import find_circles
from gitticks.model.ids import BOARD_FOLDER, TaskId
from gitticks.model.queries import TaskGraph
from gitticks.model.status import Status
from gitticks.model.task import Task
from gitticks.store.index import BrokenFile, open_index


def check_tasks(context: Context) -> Iterator[Finding]:
    """Yields what is wrong with the tasks."""
    with open_index(context.repository) as index:
        tasks, broken = index.tasks(), index.broken()
    unreadable = {file.task_id for file in broken}
    yield from (_broken(file) for file in broken)
    graph = TaskGraph.of(tasks)
    yield from _circles(graph)
    for task in tasks:
        if task.is_open:
            yield from _dangling(graph, task, unreadable)
            yield from _nobodys_turn(task)


def _broken(file: BrokenFile) -> Finding:
    folder, home = file.path.rpartition("/")[0], home_of(file.path)
    if file.task_id is not None:
        mend = f"`gt edit {file.task_id}`"
    elif home is not None:
        mend = f"`cd .gitticks && mkdir -p {home.rpartition('/')[0]} && git mv {folder} {home} && git commit`"
    else:
        mend = "move the file to where it belongs"
    return Finding(Severity.ERROR, f"{BOARD_FOLDER}/{file.message}", mend)


def _circles(graph: TaskGraph) -> Iterator[Finding]:
    for circle in find_circles(graph):
        yield Finding(
            Severity.ERROR,
            f"tasks wait for one another in a circle: {' → '.join(circle)}",
            _way_out(graph, circle),
        )


def _way_out(graph: TaskGraph, circle: tuple[TaskId, ...]) -> str:
    """Returns the command that takes one link out of a circle: a blocker of a task in it, or of an ancestor."""
    for waiting, blocker in pairwise(circle):
        task = graph.tasks[waiting]
        for owner in (task, *graph.ancestors(task)):
            if blocker in owner.blocked_by:
                return f"`gt unblock {owner.id} {blocker}`"
    return f"`gt update {circle[0]} --parent=null`"


def _dangling(graph: TaskGraph, task: Task, unreadable: Iterable[TaskId | None]) -> Iterator[Finding]:
    for blocker in graph.idle_blockers(task):
        if blocker in unreadable:
            continue
        is_missing = blocker not in graph.tasks
        yield Finding(
            Severity.WARNING,
            f"`{task.id}` is blocked by `{blocker}`, which {'does not exist' if is_missing else 'was cancelled'}",
            f"`gt unblock {task.id} {blocker}`",
        )
    if task.parent is not None and task.parent not in graph.tasks and task.parent not in unreadable:
        yield Finding(Severity.WARNING, f"the parent of `{task.id}`, `{task.parent}`, does not exist")


def _nobodys_turn(task: Task) -> Iterator[Finding]:
    """Yields an error for a task that stands still: a person's turn by its status, but nothing is awaited."""
    waits = task.status in (Status.CLARIFICATION, Status.STUCK, Status.REVIEWING)
    if waits and task.awaiting is None and not task.is_merging:
        yield Finding(
            Severity.ERROR,
            f"`{task.id}` is in {task.status.value} but awaits nobody",
            f"`gt update {task.id} --awaiting=null` gives it back to the agent",
        )
