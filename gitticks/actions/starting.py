"""Starting a task by hand in its workspace."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from gitticks.actions.context import Context
from gitticks.actions.run import keeping_warnings, run_context
from gitticks.actions.trust import require_team_trusted, settings_here
from gitticks.agents.base import neutral_environment
from gitticks.document.merging.task import is_conflicted
from gitticks.errors import NotFoundError, RefusedError
from gitticks.git.checkouts import checkout_at
from gitticks.git.refs import read_ref
from gitticks.model.graph import blockers_in_words
from gitticks.model.ids import TaskId
from gitticks.model.queries import TaskGraph
from gitticks.model.status import BY_HAND, Isolation, Role, Status
from gitticks.model.task import Claim, Task
from gitticks.runner import mailbox, workspaces
from gitticks.runner.claiming import RunClaims
from gitticks.runner.finishing import recover
from gitticks.runner.partial_work import partial_ref
from gitticks.runner.prompt import build_prompt, with_notes
from gitticks.runner.records import Sessions
from gitticks.runner.workspace_plan import (
    Workspace,
    is_by_hand_here,
    read_occupant,
    sharing_workspace,
)
from gitticks.runner.workspace_setup import name_committer
from gitticks.store.decisions import carry_out
from gitticks.store.transaction import Transaction
from gitticks.workflow.triggers import SessionStarted

_CLAIM_DAYS = 30
"""How long runners leave a task alone that was started by hand; handing it over ends that earlier."""


def start_task(
    context: Context, task_id: TaskId, claims: RunClaims, *, take_over: bool = False
) -> tuple[Task, Path]:
    """Claims a task, makes its workspace and sets it working; returns it, and where to work on it.

    Raises:
        RefusedError: somebody else started it, and `take_over` is not given; or it cannot be started now.
    """
    if context.mailbox is not None:  # an agent that a person started by hand may; one of a run has its task
        context.require_person("start a task", '`gt note "…"` leaves a note about what else should be done')
    require_team_trusted(context)
    sessions = Sessions(context.repository.own_dir)
    if sessions.dead():  # what their agents left is taken before the mailbox is filled anew
        recover(run_context(context, keeping_warnings(context)))
    snapshot = context.store.snapshot()
    graph = TaskGraph.of(snapshot.all_tasks().values(), snapshot.unreadable_ids())
    task = context.store.task_file(task_id).task
    beside = sharing_workspace(task, graph, context.settings)
    _refuse_others_there(context, task, beside, take_over=take_over)
    with sessions.reserve([task_id, *(one.id for one in beside)]):
        claims.take(task_id)
        try:
            return _start(context, task_id, graph, take_over=take_over)
        finally:
            claims.end()  # from now on the file itself says who has it


def _start(context: Context, task_id: TaskId, graph: TaskGraph, *, take_over: bool) -> tuple[Task, Path]:
    task = context.store.task_file(task_id).task
    blockers = graph.open_blockers(task)
    if blockers:
        named = ", ".join(blockers_in_words(graph, task))
        raise RefusedError(f"`{task_id}` waits for {named}", hint=f"`gt show {blockers[0]}`")
    plan = workspaces.plan(task, graph, context.settings, context.repository)
    left = _occupant_of(context, plan)
    put_aside = None if left is None else read_ref(context.repository.common_dir, partial_ref(left))
    started = SessionStarted(context.actor, Role.WORKER, plan.base, plan.work_branch, plan.start_sha)
    circumstances = context.circumstances(task)
    claim = Claim(
        f"{BY_HAND}{context.actor.name}",
        socket.gethostname(),
        context.now,
        context.now + timedelta(days=_CLAIM_DAYS),
    )

    def begin(transaction: Transaction) -> None:
        before = transaction.task_file(task_id).task
        if not _is_begun(before, claim, take_over=take_over) or before.branch != plan.work_branch:
            carry_out(transaction, task_id, started, circumstances)
            file = transaction.task_file(task_id)
            transaction.put_task(file.with_task(replace(file.task, claim=claim)))

    environment = neutral_environment(context.world.environment)
    # Tried on a snapshot first: a refusal must not leave a workspace behind, nor a failed workspace a working task.
    begin(context.store.snapshot())
    settings = context.settings if context.settings.setup.run is None else settings_here(context)
    workspace = workspaces.prepare(context.repository, plan, settings, environment)
    if workspace.isolation is not Isolation.NONE:
        name_committer(context.repository, workspace.path, None)
    context.store.transact(begin, author=context.author)
    context.warnings += workspace.warnings
    if left not in (None, task_id) and put_aside != read_ref(
        context.repository.common_dir, partial_ref(left)
    ):
        context.warnings.append(
            f"what was not committed of `{left}` was put aside: `gt start {left}` brings it back"
        )
    file = context.store.task_file(task_id)
    if is_conflicted(file):
        context.warnings.append(f"its text is in conflict: `gt edit {task_id}` and keep what is right")
    prompt = build_prompt(context.store, file, Role.WORKER, plan, context.settings)
    mailbox.fill(workspace, file, with_notes(prompt, workspace.warnings))
    return file.task, workspace.path


def _refuse_others_there(context: Context, task: Task, beside: Sequence[Task], *, take_over: bool) -> None:
    """Refuses where somebody else is at work in the workspace that a task shares with those `beside` it.

    Raises:
        RefusedError: an agent is, or another person, and that is not taken over.
    """
    sessions = Sessions(context.repository.own_dir)
    there = {task.id, *(one.id for one in beside)}
    for dead in sessions.dead():
        if dead.task in there:
            raise RefusedError(
                f"what the agent of `{dead.task}` left in the workspace is still to be taken",
                hint="`gt health` says why it could not be",
            )
    live = sessions.live()
    for other in beside:
        if other.id in live:
            raise RefusedError(
                f"an agent is working on `{other.id}` in the workspace of `{task.id}`",
                hint=f"`gt stop {other.id}` ends it",
            )
        if not is_by_hand_here(other, context.now) or other.claim is None or take_over:
            continue
        who = other.claim.runner.removeprefix(BY_HAND)
        if who != context.actor.name:
            raise RefusedError(
                f"{who} is working on `{other.id}` in the workspace of `{task.id}`",
                hint=f"ask {who}, or `gt start {task.id} --take-over` puts aside what is not committed there",
            )


def _occupant_of(context: Context, plan: Workspace) -> TaskId | None:
    """Returns the task that a planned workspace was last prepared for, if there is such a workspace."""
    with contextlib.suppress(NotFoundError):
        occupant = read_occupant(context.repository, checkout_at(context.repository, plan.path))
        return TaskId(occupant) if occupant else None
    return None


def _is_begun(task: Task, claim: Claim, *, take_over: bool) -> bool:
    """True if the same person has started the task here already, so that starting it again says nothing new.

    Raises:
        RefusedError: somebody else has, and it is not taken over.
    """
    known = task.claim
    if task.status is not Status.WORKING or known is None or known.expires <= claim.since:
        return False
    if (known.runner, known.host) == (claim.runner, claim.host):
        return True
    if take_over:
        return False
    who = known.runner.removeprefix(BY_HAND)
    raise RefusedError(
        f"{who} has been working on `{task.id}` on {known.host} since {known.since:%Y-%m-%d %H:%M} UTC",
        hint=f"ask {who}, or `gt start {task.id} --take-over`",
    )
