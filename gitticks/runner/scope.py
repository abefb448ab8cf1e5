"""Which tasks a run may take, and in which order."""

from __future__ import annotations

from collections.abc import Iterable

from gitticks.model.ids import TaskId
from gitticks.model.queries import Surroundings, TaskGraph, is_to_review
from gitticks.model.status import Phase, Status
from gitticks.model.task import Task
from gitticks.runner.options import RunOptions


def in_scope(graph: TaskGraph, options: RunOptions) -> dict[TaskId, Task]:
    """Returns the tasks that the run is for: those named with all below them, else what the flags include."""
    if options.ids:
        named = _with_all_below(graph, options.ids)
        return {task.id: task for task in graph.tasks.values() if task.id in named}
    return {task.id: task for task in graph.tasks.values() if _is_included(graph, task, options)}


def _with_all_below(graph: TaskGraph, ids: Iterable[TaskId]) -> set[TaskId]:
    found = set(ids)
    waiting = list(found)
    while waiting:
        for child in graph.children(waiting.pop()):
            if child.id not in found:
                found.add(child.id)
                waiting.append(child.id)
    return found


def _is_included(graph: TaskGraph, task: Task, options: RunOptions) -> bool:
    if task.is_epic:
        return True
    if graph.is_orphan(task):
        return options.include_orphans
    return options.include_standalone or not graph.is_standalone(task)


def left_out(graph: TaskGraph, options: RunOptions, around: Surroundings) -> dict[str, list[TaskId]]:
    """Returns the ready tasks that a run leaves out, by the flag that includes them."""
    found: dict[str, list[TaskId]] = {}
    scope = in_scope(graph, options)
    for task in graph.ready(around):
        if task.id not in scope:
            flag = "--include-orphans" if graph.is_orphan(task) else "--include-standalone"
            found.setdefault(flag, []).append(task.id)
    return found


def count_in_review(tasks: Iterable[Task]) -> int:
    """Returns how many of the tasks are in review, by agents or people."""
    return sum(task.status.phase is Phase.IN_REVIEW for task in tasks)


def next_tasks(
    graph: TaskGraph,
    options: RunOptions,
    around: Surroundings,
    *,
    current_epic: TaskId | None,
    in_review_limit: int | None,
) -> list[Task]:
    """Returns what can be started now, best first: reviews, then returned work, then new work.

    Above `in_review_limit` tasks in review nothing new is begun, only returned work.
    """
    scope = in_scope(graph, options)
    reviews = [task for task in scope.values() if is_to_review(task, around)]
    work = [task for task in scope.values() if graph.is_ready(task, around)]
    if in_review_limit is not None and count_in_review(scope.values()) >= in_review_limit:
        work = [task for task in work if task.status is not Status.PENDING]

    def key(task: Task) -> tuple[int, int, str, str]:
        return graph.pick_key(task, current_epic)

    return sorted(reviews, key=key) + sorted(work, key=key)
