"""Lists tasks: all that are open in the order in which they would be picked, or what a filter lets through."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from gitticks.actions.derived_state import by_closing, names_reviewer, standings_of
from gitticks.actions.stop_reasons import MOST_READ, reasons_of, said_of
from gitticks.model.ids import TaskId
from gitticks.model.queries import Graph, by_urgency
from gitticks.model.status import Status
from gitticks.store.authors import own_names

if TYPE_CHECKING:
    from gitticks.actions.context import Context
    from gitticks.actions.derived_state import Standing
    from gitticks.model.notes import Entry
    from gitticks.model.status import Awaiting
    from gitticks.store.index import BrokenFile, Index
    from gitticks.store.task_row import TaskRow


class Filter(NamedTuple):
    """Which tasks are wanted; None and an empty tuple let everything through.

    A task passes that has one of the kinds, one of the statuses and all of the labels. Closed tasks pass only where
    `with_closed` or a closed status asks for them.
    """

    kinds: frozenset[Awaiting] | None = None
    statuses: frozenset[Status] | None = None
    labels: tuple[str, ...] = ()
    parent: str | None = None
    agent: str | None = None
    reviewer: str | None = None
    with_closed: bool = False

    @property
    def is_empty(self) -> bool:
        """True if nothing but closed tasks is left out."""
        return (self.kinds, self.statuses, self.labels, self.parent, self.agent, self.reviewer) == (
            None, None, (), None, None, None,
        )  # fmt: skip

    @property
    def needs_closed(self) -> bool:
        """True if closed tasks may pass."""
        return self.with_closed or any(status.is_terminal for status in self.statuses or ())

    @property
    def needs_details(self) -> bool:
        """True if it takes more to tell than a listing shows."""
        return bool(self.labels) or self.agent is not None or self.reviewer is not None


class Listing(NamedTuple):
    """What a listing found: tasks in their order, and the files that could not be read.

    `questions` holds the open questions of tasks that await a person, where those were asked for, and `said` why
    tasks are stuck, or what their agents said when they stopped, where that was. `has_tasks` is False in a
    repository without any task, open or closed. `strangers` wrote tasks, and are not known in this clone.
    """

    standings: Sequence[Standing[TaskRow]]
    broken: tuple[BrokenFile, ...]
    questions: Mapping[TaskId, tuple[Entry, ...]]
    said: Mapping[TaskId, str]
    has_tasks: bool
    strangers: Mapping[TaskId, str]


def list_tasks(
    context: Context, wanted: Filter, *, with_json: bool = False, with_questions: bool = False
) -> Listing:
    """Returns the tasks that pass the filter: open ones in picking order, then closed ones, newest first.

    What awaits a person comes by urgency instead, the longest asked first within one priority, with what is asked;
    with `with_questions` every listing has the open questions. The rows have their JSON where that is wanted.
    """
    index = context.index
    parent = context.resolve(wanted.parent) if wanted.parent else None
    tasks, passed = _read(index, wanted, parent, with_json=with_json)
    graph = Graph.of(tasks, index.unreadable())
    if wanted.kinds is not None:
        ordered = sorted(passed, key=by_urgency)
    else:
        ordered = graph.in_picking_order(task for task in passed if task.is_open)
        if wanted.needs_closed:
            ordered += sorted((task for task in passed if not task.is_open), key=by_closing, reverse=True)
    if wanted.kinds is not None:
        asked = ((task.id, index.open_questions(task.id)) for task in ordered)
        questions = {task_id: found for task_id, found in asked if found}
        said = _said(index, ordered, questions)
    else:
        questions = index.questions_of_all() if with_questions else {}
        said = reasons_of(index, ordered) if Status.STUCK in (wanted.statuses or ()) else {}
    return Listing(
        standings=standings_of(context, ordered, graph),
        broken=index.to_fix(),
        questions=questions,
        said=said,
        has_tasks=bool(tasks) or index.has_tasks(),
        strangers=index.by_strangers(own_names(context.repository.own_place)),
    )


def _said(
    index: Index, tasks: Sequence[TaskRow], questions: Mapping[TaskId, tuple[Entry, ...]]
) -> dict[TaskId, str]:
    silent = [task for task in tasks if task.id not in questions]
    found = {task.id: said_of(index, task) for task in silent[:MOST_READ]}
    return {task_id: text for task_id, text in found.items() if text}


def _read(
    index: Index, wanted: Filter, parent: TaskId | None, *, with_json: bool
) -> tuple[Sequence[TaskRow], Sequence[TaskRow]]:
    """Returns the tasks that could matter, and those of them that pass."""
    open_only = not wanted.needs_closed
    tasks = index.listed(open_only=open_only, with_json=with_json)
    if not wanted.needs_details:
        if open_only and wanted.is_empty:
            return tasks, tasks
        return tasks, [task for task in tasks if _passes(task, wanted, parent)]

    labels, details = set(wanted.labels), index.details(open_only=open_only)
    return tasks, [
        task
        for task in tasks
        if _passes(task, wanted, parent)
        and labels.issubset(details[task.id].labels)
        and (wanted.agent is None or details[task.id].agent == wanted.agent)
        and (wanted.reviewer is None or names_reviewer(details[task.id].reviewer, wanted.reviewer))
    ]


def _passes(task: TaskRow, wanted: Filter, parent: TaskId | None) -> bool:
    return (
        (bool(task.is_open) or wanted.needs_closed)
        and (wanted.kinds is None or task.awaiting in wanted.kinds)
        and (wanted.statuses is None or task.status in wanted.statuses)
        and (parent is None or task.parent == parent)
    )
