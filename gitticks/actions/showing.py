"""Gathers everything about one task: its fields, its text, who said what, and what happened to it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from gitticks.actions.broken import find_broken
from gitticks.actions.context import Context
from gitticks.actions.history import events_of
from gitticks.actions.standing import Standing, standing_of
from gitticks.errors import NotFoundError
from gitticks.model.event import Event, EventType
from gitticks.model.ids import TaskId
from gitticks.model.notes import Entry, QuestionPair, ReviewOutcome, Section, pair_questions
from gitticks.model.queries import by_priority_and_age
from gitticks.model.status import Role, Status
from gitticks.model.task import Task
from gitticks.store.indexed_tasks import graph_over

if TYPE_CHECKING:
    from gitticks.document.sections import Body

_AS_ENTRIES = (Section.NOTES, Section.QUESTIONS)


@dataclass(frozen=True, slots=True)
class Author:
    """Who wrote an artifact, and when, as far as the history tells."""

    name: str
    at: datetime


@dataclass(frozen=True, slots=True)
class ShownTask:
    """One task with all its text.

    `sections` are those with text but Notes and Questions, in file order by their names; `idle_blockers` block
    nothing because they are missing or cancelled; `children` are closed and open ones.
    """

    standing: Standing
    parent: Task | None
    children: tuple[Task, ...]
    idle_blockers: tuple[TaskId, ...]
    summary: str
    sections: dict[str, str]
    review_outcome: ReviewOutcome
    notes: tuple[Entry, ...]
    questions: tuple[QuestionPair, ...]
    history: tuple[Event, ...]
    warnings: tuple[str, ...]

    @property
    def handoff_author(self) -> Author | None:
        """Returns who handed the work off last."""
        return self._last_session(Role.WORKER)

    @property
    def review_author(self) -> Author | None:
        """Returns who reviewed last."""
        return self._last_session(Role.REVIEWER)

    @property
    def seconds_to_close(self) -> float | None:
        """Returns how long it took from the first start of work to done; None for a task that is not done."""
        started = next((event.at for event in self.history if event.to_status is Status.WORKING), None)
        task = self.standing.task
        if task.status is not Status.DONE or task.closed is None or started is None:
            return None
        return (task.closed - started).total_seconds()

    def _last_session(self, role: Role) -> Author | None:
        ended = (
            event
            for event in reversed(self.history)
            if event.type is EventType.SESSION_ENDED and event.data.get("role") == role.value
        )
        return next((Author(event.actor.name, event.at) for event in ended), None)


def show_task(context: Context, named: str | None) -> ShownTask:
    """Returns everything about a task.

    Raises:
        NotFoundError: there is no such task.
        GitticksError: its file is broken; the message begins with the place.
    """
    from gitticks.document.taskfile import TaskFile

    index = context.index
    task_id = context.resolve(named)
    broken = find_broken(index, task_id)
    if broken is not None:
        raise broken
    data = index.data(task_id)
    if data is None:
        raise NotFoundError(f"there is no task `{task_id}`", hint="`gt list` shows the tasks")
    file = TaskFile.parse(data, index.task(task_id).file)
    graph = graph_over(index)
    return ShownTask(
        standing=standing_of(context, file.task, graph, context.surroundings()),
        parent=graph.tasks.get(file.task.parent) if file.task.parent else None,
        children=tuple(sorted(index.children(task_id), key=by_priority_and_age)),
        idle_blockers=graph.idle_blockers(file.task),
        summary=file.summary,
        sections=_sections(file.body),
        review_outcome=file.review_outcome,
        notes=file.entries(Section.NOTES),
        questions=pair_questions(file.entries(Section.QUESTIONS)),
        history=events_of(context, task_id),
        warnings=file.warnings,
    )


def _sections(body: Body) -> dict[str, str]:
    known = {section.value.lower(): section.value for section in Section}
    names: Iterable[str] = dict.fromkeys(
        known.get(block.title.lower(), block.title) for block in body.blocks if block.heading.level > 1
    )
    found = {name: body.get(name) for name in names if name not in _AS_ENTRIES}
    return {name: text for name, text in found.items() if text is not None}
