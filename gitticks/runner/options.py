"""A run's options, and which tasks it may take in which order."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from gitticks.agents.base import Front
from gitticks.model.ids import TaskId
from gitticks.model.queries import Surroundings, TaskGraph, is_to_review
from gitticks.model.status import Phase, Status
from gitticks.model.task import Task


class RunOptions(NamedTuple):
    """The flags of one run; times in seconds, None is what the settings say or no limit.

    `ids` are epics and tasks to work on, empty for everything; `added` those that were added while it runs. With `auto` the run runs forever, on epics and
    what the three `include` flags add. With `no_rest` agents start
    that an earlier run saw resting. `front` is where agents can be seen and talked to. `debounce` is how long a
    person's last edit must lie back before a task is taken.
    """

    ids: tuple[TaskId, ...] = ()
    added: tuple[TaskId, ...] = ()
    auto: bool = False
    include_standalone: bool = True
    include_orphans: bool = True
    parallel: int = 1
    agent: str | None = None
    model: str | None = None
    max_iterations: int | None = None
    max_seconds: float | None = None
    max_cost: float | None = None
    max_tokens: int | None = None
    no_rest: bool = False
    debounce: float = 2.0
    poll: float = 30.0
    front: Front = Front.NONE

    @property
    def names(self) -> tuple[TaskId, ...]:
        """Returns all that the run was asked for by name."""
        return self.ids + self.added


def in_scope(graph: TaskGraph, options: RunOptions) -> dict[TaskId, Task]:
    """Returns the tasks that the run is for: those named with all below them, else what the flags include."""
    named = set(options.names).union(*map(graph.below, options.names))
    return {
        task.id: task
        for task in graph.tasks.values()
        if task.id in named or (not options.ids and _is_included(graph, task, options))
    }


def _is_included(graph: TaskGraph, task: Task, options: RunOptions) -> bool:
    if task.is_epic:
        return True
    if graph.is_orphan(task):
        return options.include_orphans
    return options.include_standalone or task.parent is not None


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
    scope: Iterable[Task],
    around: Surroundings,
    *,
    current_epic: TaskId | None,
    in_review_limit: int | None,
) -> list[Task]:
    """Returns what of the run's tasks can be started now, best first: reviews, then work, each in picking order.

    Above `in_review_limit` tasks in review nothing new is started, only returned work.
    """
    tasks = list(scope)
    reviews = [task for task in tasks if is_to_review(task, around)]
    work = graph.ready_among(tasks, around)
    if in_review_limit is not None and count_in_review(tasks) >= in_review_limit:
        work = [task for task in work if task.status is not Status.PENDING]
    return graph.in_picking_order(reviews, current_epic) + graph.in_picking_order(work, current_epic)
