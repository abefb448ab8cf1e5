"""Finishes the sessions of dead runners, by the same rules as a runner."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gitticks.agents.base import AgentReport
from gitticks.agents.process import StopRequest
from gitticks.errors import GitticksError, NotFoundError, RefusedError
from gitticks.machine_errors import machine_error_of
from gitticks.model.event import Actor, Event, EventType
from gitticks.model.ids import TaskId
from gitticks.model.status import ActorKind
from gitticks.model.task import SessionRecord
from gitticks.runner.events import Warned
from gitticks.runner.finishing import SessionEnding, finish_session, has_handoff, look_for_left_behind
from gitticks.workflow.sessions import wants_checks

if TYPE_CHECKING:
    from gitticks.runner.context import RunContext
    from gitticks.runner.mailbox import Delivery
    from gitticks.runner.outbox import Request


def recover(run: RunContext) -> list[TaskId]:
    """Finishes every dead session of this clone and returns their tasks, oldest session first."""
    return [record.task for record in run.sessions.dead() if _try_to_recover(run, record)]


def _try_to_recover(run: RunContext, record: SessionRecord) -> bool:
    """Finishes a dead session; one that cannot be finished now stays, and does not keep the others from it."""
    try:
        return recover_session(run, record, StopRequest())
    except OSError as error:
        refused = machine_error_of(error)
        if refused is None:
            raise
        message = refused.message
    except GitticksError as error:
        message = error.message
    run.emit(Warned(record.task, f"its interrupted session could not be processed: {message}"))
    return False


def recover_session(run: RunContext, record: SessionRecord, stop: StopRequest) -> bool:
    """Finishes a dead session; False if somebody else does, or if there is nothing to finish.

    `stop` ends the checks that its end may ask for.
    """
    with run.sessions.adopt(record) as is_ours:
        return is_ours and _finish(run, record, stop)


def _finish(run: RunContext, record: SessionRecord, stop: StopRequest) -> bool:
    """Returns whether there was something to finish: the runner may have died before the start, or after the end."""
    store = run.open_store()
    try:
        file = store.task_file(record.task)
    except NotFoundError:
        return False
    if not _is_unfinished(store.history(record.task), record):
        return False
    actor = Actor(ActorKind.AGENT, record.agent, record.role)
    look_for_left_behind(run, actor, record.task)

    def ending(report: AgentReport) -> SessionEnding:
        return SessionEnding(actor, record.role, record.round, report)

    def is_to_check(end: AgentReport | Request, delivery: Delivery) -> bool:
        if not isinstance(end, AgentReport):
            return False
        present = store.task_file(record.task)
        return wants_checks(present.task, ending(end).trigger(), handoff=has_handoff(present, delivery))

    result = run.place.recover(record, file, stop, is_to_check)
    try:
        finish_session(run, store, file, ending(result.report), result)
    except RefusedError as error:
        run.emit(Warned(record.task, f"its interrupted session no longer counts: {error.message}"))
    return True


def _is_unfinished(history: tuple[Event, ...], record: SessionRecord) -> bool:
    """True if the last that the history tells of a session in this role is its start."""
    last = next(
        (
            event.type
            for event in reversed(history)
            if event.type in (EventType.SESSION_STARTED, EventType.SESSION_ENDED)
            and event.data.get("role") == record.role.value
        ),
        None,
    )
    return last is EventType.SESSION_STARTED
