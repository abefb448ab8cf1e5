"""Why a task is where it is, what its agent said when it stopped, and what it was not allowed to do."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from gitticks.model.ids import TaskId
from gitticks.model.notes import Entry, QuestionPair, Section, answered_since
from gitticks.model.status import ANSWERED, ActorKind, Awaiting, Status
from gitticks.store.layout import events_of

if TYPE_CHECKING:
    from gitticks.model.task_row import AnyTask, TaskRow
    from gitticks.store.index import Index


_STUCK = Status.STUCK.encode()
_ASKED = b'"awaiting.set"'

MOST_READ = 200
"""So many tasks' texts and histories are looked into for one answer."""
_STEPS = frozenset({Status.WORKING, Status.AGENT_REVIEW})


def _waits_because(index: Index, task: AnyTask) -> str:
    history = index.history(task.id)
    if _STUCK not in history and _ASKED not in history:
        return ""
    from gitticks.workflow.session_states import waits_because

    return waits_because(task, events_of(history))


def reasons_of(index: Index, tasks: Iterable[AnyTask]) -> dict[TaskId, str]:
    """Returns why those of the tasks are stuck that are, as far as their histories say."""
    stuck = (task for task in tasks if task.status == Status.STUCK)
    return {task.id: reason for task in stuck if (reason := _waits_because(index, task))}


def said_of(index: Index, task: TaskRow | None) -> str:
    """Returns why a task is stuck, or else the agent's note that came with its signal; empty if there is none."""
    if task is None:
        return ""
    is_stuck = task.status == Status.STUCK
    if is_stuck or task.awaiting == Awaiting.ESCALATION or task.status == Status.REVIEWING:
        why = _waits_because(index, task)
        if why or is_stuck:
            return why
    if task.asked_at is None or b"notes" not in (index.data(task.id) or b"").lower():
        return ""
    from gitticks.actions.showing import body_of, entries_of

    found = entries_of(body_of(index, task.id), Section.NOTES)
    notes = [note for note in found if note.kind is ActorKind.AGENT]
    if notes and task.status == Status.REVIEWING:
        return _last_within(notes, *_work_of_round(index.history(task.id), task.asked_at))
    return _last_within(notes, task.asked_at, None)


def told_of(index: Index, task: TaskRow) -> tuple[str, Entry | None]:
    """Returns what there is to read of a task without an open question, and the answer that waits for a verdict.

    That is what was asked, with the answer, else what `said_of` says.
    """
    pairs = _answered(index, task)
    if not pairs or task.status == Status.STUCK:
        return said_of(index, task), pairs[-1].answer if pairs else None
    answer = pairs[-1].answer
    asked = [pair.question.text for pair in pairs]
    return "\n".join([*asked, f"answer: {answer.text}" if answer else ""]), answer


def _answered(index: Index, task: TaskRow) -> tuple[QuestionPair, ...]:
    asked_at = task.asked_at if task.awaiting in ANSWERED else None
    if asked_at is None or Section.QUESTIONS.lower().encode() not in (index.data(task.id) or b"").lower():
        return ()
    from gitticks.actions.showing import body_of, entries_of

    return answered_since(entries_of(body_of(index, task.id), Section.QUESTIONS), asked_at)


class Denied(NamedTuple):
    """What the last worker on a task was not allowed to do."""

    id: TaskId
    agent: str
    denied: tuple[str, ...]


def denied_of(index: Index, task_id: TaskId) -> Denied | None:
    """Returns what the last session of a task's worker was not allowed to do, if anything."""
    history = index.history(task_id)
    if b'"denied"' not in history:
        return None
    for event in reversed(events_of(history)):
        if event.type == "session.ended" and event.data.get("role") == "worker":
            denied = event.data.get("denied")
            return Denied(task_id, event.actor.name, tuple(denied)) if isinstance(denied, list) else None
    return None


def _last_within(notes: list[Entry], since: datetime, until: datetime | None) -> str:
    within = [note for note in notes if note.at >= since and (until is None or note.at <= until)]
    return within[-1].text if within else ""


def _work_of_round(history: bytes, asked_at: datetime) -> tuple[datetime, datetime | None]:
    """Returns when the last work began and when it was handed off; since a person is asked if nothing is recorded.

    A review is between the hand-off and the asking, and what a reviewer notes is no word of who did the work.
    """
    handed_off = None
    for event in reversed(events_of(history)):
        if event.to_status not in _STEPS:
            continue
        if event.to_status == Status.WORKING:
            return event.at, handed_off
        handed_off = handed_off or event.at
    return asked_at, None
