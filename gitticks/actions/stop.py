"""Stops a run, or one task's agent, from another terminal; what they did stays."""

from __future__ import annotations

from gitticks.actions.context import Context
from gitticks.actions.run import is_run_alive
from gitticks.errors import GitticksError
from gitticks.model.ids import TaskId
from gitticks.runner.records import Sessions
from gitticks.runner.stop_requests import Holds


def stop_run(context: Context) -> None:
    """Asks the run of this clone to end after its running iterations.

    Raises:
        GitticksError: none is alive.
    """
    context.require_person("stop a run")
    if not is_run_alive(context.repository):
        raise GitticksError("no run is alive in this clone", hint="`gt status`")
    Holds(context.repository.own_dir).ask_run_to_stop()


def stop_task(context: Context, task_id: TaskId) -> bool:
    """Holds a task back in this clone until `gt run <id>`; returns whether its agent was alive."""
    context.require_person("stop a task")
    own_dir = context.repository.own_dir
    Holds(own_dir).hold(task_id)
    return task_id in Sessions(own_dir).live()
