"""What an agent asks for from inside its session: checked at once against its mailbox, then left in the outbox.

An agent cannot, and inside a sandbox must not, reach the state branch. Its own copy of the task tells early what the
runner will say in a moment; the runner decides.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from gitticks.actions.changing import require_words
from gitticks.actions.context import Context
from gitticks.actions.handover import check_handoff
from gitticks.errors import GitticksError, RefusedError
from gitticks.model.event import Actor
from gitticks.model.ids import TaskId
from gitticks.model.notes import Entry, ReviewOutcome, Section
from gitticks.model.settings import Policy
from gitticks.model.status import ActorKind, Role, Status
from gitticks.runner.outbox import Request, RequestKind, post

if TYPE_CHECKING:
    from gitticks.document.taskfile import TaskFile

_HINTS = {
    Status.AGENT_REVIEW: '`gt handoff --done "…" --remaining "…"` writes it',
    Status.REVIEWING: "write `## Review` there, with a line that says PASS or FAIL",
    Status.CLARIFICATION: '`gt ask "…"` writes the question',
}
_HINT = "`echo $GITTICKS_MAILBOX` must name the folder `.gt` of a workspace"


@dataclass(frozen=True, slots=True)
class Session:
    """An agent's session, as its environment tells: the mailbox, which task it is for, and the time it is."""

    mailbox: Path
    actor: Actor
    task_id: TaskId | None
    at: datetime

    @property
    def name(self) -> str:
        """Returns what to call the task: its id, as far as the environment says."""
        return str(self.task_id or self.mailbox.parent.name)

    def read(self) -> TaskFile:
        """Returns the agent's copy of its task.

        Raises:
            GitticksError: the copy is gone or cannot be read.
        """
        from gitticks.document.taskfile import TaskFile
        from gitticks.runner.untrusted_files import UnfitError, open_folder, read_file

        path = f"{self.mailbox}/TASK.md"
        try:
            with open_folder(self.mailbox) as folder:
                content = None if folder is None else read_file(folder, "TASK.md")
        except (OSError, UnfitError) as error:
            raise GitticksError(f"`{path}` cannot be read: {error}", hint=_HINT) from error
        if content is None:
            raise GitticksError(f"`{path}` is missing", hint=_HINT)
        return TaskFile.parse(content, path)

    def write(self, file: TaskFile) -> None:
        """Replaces the agent's copy of its task.

        Raises:
            GitticksError: the mailbox cannot be written to.
        """
        from gitticks.runner.untrusted_files import UnfitError, open_folder, write_file

        try:
            with open_folder(self.mailbox) as folder:
                if folder is not None:
                    write_file(folder, "TASK.md", file.data)
        except (OSError, UnfitError) as error:
            raise GitticksError(f"`{self.mailbox}/TASK.md` cannot be written: {error}", hint=_HINT) from error


def current_session(context: Context, named: str | None) -> Session | None:
    """Returns the session that we are in, None outside of one.

    Raises:
        RefusedError: another task is named than the session's.
    """
    mailbox = context.mailbox
    if mailbox is None:
        return None
    task_id = context.task_here()
    if named is not None and task_id is not None and not task_id.startswith(named):
        raise RefusedError(
            f"this session works on `{task_id}`, not on `{named}`", hint="leave the id out, or give that one"
        )
    return Session(mailbox, context.actor, task_id, context.now)


def request_complete(session: Session) -> Request:
    """Asks for what comes after the work, or after the review; the artifact must be there.

    Raises:
        RefusedError: it is missing, or the task is not at that point.
    """
    file = session.read()
    if session.actor.role is not Role.REVIEWER:
        _check(session, file, Status.AGENT_REVIEW)
        return _post(session, Request(RequestKind.COMPLETE))
    outcome = file.review_outcome
    if outcome is ReviewOutcome.FAIL:
        return _post(session, Request(RequestKind.STATUS, status=_after_fail(file)))
    _check(session, file, Status.REVIEWING)
    return _post(session, Request(RequestKind.COMPLETE))


def _after_fail(file: TaskFile) -> Status:
    from gitticks.workflow.gates import is_at_limit

    return Status.STUCK if is_at_limit(file.task, Policy()) else Status.WORKING


def request_status(session: Session, status: Status) -> Request:
    """Asks for a status, as `gt update --status` does.

    Raises:
        RefusedError: the table or a gate forbids it.
    """
    _check(session, session.read(), status)
    return _post(session, Request(RequestKind.STATUS, status=status))


def request_question(session: Session, question: str) -> Request:
    """Writes a question into the agent's copy and asks for a person.

    Raises:
        UsageError: the question is empty.
    """
    question = require_words(question, "question", 'gt ask "…"')
    file = _with_entry(session, Section.QUESTIONS, question)
    _check(session, file, Status.CLARIFICATION)
    session.write(file)
    return _post(session, Request(RequestKind.ASK, question))


def request_note(session: Session, text: str) -> Request:
    """Writes a note into the agent's copy and asks the runner to take it up now.

    Raises:
        UsageError: the note is empty.
    """
    text = require_words(text, "note", 'gt note "…"')
    session.write(_with_entry(session, Section.NOTES, text))
    return _post(session, Request(RequestKind.NOTE, text))


def request_handoff(session: Session, text: str) -> Request:
    """Writes `## Handoff` into the agent's copy.

    Raises:
        UsageError: the text is empty.
        RefusedError: a reviewer or clarifier asks, whose hand-off would be dropped.
    """
    check_handoff(text)
    if session.actor.role not in (None, Role.WORKER):
        raise RefusedError(
            f"only the worker writes the hand-off, and this is the {session.actor.role}'s session",
            hint='`gt note "…"` tells the others',
        )
    session.write(session.read().with_section(Section.HANDOFF, text))
    return _post(session, Request(RequestKind.HANDOFF, text))


def _with_entry(session: Session, section: Section, text: str) -> TaskFile:
    return session.read().with_entry(section, Entry(session.at, ActorKind.AGENT, session.actor.name, text))


def _post(session: Session, request: Request) -> Request:
    post(session.mailbox, request)
    return request


def _check(session: Session, file: TaskFile, status: Status) -> None:
    """Refuses at once what the runner would refuse, as far as the agent's copy tells."""
    from gitticks.store.decisions import read_artifacts
    from gitticks.workflow.artifacts import Counts
    from gitticks.workflow.decide import decide
    from gitticks.workflow.triggers import Requested

    try:
        decide(
            file.task,
            Requested(session.actor, status),
            at=session.at,
            artifacts=read_artifacts(file),
            counts=Counts(),
            policy=Policy(),
        )
    except RefusedError as error:
        message = error.message.replace(file.task.file, f"{session.mailbox}/TASK.md")
        raise RefusedError(
            message, hint=_HINTS.get(status, "`gt note` tells people what you found")
        ) from error
