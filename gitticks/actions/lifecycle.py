"""Gives tasks up, says that a person did them, and takes them up again."""

from __future__ import annotations

from dataclasses import dataclass
from shlex import quote
from typing import TYPE_CHECKING

from gitticks.actions.changing import circumstances_of
from gitticks.actions.context import Context
from gitticks.actions.evidence import uncommitted_in, workspace_of
from gitticks.errors import RefusedError
from gitticks.model.ids import TaskId
from gitticks.model.queries import TaskGraph
from gitticks.model.status import Status
from gitticks.model.task import Task
from gitticks.workflow.triggers import Closed, Reopened, Requested

if TYPE_CHECKING:
    from gitticks.store.transaction import Transaction
    from gitticks.workflow.triggers import Trigger

_SHOWN_PATHS = 3


@dataclass(frozen=True, slots=True)
class Moved:
    """A task before and after, and the open children that an epic leaves behind as orphans."""

    before: Task
    after: Task
    orphans: tuple[TaskId, ...] = ()


def cancel_task(context: Context, task_id: TaskId, reason: str | None) -> Moved:
    """Gives a task up; what was made for it stays on its branch.

    Raises:
        RefusedError: it is closed already, or this is an agent's session.
    """
    context.require_person("cancel a task")
    return _decide(context, task_id, Requested(context.actor, Status.CANCELLED, reason))


def close_task(context: Context, task_id: TaskId, reason: str | None) -> Moved:
    """Closes a task that a person did: awaiting work and approved in one; commits of its workspace are still merged.

    Raises:
        RefusedError: its workspace has uncommitted changes, it is an epic with open children, it is closed already,
            or this is an agent's session.
    """
    context.require_person("close a task")
    task = context.store.task_file(task_id).task
    if task.is_open:
        _refuse_uncommitted(context, task)
    return _decide(context, task_id, Closed(context.actor, reason))


def reopen_task(context: Context, task_id: TaskId) -> Moved:
    """Takes a closed task up again as if it were new.

    Raises:
        RefusedError: it is open, it would wait for itself, or this is an agent's session.
    """
    context.require_person("reopen a task")
    return _decide(context, task_id, Reopened(context.actor))


def _decide(context: Context, task_id: TaskId, trigger: Trigger) -> Moved:
    from gitticks.store.decisions import carry_out, follow_parent
    from gitticks.store.links import refuse_circle

    def write(transaction: Transaction) -> Moved:
        before = transaction.task_file(task_id).task
        children = _open_children(transaction, before)
        if isinstance(trigger, Closed):
            _refuse_children(before, children)
        if isinstance(trigger, Reopened) and (before.blocked_by or before.parent or before.is_epic):
            refuse_circle(transaction.all_tasks(), before)
        circumstances = circumstances_of(context, before)
        after = carry_out(transaction, task_id, trigger, circumstances).task
        if isinstance(trigger, Reopened) and after.is_epic:
            child = next(iter(TaskGraph.of(transaction.all_tasks().values()).children(task_id)), None)
            if child is not None:
                follow_parent(transaction, child, circumstances)
        return Moved(before, transaction.task_file(task_id).task, children if not after.is_open else ())

    return context.store.transact(write, author=context.author)


def _open_children(transaction: Transaction, task: Task) -> tuple[TaskId, ...]:
    if not task.is_epic:
        return ()
    children = TaskGraph.of(transaction.all_tasks().values()).children(task.id)
    return tuple(child.id for child in children if child.is_open)


def _refuse_children(task: Task, children: tuple[TaskId, ...]) -> None:
    if children:
        shown = ", ".join(f"`{child}`" for child in children)
        raise RefusedError(
            f"`{task.id}` has open children: {shown}", hint=f"close them first: `gt close {children[0]}`"
        )


def _refuse_uncommitted(context: Context, task: Task) -> None:
    """Refuses where the workspace holds work that no commit has: closing would leave it out of the merge."""
    workspace = workspace_of(context, task)
    paths = uncommitted_in(context, workspace) if workspace is not None else ()
    if paths:
        shown = ", ".join(f"`{path}`" for path in paths[:_SHOWN_PATHS])
        more = f" and {len(paths) - _SHOWN_PATHS} more" if len(paths) > _SHOWN_PATHS else ""
        raise RefusedError(
            f"the workspace of `{task.id}` has uncommitted changes: {shown}{more}",
            hint=f"`git -C {quote(str(workspace))} status` shows them: commit them or throw them away, then repeat",
        )
