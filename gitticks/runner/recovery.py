"""Finds sessions whose runner died and finishes them by the same rules as a runner would have."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gitticks.agents.base import AgentReport, is_session_id
from gitticks.agents.process import StopRequest
from gitticks.errors import GitticksError, NotFoundError
from gitticks.model.event import Actor, Event, EventType
from gitticks.model.ids import TaskId
from gitticks.model.status import ActorKind
from gitticks.model.task import Ending, SessionRecord
from gitticks.runner import workspaces
from gitticks.runner.events import Warned
from gitticks.runner.finishing import SessionEnding, finish_session, look_for_left_behind

if TYPE_CHECKING:
    from gitticks.runner.context import RunContext


def recover(run: RunContext) -> list[TaskId]:
    """Finishes every dead session of this clone and returns their tasks, oldest session first."""
    return [record.task for record in run.sessions.dead() if recover_session(run, record, StopRequest())]


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
    session_id = record.session_id if is_session_id(record.session_id or "") else None
    detail = "the runner died with the session"
    report = AgentReport(Ending.INTERRUPTED, detail=detail, session_id=session_id)
    ending = SessionEnding(actor, record.role, record.round, report)
    # Before the mailbox was filled, what lies there is an earlier session's and has been judged.
    workspace = (
        workspaces.find(run.repository, file.task, Path(record.workspace)) if record.is_briefed else None
    )
    try:
        finish_session(run, store, file, ending, workspace=workspace, stop=stop)
    except GitticksError as error:
        run.emit(Warned(record.task, f"its interrupted session could not be finished: {error.message}"))
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
