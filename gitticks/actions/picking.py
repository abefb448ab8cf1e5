"""Says what comes next: for an agent what is ready, for a person what awaits one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gitticks.actions.context import Context
from gitticks.actions.listing import by_urgency
from gitticks.actions.standing import Standing, standing_of
from gitticks.model.ids import TaskId
from gitticks.model.queries import TaskGraph
from gitticks.model.status import Awaiting
from gitticks.model.task import Task


@dataclass(frozen=True, slots=True)
class Reach:
    """Where to look: below one epic, or in some of the groups; with nothing said everywhere."""

    epic: str | None = None
    in_epics: bool = False
    standalone: bool = False
    orphans: bool = False

    @property
    def is_everywhere(self) -> bool:
        """True if every group counts."""
        return not (self.in_epics or self.standalone or self.orphans)


def next_task(context: Context, reach: Reach, kinds: frozenset[Awaiting] | None = None) -> Standing | None:
    """Returns the task that would be picked first, or with `kinds` the most urgent one that awaits a person.

    Raises:
        NotFoundError: the epic is no task.
    """
    epic = context.resolve(reach.epic) if reach.epic else None
    graph = TaskGraph.of(context.index.tasks(open_only=True))
    around = context.surroundings()
    tasks: Iterable[Task]
    if kinds is None:
        tasks = graph.ready(around)
    else:
        tasks = sorted((task for task in graph.tasks.values() if task.awaiting in kinds), key=by_urgency)
    found = next((task for task in tasks if _is_within(graph, task, reach, epic)), None)
    return None if found is None else standing_of(context, found, graph, around)


def ready_tasks(context: Context) -> list[Standing]:
    """Returns every task that a worker can be started on now, in picking order."""
    graph = TaskGraph.of(context.index.tasks(open_only=True))
    around = context.surroundings()
    return [standing_of(context, task, graph, around) for task in graph.ready(around)]


def _is_within(graph: TaskGraph, task: Task, reach: Reach, epic: TaskId | None) -> bool:
    if epic is not None and epic != task.id and all(above.id != epic for above in graph.ancestors(task)):
        return False
    if reach.is_everywhere:
        return True
    if graph.is_orphan(task):
        return reach.orphans
    if graph.is_standalone(task):
        return reach.standalone
    return reach.in_epics
