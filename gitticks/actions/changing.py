"""Shared by the use cases that change a task: the branch's head, what has to be merged first, and writing a field."""

from __future__ import annotations

import contextlib
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from gitticks.actions.context import Context
from gitticks.errors import GitticksError, RefusedError, UsageError, first_of
from gitticks.git.checkouts import checkout_at
from gitticks.git.checkouts import head as checked_out
from gitticks.git.refs import BRANCHES, read_ref
from gitticks.model.event import Actor, Event, EventType
from gitticks.model.ids import TaskId, task_path
from gitticks.model.notes import Entry, Section
from gitticks.model.status import ActorKind, Isolation, Status
from gitticks.model.task import Task

if TYPE_CHECKING:
    from gitticks.runner.verifiers import ChecksReport
    from gitticks.store.decisions import Circumstances
    from gitticks.store.hand_edits import HandEdit
    from gitticks.store.transaction import Transaction


_MOST_NAMED = 3


class Moved(NamedTuple):
    """A task before and after."""

    before: Task
    after: Task


def work_head(context: Context, task: Task) -> str | None:
    """Returns the commit that the work on a task is at: its branch's, or what a person at work has in their own checkout."""
    repository = context.repository
    if task.branch is not None:
        return read_ref(repository.common_dir, BRANCHES + task.branch)
    is_none = task.isolation_in(context.settings.isolation) is Isolation.NONE
    if not (task.is_begun_by_hand and is_none and task.start_sha) or repository.main_worktree is None:
        return None
    now = checked_out(checkout_at(repository, repository.main_worktree))
    if now in (None, task.start_sha):
        return None
    # In another clone the checkout may be at something else.
    return now if repository.objects.is_ancestor(task.start_sha, now) else None


def circumstances_of(context: Context, task: Task, *, checks: ChecksReport | None = None) -> Circumstances:
    """Returns what a decision about a task is made under, with the head of its branch."""
    from gitticks.store.decisions import Circumstances

    head = work_head(context, task)
    if context.store.read(task_path(task.id)) is None:
        # It comes into being in this very commit, so there is nothing yet that an agent could review.
        return Circumstances(context.now, context.settings, context.world.random_number, head)
    around = context.circumstances(task, head=head, checks=checks)
    return around._replace(in_base=is_in_base(context, task))


def carry_out_edit(context: Context, transaction: Transaction, edit: HandEdit, actor: Actor) -> None:
    """Writes what somebody made of a task's file into the transaction, with the decisions that it asks for.

    Raises:
        RefusedError: a status, verdict or link is refused.
        NotFoundError: it names a parent or blocker that does not exist.
    """
    from gitticks.store.hand_edits import apply_hand_edit

    def surroundings(task: Task) -> Circumstances:
        around = circumstances_of(context, task)
        if edit.wanted.status is not Status.AGENT_REVIEW:
            return around
        from gitticks.runner.verifiers import has_gates
        from gitticks.runner.workspace_removal import workspace_of
        from gitticks.workflow.gates import CHECKS_NOT_RUN

        has_workspace = workspace_of(context.repository, context.settings, task) is not None
        if has_workspace and has_gates(context.settings):
            return around._replace(checks_failure=CHECKS_NOT_RUN)
        return around

    apply_hand_edit(transaction, edit, actor, context.now, surroundings)


def warn_of_closed_epic(context: Context, task: Task) -> None:
    """Warns where an open task is in an epic that is closed, and so counts for nothing there."""
    if task.parent is None or not task.is_open:
        return
    with contextlib.suppress(GitticksError):  # it is missing, or cannot be read
        epic = context.store.task_file(task.parent).task
        if not epic.is_open:
            context.warnings.append(
                f"its epic `{epic.id}` is {epic.status}, so `{task.id}` is no part of it: `gt reopen {epic.id}`"
            )


def warn_of_leaving(context: Context, before: Task | None, after: Task) -> None:
    """Warns of what a task leaves that was cancelled or moved out of its epic, whoever asked for that in what way."""
    if before is None:
        return
    if before.is_open and after.is_cancelled:
        _warn_of_left_over(context, before)
    elif after.parent != before.parent:
        _warn_of_commits_on_epic(context, before)


