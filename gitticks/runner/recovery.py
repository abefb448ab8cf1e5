"""Finds sessions whose runner died and finishes them by the same rules as a runner would have."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from gitticks.agents.base import AgentReport
from gitticks.agents.stopping import StopRequest
from gitticks.errors import GitticksError, NotFoundError
from gitticks.model.event import Actor
from gitticks.model.ids import TaskId
from gitticks.model.session import Ending, SessionRecord
from gitticks.model.status import ActorKind
from gitticks.runner import workspaces
from gitticks.runner.events import Warned
from gitticks.runner.finishing import SessionEnding, finish_session

if TYPE_CHECKING:
    from gitticks.runner.context import RunContext


def recover(run: RunContext) -> list[TaskId]:
    """Finishes every dead session of this clone and returns their tasks, oldest session first."""
    found = []
    for record in run.sessions.dead():
        with run.sessions.adopt(record) as is_ours:
            if is_ours:
                found.append(record.task)
                _finish(run, record)
    return found


def _finish(run: RunContext, record: SessionRecord) -> None:
    store = run.open_store()
    try:
        file = store.task_file(record.task)
    except NotFoundError:
        return
    report = AgentReport(Ending.INTERRUPTED, detail="the runner died with the session")
    ending = SessionEnding(
        Actor(ActorKind.AGENT, record.agent, record.role), record.role, record.round, report
    )
    workspace = workspaces.find(run.repository, file.task, Path(record.workspace))
    try:
        finish_session(run, store, file, ending, workspace=workspace, stop=StopRequest())
    except GitticksError as error:
        run.emit(Warned(record.task, f"its interrupted session could not be finished: {error.message}"))
