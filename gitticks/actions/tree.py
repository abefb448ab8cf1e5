"""Orders tasks as a tree: epics with what is below them, then standalone tasks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from gitticks.actions.context import Context
from gitticks.actions.derived_state import Standing
from gitticks.actions.stop_reasons import reasons_of
from gitticks.model.forest import Place, forest_of, walk
from gitticks.model.ids import TaskId
from gitticks.model.notes import Entry
from gitticks.model.task_row import TaskRow


class Group:
    """Under which words the trees stand."""

    EPICS = "epics"
    STANDALONE = "standalone"
    ORPHANS = "orphans"
    CYCLES = "in a cycle"


class Tree(NamedTuple):
    """The places of the tasks that were asked for, group by group; groups without any are left out.

    `closed` is how many closed tasks each task has below it that are not shown, under None those without a parent,
    `all_closed` how many it has in all, and `open_children` how many open ones; `questions` and `reasons` say what tasks that await a person ask, and why
    they are stuck.
    """

    groups: tuple[tuple[str, Sequence[Place[TaskRow]]], ...]
    standings: Mapping[TaskId, Standing[TaskRow]]
    closed: Mapping[TaskId | None, int]
    all_closed: Mapping[TaskId | None, int]
    open_children: Mapping[TaskId | None, int]
    questions: Mapping[TaskId, tuple[Entry, ...]]
    reasons: Mapping[TaskId, str]


def grow_tree(context: Context, named: str | None = None, *, with_closed: bool = False) -> Tree:
    """Returns the tree of all tasks, or of one and what is below it; closed ones only where asked for, or named."""
    index = context.index
    top = context.resolve(named) if named is not None else None
    tasks = index.listed(open_only=not with_closed, with_json=context.as_json)
    if top is not None and not with_closed and all(task.id != top for task in tasks):
        tasks = index.listed(with_json=context.as_json)
        with_closed = True
    graph = index.graph(tasks)
    all_closed = index.closed_children()
    folded = {} if with_closed else all_closed
    if top is not None and top not in graph.tasks:
        from gitticks.actions.task_files import cannot_be_shown

        raise cannot_be_shown(index, top)
    if top is not None:
        tops = [(Group.EPICS, [graph.tasks[top]])]
    else:
        forest = forest_of(graph, lambda one: one in folded or bool(graph.children(one)))
        tops = [
            (Group.EPICS, forest.epics),
            (Group.STANDALONE, forest.standalone),
            (Group.ORPHANS, forest.orphans),
            (Group.CYCLES, forest.cycles),
        ]
    groups = tuple((name, list(walk(some, graph.children, folded))) for name, some in tops if some)
    around, project_place = context.surroundings(), context.repository.project_place
    shown = [place.task for _, places in groups for place in places if place.task is not None]
    return Tree(
        groups=groups,
        standings={task.id: Standing(task, graph, around, project_place) for task in shown},
        closed=folded,
        all_closed=all_closed,
        open_children=Counter(task.parent for task in tasks if task.is_open),
        questions=index.questions_of_all(),
        reasons=reasons_of(index, shown),
    )
