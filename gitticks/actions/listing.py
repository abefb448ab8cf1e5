"""Lists tasks: filtered in picking order, or in the columns of a board."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from enum import StrEnum
from typing import Any, NamedTuple

from gitticks.actions.context import Context
from gitticks.actions.derived_state import (
    Person,
    Standing,
    by_closing,
    names_person,
    person_here,
    standings_of,
)
from gitticks.actions.stop_reasons import MOST_READ, reasons_of, told_of
from gitticks.errors import GitticksError
from gitticks.model.ids import TaskId
from gitticks.model.notes import Entry
from gitticks.model.queries import Graph, by_urgency
from gitticks.model.status import PHASES, Awaiting, Phase, Status
from gitticks.model.task_row import TaskRow
from gitticks.store.authors import own_names
from gitticks.store.index import Index

RECENT_DAYS = 14


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
    assignee: str | None = None
    is_mine: bool = False
    is_overdue: bool = False
    is_blocked: bool = False
    is_epic: bool | None = None
    with_closed: bool = False

    @property
    def is_empty(self) -> bool:
        """True if nothing but closed tasks is left out."""
        return self._replace(with_closed=False) == _EVERYTHING

    @property
    def needs_closed(self) -> bool:
        """True if closed tasks may pass."""
        return self.with_closed or any(status.is_terminal for status in self.statuses or ())


_EVERYTHING = Filter()


class Order(StrEnum):
    """What a listing can be sorted by; the order in which tasks would be picked if by nothing."""

    PRIORITY = "priority"
    CREATED = "created"
    DUE = "due"
    STATUS = "status"
    TITLE = "title"
    ID = "id"


class Listing(NamedTuple):
    """What a listing found: tasks in their order, and the files that could not be read.

    `questions` holds the open questions of tasks that await a person, where those were asked for, and `said` why
    tasks are stuck, or what their agents said when they stopped, where that was. `due` holds the due dates that were
    asked for, `overdue` those that have passed. `strangers` wrote tasks, and are not known in this clone.
    """

    standings: Sequence[Standing[TaskRow]]
    questions: Mapping[TaskId, tuple[Entry, ...]]
    said: Mapping[TaskId, str]
    due: Mapping[TaskId, str]
    overdue: Mapping[TaskId, str]
    strangers: Mapping[TaskId, str]
    left_out: int = 0


def list_tasks(
    context: Context,
    wanted: Filter,
    *,
    with_questions: bool = False,
    order: Order | None = None,
    is_reversed: bool = False,
    limit: int | None = None,
) -> Listing:
    """Returns the tasks that pass the filter: open ones in picking order, then closed ones, newest first.

    What awaits a person comes by urgency instead, the longest asked first within one priority, with what is asked;
    with `with_questions` every listing has the open questions. An
    `order` sorts all of them by that instead, and of more than `limit` the first are taken.
    """
    index = context.index
    parent = None if wanted.parent is None else context.resolve(wanted.parent)
    tasks, passed = read_passing(context, wanted, parent)
    graph = index.graph(tasks)
    if wanted.kinds is not None:
        ordered = sorted(passed, key=by_urgency)
    else:
        ordered = graph.in_picking_order(task for task in passed if task.is_open)
        if wanted.needs_closed:
            ordered += sorted((task for task in passed if not task.is_open), key=by_closing, reverse=True)
    if wanted.is_blocked:
        ordered = [task for task in ordered if task.is_open and graph.open_blockers(task, 1)]
    if order is not None:
        ordered = _sorted(index, ordered, order)
    if is_reversed:
        ordered = ordered[::-1]
    left_out = 0 if limit is None else max(0, len(ordered) - limit)
    ordered = ordered if limit is None else ordered[:limit]
    if wanted.kinds is not None:
        asked = ((task.id, index.open_questions(task.id)) for task in ordered)
        questions = {task_id: found for task_id, found in asked if found}
        said = _said(index, ordered, questions)
    else:
        questions = index.questions_of_all() if with_questions else {}
        said = reasons_of(index, ordered) if Status.STUCK in (wanted.statuses or ()) else {}
    due: dict[TaskId, str] = {}
    if wanted.is_overdue or order is Order.DUE:
        details = index.details(open_only=False)
        due = {task.id: day for task in ordered if (day := details[task.id].due)}
    return Listing(
        standings=standings_of(context, ordered, graph),
        questions=questions,
        said=said,
        due=due,
        overdue=index.overdue(context.now.astimezone().date()),
        strangers=index.by_strangers(own_names(context.repository.own_place)),
        left_out=left_out,
    )


def _sorted(index: Index, tasks: Sequence[TaskRow], order: Order) -> list[TaskRow]:
    """Returns the tasks by an order; what is alike stays as it was, and what has no day of its own comes last."""
    if order is Order.DUE:
        days = {task_id: one.due for task_id, one in index.details(open_only=False).items()}
        return sorted(tasks, key=lambda task: days[task.id] or "~")
    statuses = list(Status)
    keys: dict[Order, Callable[[TaskRow], Any]] = {
        Order.PRIORITY: lambda task: task.priority,
        Order.CREATED: lambda task: task.born,
        Order.STATUS: lambda task: statuses.index(Status(task.status)),
        Order.TITLE: lambda task: task.title.casefold(),
        Order.ID: lambda task: task.id,
    }
    return sorted(tasks, key=keys[order])


def _said(
    index: Index, tasks: Sequence[TaskRow], questions: Mapping[TaskId, tuple[Entry, ...]]
) -> dict[TaskId, str]:
    silent = [task for task in tasks if task.id not in questions]
    found = {task.id: told_of(index, task)[0] for task in silent[:MOST_READ]}
    return {task_id: text for task_id, text in found.items() if text}


def read_passing(
    context: Context, wanted: Filter, parent: TaskId | None
) -> tuple[Sequence[TaskRow], Sequence[TaskRow]]:
    """Returns the tasks that could matter, and those of them that pass."""
    index = context.index
    open_only = not wanted.needs_closed
    tasks = index.listed(open_only=open_only, with_json=context.as_json)
    named = (wanted.agent, wanted.reviewer, wanted.assignee)
    if not (any(one is not None for one in named) or wanted.labels or wanted.is_mine or wanted.is_overdue):
        if open_only and wanted.is_empty:
            return tasks, tasks
        return tasks, [task for task in tasks if _passes(task, wanted, parent)]

    labels, details = set(wanted.labels), index.details(open_only=open_only)
    today = context.now.astimezone().date().isoformat()
    person = _person(context) if wanted.is_mine else None
    return tasks, [
        task
        for task in tasks
        if _passes(task, wanted, parent)
        and labels.issubset(details[task.id].labels)
        and (wanted.agent is None or details[task.id].agent == wanted.agent)
        and (wanted.reviewer is None or names_person(details[task.id].reviewer, wanted.reviewer))
        and (wanted.assignee is None or names_person(details[task.id].assignee, wanted.assignee))
        and (person is None or (details[task.id].assignee and person.is_asked(details[task.id].assignee)))
        and (not wanted.is_overdue or (task.is_open and (details[task.id].due or today) < today))
    ]


def _passes(task: TaskRow, wanted: Filter, parent: TaskId | None) -> bool:
    return (
        (bool(task.is_open) or wanted.needs_closed)
        and (wanted.kinds is None or task.awaiting in wanted.kinds)
        and (wanted.statuses is None or task.status in wanted.statuses)
        and (parent is None or task.parent == parent)
        and (wanted.is_epic is None or bool(task.is_epic) is wanted.is_epic)
    )


def _person(context: Context) -> Person:
    person = person_here(context)
    if person is None:
        raise GitticksError("git does not know your name", hint='`git config user.name "Ada Lovelace"`')
    return person


class Column(NamedTuple):
    """The tasks of one phase in picking order, closed ones newest first; `left_out` were closed longer ago."""

    phase: str
    standings: Sequence[Standing[TaskRow]]
    left_out: int = 0


class Columns(NamedTuple):
    """One column for each phase."""

    columns: tuple[Column, ...]


def sort_into_columns(context: Context, epic: str | None = None, *, with_closed: bool = False) -> Columns:
    """Returns all tasks, or those below an epic, by phase; of the closed ones those of the last days, or all."""
    index = context.index
    above = None if epic is None else context.resolve(epic)
    rows = index.listed(with_json=context.as_json)
    graph = Graph.of(rows, index.unreadable())
    if above is not None:
        below = graph.below(above) - {above}
        rows = [row for row in rows if row.id in below]
    since = "" if with_closed else (context.now - timedelta(days=RECENT_DAYS)).isoformat()
    closed = [row for row in rows if not row.is_open]
    recent = sorted((row for row in closed if row.closed >= since), key=by_closing, reverse=True)
    by_phase: dict[str, list[TaskRow]] = {phase: [] for phase in PHASES.values()}
    for row in (*graph.in_picking_order(row for row in rows if row.is_open), *recent):
        by_phase[PHASES[row.status]].append(row)
    return Columns(
        tuple(
            Column(phase, standings_of(context, found, graph), len(closed) - len(recent) if phase == Phase.CLOSED else 0)
            for phase, found in by_phase.items()
        ),
    )  # fmt: skip
