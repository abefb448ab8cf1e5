"""Lists tasks: all that are open in the order in which they would be picked, or what a filter lets through."""

from __future__ import annotations

from dataclasses import dataclass

from gitticks.actions.context import Context
from gitticks.actions.standing import Standing, standings_of
from gitticks.model.ids import TaskId
from gitticks.model.notes import Entry
from gitticks.model.queries import TaskGraph, by_urgency
from gitticks.model.status import Awaiting, Status
from gitticks.model.task import Task
from gitticks.store.index import BrokenFile


@dataclass(frozen=True, slots=True)
class Filter:
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


@dataclass(frozen=True, slots=True)
class Listing:
    """What a listing found: tasks in their order, and the files that could not be read.

    `questions` holds the open questions of tasks that await a person, where those were asked for. `has_tasks` is
    False in a repository without any task, open or closed.
    """

    standings: tuple[Standing, ...]
    broken: tuple[BrokenFile, ...]
    questions: dict[TaskId, tuple[Entry, ...]]
    has_tasks: bool


def list_tasks(context: Context, wanted: Filter) -> Listing:
    """Returns the tasks that pass the filter: open ones in picking order, then closed ones, newest first.

    What awaits a person comes by urgency instead, the longest asked first within one priority.

    Raises:
        NotFoundError: the filter's parent is no task.
    """
    index = context.index
    parent = context.resolve(wanted.parent) if wanted.parent else None
    tasks = index.tasks(open_only=not wanted.needs_closed)
    graph = TaskGraph.of(tasks, index.unreadable())
    passed = [task for task in tasks if _passes(task, wanted, parent)]
    if wanted.kinds is not None:
        ordered = sorted(passed, key=by_urgency)
    else:
        ordered = sorted((task for task in passed if task.is_open), key=graph.pick_key)
        ordered += sorted((task for task in passed if not task.is_open), key=_by_closing, reverse=True)
    asked = ordered if wanted.kinds is not None else []
    return Listing(
        standings=tuple(standings_of(context, ordered, graph)),
        broken=index.broken(),
        questions={task.id: index.open_questions(task.id) for task in asked},
        has_tasks=bool(tasks or index.titles()),
    )


def _by_closing(task: Task) -> tuple[str, str]:
    return (task.closed.isoformat() if task.closed else "", task.id)


def _passes(task: Task, wanted: Filter, parent: TaskId | None) -> bool:
    return (
        (task.is_open or wanted.needs_closed)
        and (wanted.kinds is None or task.awaiting in wanted.kinds)
        and (wanted.statuses is None or task.status in wanted.statuses)
        and set(wanted.labels) <= set(task.labels)
        and (parent is None or task.parent == parent)
        and (wanted.agent is None or task.agent == wanted.agent)
        and (wanted.reviewer is None or task.reviewer == wanted.reviewer)
    )
