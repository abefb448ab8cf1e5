"""Says what comes next: for an agent what is ready, for a person what awaits one."""

from __future__ import annotations

from dataclasses import dataclass

from gitticks.actions.context import Context
from gitticks.actions.standing import Standing, standing_of
from gitticks.model.ids import TaskId
from gitticks.model.picking import first_ready
from gitticks.model.queries import TaskGraph, by_urgency
from gitticks.model.status import Awaiting
from gitticks.model.task import Task
from gitticks.store.indexed_tasks import candidates_in, graph_over


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
    graph = graph_over(context.index)
    around = context.surroundings()

    def is_wanted(task: Task) -> bool:
        return _is_within(graph, task, reach, epic)

    if kinds is None:
        found = first_ready(graph, candidates_in(context.index), around, is_wanted)
    else:
        waiting = (task for task in context.index.awaiting() if task.is_open and task.awaiting in kinds)
        found = min(filter(is_wanted, waiting), key=by_urgency, default=None)
    return None if found is None else standing_of(context, found, graph, around)


def ready_tasks(context: Context) -> list[Standing]:
    """Returns every task that a worker can be started on now, in picking order."""
    graph = TaskGraph.of(context.index.tasks(open_only=True), context.index.unreadable())
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
