"""Begins a task by hand: a workspace of its own, for a person or an agent that no runner started."""

from __future__ import annotations

import socket
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from gitticks.actions.context import Context
from gitticks.actions.trust import require_team_trusted
from gitticks.agents.base import neutral_environment
from gitticks.errors import RefusedError
from gitticks.model.ids import TaskId
from gitticks.model.queries import TaskGraph
from gitticks.model.status import BY_HAND, Isolation, Role, Status
from gitticks.model.task import Claim, Task
from gitticks.runner import mailbox, workspaces
from gitticks.runner.prompt import build_prompt
from gitticks.runner.records import Sessions
from gitticks.runner.workspace_setup import name_committer
from gitticks.store.decisions import carry_out
from gitticks.workflow.triggers import SessionStarted

if TYPE_CHECKING:
    from gitticks.store.transaction import Transaction

_CLAIM_DAYS = 30
"""How long runners leave a task alone that was begun by hand; handing it over ends that earlier."""


@dataclass(frozen=True, slots=True)
class Started:
    """A task begun by hand, and where to work on it."""

    task: Task
    path: Path


def start_task(context: Context, task_id: TaskId) -> Started:
    """Claims a task, makes its workspace and sets it working."""
    own_dir = context.repository.own_dir
    if task_id in Sessions(own_dir).live():
        raise RefusedError(f"an agent works on `{task_id}`", hint=f"`gt stop {task_id}` ends it")
    require_team_trusted(context)
    snapshot = context.store.snapshot()
    graph = TaskGraph.of(snapshot.all_tasks().values(), snapshot.unreadable_ids())
    task = context.store.task_file(task_id).task
    blockers = graph.open_blockers(task)
    if blockers:
        named = ", ".join(f"`{one}`" for one in blockers)
        raise RefusedError(f"`{task_id}` waits for {named}", hint=f"`gt show {blockers[0]}`")
    plan = workspaces.plan(task, graph, context.settings, context.repository)
    started = SessionStarted(context.actor, Role.WORKER, plan.base, plan.branch, plan.start_sha)
    circumstances = context.circumstances(task)
    claim = Claim(
        f"{BY_HAND}{context.actor.name}",
        socket.gethostname(),
        context.now,
        context.now + timedelta(days=_CLAIM_DAYS),
    )

    def operation(transaction: Transaction) -> None:
        if _is_begun(transaction.task_file(task_id).task, claim):
            return
        carry_out(transaction, task_id, started, circumstances)
        file = transaction.task_file(task_id)
        transaction.put_task(file.with_task(replace(file.task, claim=claim)))

    environment = neutral_environment(context.world.environment)
    # Tried on a snapshot first: a refusal must not leave a workspace behind, nor a failed workspace a working task.
    carry_out(context.store.snapshot(), task_id, started, circumstances)
    workspace = workspaces.prepare(context.repository, plan, context.settings, environment)
    if workspace.isolation is not Isolation.NONE:
        name_committer(context.repository, workspace.path, None)
    context.store.transact(operation, author=context.author)
    file = context.store.task_file(task_id)
    mailbox.fill(workspace, file, build_prompt(context.store, file, Role.WORKER, workspace, context.settings))
    return Started(file.task, workspace.path)


def _is_begun(task: Task, claim: Claim) -> bool:
    """True if the same person has begun the task here already, so that starting it again says nothing new."""
    known = task.claim
    return (
        task.status is Status.WORKING
        and known is not None
        and (known.runner, known.host) == (claim.runner, claim.host)
        and known.expires > claim.since
    )
