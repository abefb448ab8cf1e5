"""Goes back to a checkpoint: the workspace's code, its scratchpad and its tasks' counters."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from gitticks.actions.checkpoints import find_checkpoint, require_code
from gitticks.actions.context import Context
from gitticks.actions.run import check_health
from gitticks.actions.sync_auto import claims_of
from gitticks.errors import NotFoundError, RefusedError
from gitticks.model.checkpoint import Checkpoint
from gitticks.model.ids import TaskId
from gitticks.model.queries import TaskGraph
from gitticks.model.status import Isolation
from gitticks.model.task import Task, Usage
from gitticks.runner import workspaces
from gitticks.runner.checkpoints import Rewound, rewind
from gitticks.runner.liveness import Holds
from gitticks.runner.records import Sessions
from gitticks.runner.scratchpad import rewind as rewind_scratchpad
from gitticks.store.checkpoints import members, scratchpad_of
from gitticks.store.decisions import carry_out
from gitticks.store.transaction import Transaction
from gitticks.workflow.triggers import Resumed

_MOST_NAMED = 5


class ResumedWork(NamedTuple):
    """A workspace that went back to a checkpoint, and the tasks that were given back to their agents."""

    checkpoint: Checkpoint
    rewound: Rewound
    tasks: tuple[TaskId, ...]


def resume_checkpoint(context: Context, text: str, *, force: bool) -> ResumedWork:
    """Takes a workspace back to a checkpoint: its code, its scratchpad and the counters of its tasks.

    Raises:
        RefusedError: an agent works there, or a task is done whose code would go.
        GitticksError: the code is gone, or work is uncommitted and `force` is not given; nothing was changed.
    """
    context.require_person("resume a task")
    checkpoint = find_checkpoint(context, text)
    require_code(context, checkpoint)
    check_health(context, lambda _event: None)
    snapshot = context.store.snapshot()
    there = members(snapshot, checkpoint.workspace)
    if not there:
        raise NotFoundError(f"there is no task `{checkpoint.workspace}` any more", hint="`gt list --all`")
    owner = next(one for one in there if one.id == checkpoint.workspace)
    claims = claims_of(context, context.warnings.append)
    graph = TaskGraph.of(snapshot.all_tasks().values(), snapshot.unreadable_ids())
    ids = {one.id for one in there} | (set(graph.below(owner.id)) if owner.is_epic else set())
    with Sessions(context.repository.own_dir).reserve(ids):
        _refuse_lost_work(context, checkpoint, there)
        plan = workspaces.plan(owner, graph, context.settings, context.repository)
        if plan.isolation is Isolation.NONE:
            raise RefusedError(
                f"`{owner.id}` is worked on in your own checkout, which gitticks does not reset",
                hint=f"`gt update {owner.id} --isolation task` gives it a workspace, then `gt resume {checkpoint.id}`; "
                f"or look at it yourself: `git switch --detach {checkpoint.commit[:10]}`",
            )
        back = _going_back(checkpoint, there)
        # Tried on a snapshot first: a refusal leaves the workspace alone.
        _carry_out(context, context.store.snapshot(), checkpoint, back)
        try:
            claims.take(owner.id)
            rewound = rewind(context.repository, plan, checkpoint, [one.id for one in there], force=force)
            context.store.transact(
                lambda transaction: _carry_out(context, transaction, checkpoint, back), author=context.author
            )
        finally:
            claims.end()
    holds = Holds(context.repository.own_dir)
    for task in back:
        holds.release(task.id)
    return ResumedWork(checkpoint, rewound, tuple(one.id for one in back))


def _refuse_lost_work(context: Context, checkpoint: Checkpoint, there: Iterable[Task]) -> None:
    objects = context.store.objects
    lost = [
        one
        for one in there
        if not one.is_open
        and one.id != checkpoint.workspace
        and one.end_sha is not None
        and not objects.is_ancestor(one.end_sha, checkpoint.head)
    ]
    if lost:
        shown = ", ".join(f"`{one.id}`" for one in lost[:_MOST_NAMED])
        raise RefusedError(
            f"{shown} {'was' if len(lost) == 1 else 'were'} closed after {checkpoint.id}, "
            f"and {'its' if len(lost) == 1 else 'their'} code would be lost",
            hint=f"`gt reopen {' '.join(one.id for one in lost)}` first, or resume a later checkpoint: "
            f"`gt checkpoints list {checkpoint.workspace}`",
        )


def _going_back(checkpoint: Checkpoint, there: Iterable[Task]) -> list[Task]:
    return [
        one
        for one in there
        if one.id in (checkpoint.workspace, checkpoint.task)
        or (one.is_open and one.usage != checkpoint.usage.get(one.id, Usage()))
    ]


def _carry_out(
    context: Context, transaction: Transaction, checkpoint: Checkpoint, back: Iterable[Task]
) -> None:
    objects = context.store.objects
    for known in back:
        task = transaction.task_file(known.id).task
        if not task.is_open and task.id != checkpoint.workspace:
            continue
        start = task.start_sha
        if start is not None and not objects.is_ancestor(start, checkpoint.head):
            start = checkpoint.head
        usage = task.usage if task.is_epic else checkpoint.usage.get(task.id, Usage())
        resumed = Resumed(context.actor, checkpoint.id, checkpoint.head, usage, start)
        carry_out(transaction, task.id, resumed, context.circumstances(task))
    _restore_scratchpad(transaction, checkpoint)


def _restore_scratchpad(transaction: Transaction, checkpoint: Checkpoint) -> None:
    path = scratchpad_of(transaction.task_file(checkpoint.task).task)
    now = (transaction.read(path) or b"").decode("utf-8", "replace")
    tasks = {one.id for one in members(transaction, checkpoint.workspace)}
    after = rewind_scratchpad(now, checkpoint.scratchpad, tasks)
    if after != now:
        transaction.write(path, after.encode())
