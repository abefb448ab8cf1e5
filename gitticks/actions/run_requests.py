"""Requests to a run from outside: add, stop or kill a task or epic, pause, end."""

from __future__ import annotations

import time
from collections.abc import Sequence
from contextlib import suppress

from gitticks.actions.changing import refuse_closed
from gitticks.actions.context import Context
from gitticks.errors import DocumentError, GitticksError, RefusedError
from gitticks.model.ids import TaskId
from gitticks.model.queries import TaskGraph
from gitticks.runner.liveness import Holds, is_run_alive_at, takes_work_at
from gitticks.runner.records import Sessions

_TAKEN_SECONDS = 10.0
_POLL_SECONDS = 0.05


def stop_run(context: Context) -> None:
    """Asks the run of this clone to end after its running iterations."""
    context.require_person("stop a run")
    _require_run(context, "`gt status`")
    Holds(context.repository.own_dir).ask_run_to_stop()


def pause_runs(context: Context) -> None:
    """Keeps the runs of this clone from beginning anything new; what is running finishes."""
    context.require_person("pause a run")
    Holds(context.repository.own_dir).pause()


def unpause_runs(context: Context) -> bool:
    """Lets the runs of this clone continue; returns whether they were paused."""
    context.require_person("let a run go on")
    return Holds(context.repository.own_dir).unpause()


def stop_one(context: Context, task_id: TaskId, *, at_once: bool) -> tuple[TaskId, ...]:
    """Holds a task, or an epic with all below it, back in this clone until `gt run <id>`; others continue.

    Agents at work end after their iteration, or are stopped `at_once`. Returns the tasks that one works on.

    Raises:
        RefusedError: the task is approved, so that only its merge is left; or it is closed, with all below it.
    """
    context.require_person("stop a task")
    with suppress(DocumentError):  # the agent of a task whose file is broken can be stopped
        if context.store.task_file(task_id).task.is_merging:
            raise RefusedError(
                f"`{task_id}` is approved, and only its merge is left",
                hint=f"`gt update {task_id} --awaiting review` takes the approval back",
            )
    own_dir = context.repository.own_dir
    holds, live = Holds(own_dir), Sessions(own_dir).live()
    tasks = context.store.snapshot().all_tasks()
    below = TaskGraph.of(tasks.values()).below(task_id) - {task_id}
    named = (task_id, *sorted(below))
    stopped = tuple(one for one in named if one not in tasks or tasks[one].is_open or one in live)
    if not stopped:
        refuse_closed(tasks[task_id])
    for one in stopped:
        holds.hold(one, ends_session=at_once)
    return tuple(one for one in stopped if one in live)


def add_to_run(context: Context, task_ids: Sequence[TaskId]) -> bool:
    """Adds tasks and epics to the run that is alive in this clone; False if it has not answered yet.

    What was stopped of them may be started again.

    Raises:
        GitticksError: no run is alive, or it ended before it took them.
    """
    context.require_person("add to a run")
    hint = f"`gt run {' '.join(task_ids)}` starts one"
    _require_run(context, hint)
    holds = Holds(context.repository.own_dir)
    if not takes_work_at(context.repository.own_place):
        raise GitticksError("the run ends and takes nothing more", hint=f"{hint} once it has ended")
    holds.release_named(TaskGraph.of(context.store.snapshot().all_tasks().values()), task_ids)
    for task_id in task_ids:
        holds.ask_to_add(task_id)
    deadline = time.monotonic() + _TAKEN_SECONDS
    while holds.is_asked_to_add(task_ids):
        if not is_run_alive_at(context.repository.own_place):
            holds.forget_added(task_ids)
            raise GitticksError("the run ended before it accepted this", hint=hint)
        if time.monotonic() > deadline:
            return False
        time.sleep(_POLL_SECONDS)
    return True


def _require_run(context: Context, hint: str) -> None:
    if not is_run_alive_at(context.repository.own_place):
        raise GitticksError("no run is active in this clone", hint=hint)
