"""Hands work over, asks a person, writes the hand-off: on the state branch, or, inside a session, in its mailbox."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gitticks.actions.changing import (
    Record,
    circumstances_of,
    describe_records,
    record,
    refuse_closed,
    require_words,
)
from gitticks.actions.context import Context
from gitticks.actions.evidence import failed_check
from gitticks.errors import RefusedError, UsageError
from gitticks.model.event import Event, EventType
from gitticks.model.ids import TaskId
from gitticks.model.notes import Entry, Section
from gitticks.model.status import ActorKind, Status
from gitticks.model.task import Task
from gitticks.workflow.triggers import Requested

if TYPE_CHECKING:
    from gitticks.store.transaction import Transaction

_NOT_HANDED_OFF = (Status.PENDING, Status.CLARIFICATION, Status.WORKING, Status.STUCK)


@dataclass(frozen=True, slots=True)
class HandedOver:
    """A task before and after."""

    before: Task
    after: Task


@dataclass(frozen=True, slots=True)
class HandoffParts:
    """The four parts of a hand-off, as flags give them; None for one that was not given."""

    done: str | None = None
    remaining: str | None = None
    decisions: str | None = None
    uncertain: str | None = None

    @property
    def text(self) -> str:
        """Returns the text of `## Handoff`; empty if no part was given."""
        parts = (
            ("DONE", self.done),
            ("REMAINING", self.remaining),
            ("DECISIONS", self.decisions),
            ("UNCERTAIN", self.uncertain),
        )
        return "\n".join(f"- {name}: {_indented(text)}" for name, text in parts if text and text.strip())


def _indented(text: str) -> str:
    """Returns the text so that its further lines stay within the list item."""
    return "\n  ".join(text.strip().splitlines())


def complete_task(context: Context, task_id: TaskId) -> HandedOver:
    """Asks for agent-review; where the task has a workspace, its quality gates must pass.

    Raises:
        RefusedError: the hand-off is missing, a gate is shut, or the task is not being worked on.
    """
    failure = failed_check(context, task_id)
    return _request(context, task_id, Requested(context.actor, Status.AGENT_REVIEW), failure)


def _request(
    context: Context, task_id: TaskId, requested: Requested, failure: str | None = None, question: str = ""
) -> HandedOver:
    from gitticks.store.decisions import carry_out

    def write(transaction: Transaction) -> HandedOver:
        before = transaction.task_file(task_id).task
        asked = [_add_question(context, transaction, task_id, question)] if question else []
        if before.status is not requested.to:
            circumstances = circumstances_of(context, before, checks_failure=failure)
            carry_out(transaction, task_id, requested, circumstances)
        describe_records(transaction, task_id, asked, context.actor)
        return HandedOver(before, transaction.task_file(task_id).task)

    return context.store.transact(write, author=context.author)


def ask_question(context: Context, task_id: TaskId, question: str) -> HandedOver:
    """Adds a question and lets the task wait for its answer.

    A person's question is filed under gitticks' kind: an entry of a person's own kind would be an answer.

    Raises:
        UsageError: the question is empty.
        RefusedError: the task is where nobody can ask.
    """
    question = require_words(question, "question", f'gt ask {task_id} "…"')
    return _request(context, task_id, Requested(context.actor, Status.CLARIFICATION), question=question)


def _add_question(context: Context, transaction: Transaction, task_id: TaskId, question: str) -> Record:
    """Adds an entry that nobody has answered, with its event."""
    file = transaction.task_file(task_id)
    refuse_closed(file.task)
    at, actor = context.now, context.actor
    kind = ActorKind.ENGINE if actor.is_human else actor.kind
    file = file.with_entry(Section.QUESTIONS, Entry(at, kind, actor.name, question))
    transaction.put_task(file.with_task(replace(file.task, updated=at)))
    events = (Event(EventType.ASKED, at, actor),)
    transaction.append_events(task_id, events)
    return Record("question asked", events)


def write_handoff(context: Context, task_id: TaskId, text: str) -> HandedOver:
    """Writes `## Handoff`, in place of one that is there.

    Raises:
        UsageError: the text is empty.
        RefusedError: the task is handed off already, or closed.
        DocumentError: the text would change the sections around it.
    """
    check_handoff(text)

    def write(transaction: Transaction) -> HandedOver:
        file = transaction.task_file(task_id)
        refuse_closed(file.task)
        if file.task.status not in _NOT_HANDED_OFF:
            raise RefusedError(
                f"`{task_id}` is handed off already: it is {file.task.status}",
                hint=f'`gt note {task_id} "…"` adds what is missing',
            )
        if file.section(Section.HANDOFF) == text.strip():
            return HandedOver(file.task, file.task)
        at, actor = context.now, context.actor
        written = file.with_section(Section.HANDOFF, text)
        transaction.put_task(written.with_task(replace(file.task, updated=at)))
        event = Event(EventType.TEXT_CHANGED, at, actor, data={"sections": [Section.HANDOFF.value]})
        record(transaction, task_id, "hand-off written", [event], actor)
        return HandedOver(file.task, transaction.task_file(task_id).task)

    return context.store.transact(write, author=context.author)


def check_handoff(text: str) -> None:
    """Refuses a hand-off without text.

    Raises:
        UsageError: nothing is left of it without comments and white space.
    """
    from gitticks.document.sections import is_empty

    if is_empty(text):
        raise UsageError("the hand-off is empty", hint='`gt handoff --done "…" --remaining "…"`')
