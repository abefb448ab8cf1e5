"""Cancels tasks, closes those that a person completed, and reopens them."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from shlex import quote

from gitticks.actions.changing import (
    Moved,
    circumstances_of,
    warn_of_closed_epic,
    warn_of_leaving,
)
from gitticks.actions.context import Context
from gitticks.actions.evidence import astray_in, occupied_by_other, refuse_put_aside
from gitticks.errors import GitticksError, RefusedError, first_of
from gitticks.git.checkouts import checkout_at
from gitticks.model.ids import TaskId
from gitticks.model.queries import TaskGraph
from gitticks.model.status import Awaiting, Status
from gitticks.model.task import Task
from gitticks.runner.liveness import Holds, live_tasks
from gitticks.runner.needed_code import require_code, require_head
from gitticks.runner.records import Sessions
from gitticks.runner.workspace_plan import own_folders, uncommitted_paths
from gitticks.runner.workspace_removal import workspace_of
from gitticks.store.decisions import carry_out, follow_parent
from gitticks.store.links import refuse_cycle
from gitticks.store.transaction import Transaction
from gitticks.workflow.triggers import NO_PROOF, Closed, Proof, Reopened, Requested, Seen, Trigger

_SHOWN_PATHS = 3
_LONGEST_STOP_SECONDS = 60.0
_LOOK_SECONDS = 0.1


def cancel_task(context: Context, task_id: TaskId, reason: str | None) -> Moved:
    """Gives a task up; an agent that works on it is stopped, and what was made for it stays on its branch."""
    context.require_person("cancel a task")
    is_stopped = context.store.task_file(task_id).task.is_open and is_worked_on(context, task_id)
    if is_stopped:
        _stop_agent(context, task_id)
        context.warnings.append(f"the agent of `{task_id}` was stopped")
    with _held_on_error(context, task_id, is_stopped=is_stopped):
        moved = _decide(context, task_id, Requested(context.actor, Status.CANCELLED, reason))
    Holds(context.repository.own_dir).release(task_id)
    warn_of_leaving(context, moved.before, moved.after)
    return moved


def close_task(
    context: Context,
    task_id: TaskId,
    reason: str | None,
    *,
    stops_agent: bool = False,
    seen: Seen | None = None,
    proof: Callable[[], Proof] | None = None,
) -> Moved:
    """Closes a task that a person did: awaiting work and approved in one; commits of its workspace are still merged.

    With `stops_agent` an agent that works on it is stopped first, so that all it committed is merged. `proof` is asked
    for then, how strongly the person says so; what they have `seen`, if given, is all that is closed.
    """
    context.require_person("close a task")
    task = context.store.task_file(task_id).task
    is_stopped = task.is_open and is_worked_on(context, task_id)
    if is_stopped:
        if not stops_agent:
            raise RefusedError(
                f"an agent is working on `{task_id}`",
                hint=f"`gt close {task_id} --stop` stops it and merges what it committed",
            )
        _stop_agent(context, task_id)
        task = context.store.task_file(task_id).task
    with _held_on_error(context, task_id, is_stopped=is_stopped):
        if task.is_open:
            _refuse_uncommitted(context, task)
        closed = Closed(context.actor, reason, seen, NO_PROOF if proof is None else proof())
        moved = _decide(context, task_id, closed)
    Holds(context.repository.own_dir).release(task_id)
    return moved


@contextmanager
def _held_on_error(context: Context, task_id: TaskId, *, is_stopped: bool) -> Iterator[None]:
    """Keeps a task held whose agent was stopped for a change that fails, and says so."""
    try:
        yield
    except GitticksError as error:
        if is_stopped:
            Holds(context.repository.own_dir).hold(task_id)
            held = f"its agent was stopped, and `gt run {task_id}` starts it again"
            error.hint = f"{error.hint}; {held}" if error.hint else held
        raise


def is_worked_on(context: Context, task_id: TaskId) -> bool:
    """True while an agent's session on the task lives in this clone."""
    return task_id in live_tasks(context.repository.own_place)


def _stop_agent(context: Context, task_id: TaskId) -> None:
    """Stops the task's agent and waits for its end; the task stays held, and a run waits for what is decided."""
    holds = Holds(context.repository.own_dir)
    holds.hold(task_id, is_deciding=True)
    give_up_at = time.monotonic() + _LONGEST_STOP_SECONDS
    while is_worked_on(context, task_id):
        if time.monotonic() > give_up_at:
            holds.hold(task_id)
            raise GitticksError(
                f"the agent of `{task_id}` does not stop, so the task was not changed",
                hint="`gt status` shows it",
            )
        time.sleep(_LOOK_SECONDS)


def reopen_task(context: Context, task_id: TaskId) -> Moved:
    """Takes a closed task up again as if it were new."""
    context.require_person("reopen a task")
    moved = _decide(context, task_id, Reopened(context.actor))
    Sessions(context.repository.own_dir).note_left(task_id, None)
    warn_of_closed_epic(context, moved.after)
    return moved


def _decide(context: Context, task_id: TaskId, trigger: Trigger) -> Moved:
    def write(transaction: Transaction) -> Moved:
        before = transaction.task_file(task_id).task
        circumstances = circumstances_of(context, before)
        after = carry_out(transaction, task_id, trigger, circumstances).task
        if isinstance(trigger, Reopened) and (before.blocked_by or before.parent or before.is_epic):
            refuse_cycle(transaction.all_tasks(), after)
        if isinstance(trigger, Closed) and (after.is_merging or after.carrier):
            (require_code if before.awaiting is Awaiting.WORK else require_head)(context.repository, before)
        if isinstance(trigger, Reopened) and after.is_epic:
            children = TaskGraph.of(transaction.all_tasks().values()).children(task_id)
            if children:
                follow_parent(transaction, children[0], circumstances)
            reopened = transaction.task_file(task_id).task
            if not reopened.is_open or reopened.is_merging:
                raise RefusedError(
                    f"all tasks of `{task_id}` are closed, so it would be closed again at once",
                    hint=f'`gt reopen {children[0].id}` or `gt create "…" --parent {task_id}` first, then `gt reopen {task_id}`',
                )
        return Moved(before, transaction.task_file(task_id).task)

    return context.store.transact(write, author=context.author)


def _refuse_uncommitted(context: Context, task: Task) -> None:
    """Refuses where the workspace holds work that its branch does not have: the merge would leave it out."""
    workspace = workspace_of(context.repository, context.settings, task)
    if workspace is None:
        return
    checkout = checkout_at(context.repository, workspace)
    refuse_put_aside(context, task, workspace)
    if occupied_by_other(context, task, workspace) is not None:
        return  # what is uncommitted there is that of another task
    paths = uncommitted_paths(checkout, own_folders(context.settings))
    if paths:
        shown = first_of([f"`{path}`" for path in paths], _SHOWN_PATHS)
        raise RefusedError(
            f"the workspace of `{task.id}` has uncommitted changes: {shown}",
            hint=f"`git -C {quote(str(workspace))} status` shows them: commit or discard them, then try again",
        )
    astray = astray_in(context, task, workspace, is_tested_there=False)
    if astray is not None:
        raise RefusedError(
            f"work on `{task.id}` would not be merged: {astray}",
            hint=f"`cd {quote(str(workspace))}` and run that, then try again",
        )
