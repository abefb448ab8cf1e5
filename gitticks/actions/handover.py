"""Hands off work, asks a person, writes the hand-off: on the state branch or, in a session, through its mailbox."""

from __future__ import annotations

import fcntl
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from gitticks.actions.changing import (
    add_entry,
    circumstances_of,
    record,
    refuse_closed,
    require_words,
)
from gitticks.actions.context import Context
from gitticks.document.sections import is_empty
from gitticks.document.taskfile import TaskFile
from gitticks.errors import GitticksError, RefusedError, UsageError
from gitticks.model.event import Actor, Event, EventType
from gitticks.model.ids import TaskId
from gitticks.model.notes import Entry, ReviewOutcome, Section
from gitticks.model.settings import Policy
from gitticks.model.status import ActorKind, Role, Status
from gitticks.model.task import Task
from gitticks.runner.outbox import Request, RequestKind, post
from gitticks.runner.untrusted_files import UnfitError, open_folder, read_file, write_file
from gitticks.workflow.artifacts import Counts
from gitticks.workflow.triggers import Requested

if TYPE_CHECKING:
    from gitticks.runner.verifiers import ChecksReport
    from gitticks.store.transaction import Transaction


_NOT_HANDED_OFF = (Status.PENDING, Status.CLARIFICATION, Status.WORKING, Status.STUCK)

_HINTS = {
    Status.AGENT_REVIEW: '`gt handoff --done "…" --remaining "…"` writes it',
    Status.REVIEWING: '`gt review "PASS: …"` or `gt review "FAIL: …"` writes it',
    Status.CLARIFICATION: '`gt ask "…"` writes the question',
}
_HAND_OFF = "`gt complete` hands off your work for review"
_HINT = "`echo $GITTICKS_MAILBOX` must name the folder `.gt` of a workspace"


def handoff_text(given: Mapping[str, str | None]) -> str:
    """Returns the text of `## Handoff` of the parts that flags gave; empty if they gave none."""
    texts = ((name, (given[name] or "").strip()) for name in ("done", "remaining", "decisions", "uncertain"))
    parts = (f"- {name.upper()}: {text}" for name, text in texts if text)
    # Further lines stay within the list item.
    return "\n".join("\n  ".join(part.splitlines()) for part in parts)


def complete_task(context: Context, task_id: TaskId) -> tuple[Task, Task]:
    """Asks for agent-review and returns the task before and after; in a workspace its quality gates must pass."""
    from gitticks.actions.evidence import check_work  # which loads what runs checks, and a note needs none

    checks = check_work(context, task_id)
    return _request(context, task_id, Requested(context.actor, Status.AGENT_REVIEW), checks)


def _request(
    context: Context,
    task_id: TaskId,
    requested: Requested,
    checks: ChecksReport | None = None,
    question: str = "",
) -> tuple[Task, Task]:
    from gitticks.store.decisions import carry_out

    def write(transaction: Transaction) -> tuple[Task, Task]:
        before = transaction.task_file(task_id).task
        if question:
            refuse_closed(before)
            kind = ActorKind.ENGINE if context.actor.is_human else None
            add_entry(context, transaction, task_id, Section.QUESTIONS, question, kind=kind)
        if before.status is not requested.to or requested.is_question:
            circumstances = circumstances_of(context, before, checks=checks)
            carry_out(transaction, task_id, requested, circumstances)
        return before, transaction.task_file(task_id).task

    return context.store.transact(write, author=context.author)


def ask_question(context: Context, task_id: TaskId, question: str) -> None:
    """Adds a question and lets the task wait for its answer.

    A person's question is filed under gitticks' kind: an entry of a person's own kind would be an answer.
    """
    question = require_words(question, "question", f'gt ask {task_id} "…"')
    requested = Requested(context.actor, Status.CLARIFICATION, is_question=True)
    _request(context, task_id, requested, question=question)


def write_handoff(context: Context, task_id: TaskId, text: str) -> None:
    """Writes `## Handoff`, in place of one that is there."""
    check_handoff(text, f"gt handoff {task_id}")

    def write(transaction: Transaction) -> None:
        file = transaction.task_file(task_id)
        refuse_closed(file.task)
        if file.task.status not in _NOT_HANDED_OFF:
            raise RefusedError(
                f"`{task_id}` is already handed off: it is {file.task.status}",
                hint=f'`gt note {task_id} "…"` adds what is missing',
            )
        if file.section(Section.HANDOFF) == text.strip():
            return
        at, actor = context.now, context.actor
        written = file.with_section(Section.HANDOFF, text)
        transaction.put_task(written.with_task(replace(file.task, updated=at)))
        event = Event(EventType.TEXT_CHANGED, at, actor, data={"sections": [Section.HANDOFF.value]})
        record(transaction, task_id, "hand-off written", event)

    context.store.transact(write, author=context.author)


def check_handoff(text: str, how: str) -> None:
    """Refuses a hand-off without text; `how` begins the command that writes one."""
    if is_empty(text):
        raise UsageError("the hand-off is empty", hint=f'`{how} --done "…" --remaining "…"`')


