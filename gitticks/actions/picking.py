"""What comes next: ready tasks for agents, waiting ones for people."""

from __future__ import annotations

from collections.abc import Sequence

from gitticks.actions.context import Context
from gitticks.actions.derived_state import Standing, names_person, standing_of, standings_of
from gitticks.model.queries import by_urgency, first_ready
from gitticks.model.status import Awaiting
from gitticks.model.task_row import TaskRow
from gitticks.store.index import candidates_in, graph_over


def next_task(
    context: Context,
    kinds: frozenset[Awaiting] | None,
    *,
    epic: str | None,
    in_epics: bool,
    standalone: bool,
    orphans: bool,
    reviewer: str | None,
) -> Standing[TaskRow] | None:
    """Returns the task that would be picked first, or with `kinds` the most urgent one that awaits a person.

    It is looked for below one epic, or in some of the groups; with nothing said everywhere. With `reviewer` only what
    names that person counts.
    """
    above = None if epic is None else context.resolve(epic)
    graph = graph_over(context.index)
    around = context.surroundings()

    def is_wanted(task: TaskRow) -> bool:
        if above is not None and above != task.id and all(one.id != above for one in graph.ancestors(task)):
            return False
        if not (in_epics or standalone or orphans):
            return True
        if graph.is_orphan(task):
            return orphans
        return standalone if task.parent is None else in_epics

    if kinds is None:
        found = first_ready(graph, candidates_in(context.index), around, is_wanted)
    else:
        awaiting = context.index.awaiting() if reviewer is None else _awaiting(context, reviewer)
        waiting = (task for task in awaiting if task.is_open and task.awaiting in kinds)
        found = min((task for task in waiting if is_wanted(task)), key=by_urgency, default=None)
    if found is not None and context.as_json:
        found = context.index.find(found.id, with_json=True)
    return None if found is None else standing_of(context, found, graph, around)


def _awaiting(context: Context, reviewer: str) -> Sequence[TaskRow]:
    named = {one for one, asked in context.index.reviewers().items() if names_person(asked, reviewer)}
    return [task for task in context.index.needing_people() if task.id in named]


def ready_tasks(context: Context) -> list[Standing[TaskRow]]:
    """Returns every task that a worker can be started on now, in picking order."""
    index = context.index
    graph = index.graph(index.listed(open_only=True, with_json=context.as_json))
    return standings_of(context, graph.ready(context.surroundings()), graph)
