"""Starts an interactive clarifier session on a task that asks a question, in the user's terminal."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from gitticks.actions.background import in_background
from gitticks.actions.run import run_context
from gitticks.agents.base import Front
from gitticks.agents.interactive import require_interactive
from gitticks.agents.process import StopRequest
from gitticks.model.status import Role
from gitticks.runner.options import RunOptions
from gitticks.runner.reviewing import require_program
from gitticks.runner.session import SessionRun

if TYPE_CHECKING:
    from collections.abc import Callable

    from gitticks.actions.context import Context
    from gitticks.model.ids import TaskId
    from gitticks.model.task import Task
    from gitticks.runner.events import RunEvent


_LOOK_SECONDS = 0.5


def clarify(
    context: Context, task_id: TaskId, listener: Callable[[RunEvent], None], *, agent: str | None = None
) -> Task:
    """Lets a person talk to the clarifier in the task's workspace, and returns the task as it stands then.

    What the clarifier notes is kept; the answer is the person's, by `gt respond`.

    Raises:
        GitticksError: the agent is not installed, or nobody can talk to it.
        RefusedError: an agent works on the task already, or it asks nothing.
    """
    context.require_person("talk to a clarifier")
    run = run_context(context, listener, RunOptions(agent=agent, front=Front.TERMINAL))
    stop = StopRequest()
    session = SessionRun(run, task_id, Role.CLARIFIER, stop)
    require_interactive(session.agent)
    require_program(session.agent, run.registry)

    was_held = task_id in run.holds.held()
    run.holds.release(task_id)  # so that a stop from now on is seen; the session keeps runs away

    def watch(over: threading.Event) -> None:
        while not over.wait(_LOOK_SECONDS):
            if task_id in run.holds.held() and run.holds.ends_session(task_id):
                stop.request()
                return

    try:
        with in_background(watch, f"stop of {task_id}"):
            return session.execute().task
    finally:
        if was_held:
            run.holds.hold(task_id)