class Session(NamedTuple):
    """An agent's session, as its environment says: the mailbox, which task it is for, and the time it is."""

    mailbox: Path
    actor: Actor
    task_id: TaskId | None
    at: datetime

    @property
    def name(self) -> str:
        """Returns what to call the task: its id, as far as the environment says."""
        return str(self.task_id or self.mailbox.parent.name)

    def read(self) -> TaskFile:
        """Returns the agent's copy of its task."""
        path = f"{self.mailbox}/TASK.md"
        try:
            with open_folder(self.mailbox) as folder:
                content = None if folder is None else read_file(folder, "TASK.md")
        except (OSError, UnfitError) as error:
            raise GitticksError(f"`{path}` cannot be read: {error}", hint=_HINT) from error
        if content is None:
            raise GitticksError(f"`{path}` is missing", hint=_HINT)
        return TaskFile.parse(content, path)

    def change(self, edit: Callable[[TaskFile], TaskFile]) -> None:
        """Replaces the agent's copy of its task; clients run several commands at once, which take turns."""
        try:
            with open_folder(self.mailbox) as folder:
                if folder is not None:
                    fcntl.flock(folder, fcntl.LOCK_EX)
                    write_file(folder, "TASK.md", edit(self.read()).data)
        except (OSError, UnfitError) as error:
            raise GitticksError(f"`{self.mailbox}/TASK.md` cannot be written: {error}", hint=_HINT) from error


def current_session(context: Context, named: str | None) -> Session | None:
    """Returns the session that we are in, None outside of one."""
    mailbox = context.mailbox
    if mailbox is None:
        return None
    task_id = context.task_here()
    if named is not None and task_id is not None and not task_id.startswith(named):
        raise RefusedError(
            f"this session works on `{task_id}`, not on `{named}`", hint="leave out the id, or use that one"
        )
    return Session(mailbox, context.actor, task_id, context.now)


def request_complete(session: Session) -> Request:
    """Asks for what comes after the work, or after the review; the artifact must be there."""
    file = session.read()
    if session.actor.role is not Role.REVIEWER:
        _check(session, file, Status.AGENT_REVIEW)
    elif file.review_outcome is not ReviewOutcome.FAIL:  # where a FAIL leads, the team's settings say
        _check(session, file, Status.REVIEWING)
    return _post(session, Request(RequestKind.COMPLETE))


def request_status(session: Session, status: Status) -> Request:
    """Asks for a status, as `gt update --status` does."""
    check_status(session, status)
    return _post(session, Request(RequestKind.STATUS, status=status))


def check_status(session: Session, status: Status) -> None:
    """Refuses a status at once that the runner would refuse, as far as the agent's copy tells."""
    _check(session, session.read(), status)


def request_question(session: Session, question: str) -> Request:
    """Writes a question into the agent's copy and asks for a person."""
    question = require_words(question, "question", 'gt ask "…"')
    add = _adding(session, Section.QUESTIONS, question)
    _check(session, add(session.read()), Status.CLARIFICATION)
    session.change(add)
    return _post(session, Request(RequestKind.ASK, question))


def request_note(session: Session, text: str) -> Request:
    """Writes a note into the agent's copy and asks the runner to take it up now."""
    text = require_words(text, "note", 'gt note "…"')
    session.change(_adding(session, Section.NOTES, text))
    return _post(session, Request(RequestKind.NOTE, text))


def request_handoff(session: Session, text: str) -> Request:
    """Writes `## Handoff` into the agent's copy."""
    check_handoff(text, "gt handoff")
    if session.actor.role not in (None, Role.WORKER):
        raise RefusedError(
            f"only the worker writes the hand-off, and this is a {session.actor.role}'s session",
            hint='`gt note "…"` leaves a note for the others',
        )
    session.change(lambda file: file.with_section(Section.HANDOFF, text))
    return _post(session, Request(RequestKind.HANDOFF, text))


def write_review(session: Session, verdict: ReviewOutcome, reasons: str) -> None:
    """Writes `## Review` into the agent's copy, where it counts once the session is over."""
    if session.actor.role is not Role.REVIEWER:
        raise RefusedError(
            "only a reviewer writes the review, and this is not a reviewer's session",
            hint=_HAND_OFF,
        )
    # The verdict has a line of its own, since reasons may contain the other word.
    text = f"{verdict.value.upper()}\n\n{reasons}".rstrip()
    session.change(lambda file: file.with_section(Section.REVIEW, text))


def _adding(session: Session, section: Section, text: str) -> Callable[[TaskFile], TaskFile]:
    entry = Entry(session.at, ActorKind.AGENT, session.actor.name, text)
    return lambda file: file.with_entry(section, entry)


def _post(session: Session, request: Request) -> Request:
    post(session.mailbox, request)
    return request


def _check(session: Session, file: TaskFile, status: Status) -> None:
    """Refuses at once what the runner would refuse, as far as the agent's copy tells."""
    from gitticks.store.decisions import read_artifacts
    from gitticks.workflow.decide import decide

    try:
        decide(
            file.task,
            Requested(session.actor, status),
            at=session.at,
            # The branch is where the agent is, and only the runner knows whether it moved since a hand-off.
            artifacts=read_artifacts(file, head=file.task.end_sha or file.task.start_sha),
            counts=Counts(),
            policy=Policy(),
        )
    except RefusedError as error:
        message = error.message.replace(file.task.file, f"{session.mailbox}/TASK.md")
        hint = _HINTS.get(status, "`gt note` leaves a note with what you found")
        if status is Status.REVIEWING and session.actor.role is not Role.REVIEWER:
            hint = _HAND_OFF
        raise RefusedError(message, hint=hint) from error