def _warn_of_left_over(context: Context, task: Task) -> None:
    """Warns of what a cancelled task leaves that nobody sees any more: its pull request, and code that came with an epic."""
    if task.is_offered:
        context.warnings.append(f"its pull request stays open: close it at {task.pr}")
    on_branch = [one for one in context.store.snapshot().all_tasks().values() if one.sharing_epic == task.id]
    carried = [f"`{one.id}`" for one in on_branch if one.carrier]
    if carried:
        whose = first_of(carried, _MOST_NAMED)
        context.warnings.append(
            f"the code of {whose} is on `{task.branch}` alone: `git merge {task.branch}` brings it into {task.base}"
        )
    for one in on_branch:
        if one.is_handed_off:
            what = f"is handed off on `{task.branch}`, which is merged no more"
            context.warnings.append(
                f'`{one.id}` {what}: `gt reject {one.id} "…"` sends it back, and it starts over'
            )
        elif one.is_open and one.start_sha:
            what = f"was begun on `{task.branch}`, which is merged no more"
            context.warnings.append(f"`{one.id}` {what}: it starts over on a branch of its own")
    _warn_of_commits_on_epic(context, task)


def _warn_of_commits_on_epic(context: Context, task: Task) -> None:
    """Warns where a task that leaves an open epic, or is cancelled, leaves commits on the epic's branch."""
    epic, head = task.sharing_epic, work_head(context, task)
    if epic is None or task.start_sha is None or head in (None, task.start_sha):
        return
    with contextlib.suppress(GitticksError):  # the epic is missing, or cannot be read
        if context.store.task_file(epic).task.is_open:
            since = f"`git log {task.start_sha[:10]}..{task.branch}` shows them"
            context.warnings.append(
                f"its commits stay on the branch of `{epic}` and are merged with it: {since}"
            )


def require_words(text: str, what: str, example: str) -> str:
    """Returns a text without the white space around it.

    Raises:
        UsageError: nothing is left; the message names `what`, the hint holds `example`.
    """
    words = text.strip()
    if not words:
        raise UsageError(f"the {what} is empty", hint=f"`{example}`")
    return words


def refuse_closed(task: Task) -> None:
    """Refuses to change what only open tasks have."""
    if not task.is_open:
        raise RefusedError(f"`{task.id}` is {task.status} already", hint=f"`gt reopen {task.id}`")


def add_entry(
    context: Context,
    transaction: Transaction,
    task_id: TaskId,
    section: Section,
    text: str,
    *,
    kind: ActorKind | None = None,
) -> None:
    """Adds a note or a question of the caller, with its event; `kind` is whom it is from, if that is another."""
    at, actor = context.now, context.actor
    file = transaction.task_file(task_id).with_entry(section, Entry(at, kind or actor.kind, actor.name, text))
    transaction.put_task(file.with_task(replace(file.task, updated=at)))
    subject, what = (
        ("question asked", EventType.ASKED)
        if section is Section.QUESTIONS
        else ("note added", EventType.NOTED)
    )
    record(transaction, task_id, subject, Event(what, at, actor), is_minor=True)


def record(
    transaction: Transaction, task_id: TaskId, subject: str, event: Event, *, is_minor: bool = False
) -> None:
    """Appends an event that is no decision's, and says so in the commit; what `is_minor`, after the decisions."""
    transaction.append_events(task_id, (event,))
    transaction.describe_change(task_id, subject, event.actor, (event,), is_minor=is_minor)


def is_in_base(context: Context, task: Task) -> bool | None:
    """Returns whether the base has work that waits for its merge; None of other work, or if this clone cannot tell."""
    from gitticks.git.merges.history import find_merge, find_same_patch
    from gitticks.model.settings import MergeMode

    is_manual = context.settings.merge.mode is MergeMode.MANUAL
    if not (task.is_merging or task.is_offered or (is_manual and task.status is Status.REVIEWING)):
        return None
    if not task.has_code or task.sharing_epic is not None:
        return None
    repository = context.repository
    with contextlib.suppress(GitticksError):
        tip = read_ref(repository.common_dir, f"{BRANCHES}{task.base}")
        head = read_ref(repository.common_dir, f"{BRANCHES}{task.branch}")
        heads = {one for one in (head, task.end_sha) if one is not None and repository.objects.has(one)}
        if tip is None or not heads:
            return None
        found = any(find_merge(repository, tip, task.id, one) for one in heads)
        return found or (is_manual and any(find_same_patch(repository, tip, one) for one in heads))
    return None
