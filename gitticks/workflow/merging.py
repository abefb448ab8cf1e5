"""What the merge queue, a moved head, an epic's children, and having left an epic mean for a task."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import takewhile
from operator import attrgetter
from shlex import quote
from typing import TYPE_CHECKING, NamedTuple

from gitticks.errors import GitticksError, RefusedError
from gitticks.model.event import ENGINE, EventType
from gitticks.model.ids import TaskId
from gitticks.model.notes import ReviewOutcome, Section
from gitticks.model.settings import MergeMode, OnConflict
from gitticks.model.status import Awaiting, Status
from gitticks.model.task import NOTHING_TO_MERGE, Task
from gitticks.workflow import gates
from gitticks.workflow.approvals import why_too_weak
from gitticks.workflow.decision import Draft
from gitticks.workflow.triggers import ChildrenChanged, Merged, MergeFailed, MergeFound

if TYPE_CHECKING:
    from gitticks.model.task_row import AnyTask

MOST_FAILED_MERGES = 2
MOST_VOIDS = 2


def is_merged_by_person(task: Task, mode: MergeMode) -> bool:
    """True for approved work that a person merges: into the base by git, or on a forge."""
    is_theirs = task.status is Status.REVIEWING and task.awaiting is Awaiting.WORK
    return is_theirs and (mode is MergeMode.MANUAL or task.is_offered)


class LeftMerge(NamedTuple):
    """Approved work that a person merges: its branch, and the pull request if a forge merges it."""

    branch: str
    pull_request: str | None

    def command(self, gt: str = "gt") -> str:
        """Returns what closes the task; a forge merges its pull request first."""
        return f"git merge {quote(self.branch)} && {gt} status" if self.pull_request is None else f"{gt} sync"


def left_merge(task: Task, mode: MergeMode) -> LeftMerge | None:
    """Returns what a person is to merge of a task; None if nothing is left to them."""
    if not is_merged_by_person(task, mode) or task.branch is None or task.end_sha is None:
        return None
    return LeftMerge(task.branch, task.pr if task.is_offered else None)


def refuse_unmerged(draft: Draft) -> None:
    """Refuses to close approved work that its base lacks, where a person was to merge it by git."""
    task = draft.task
    is_theirs = is_merged_by_person(task, draft.policy.merge_mode) and not task.is_offered
    if is_theirs and draft.artifacts.in_base is False:
        raise RefusedError(
            f"the work on `{task.id}` is not in `{task.base}`, and closing the task would leave it out",
            hint=f"on `{task.base}`, `git merge {task.branch}` merges it and closes the task; "
            f'`gt close {task.id} "…"` closes it without, for the reason that you give',
        )


def refuse_merged(draft: Draft) -> None:
    """Refuses to take back approved work that the base has got, though its task could not be closed yet."""
    task = draft.task
    is_waiting = task.is_merging or task.is_offered or is_merged_by_person(task, draft.policy.merge_mode)
    if is_waiting and draft.artifacts.in_base:
        hint = f"`gt merge {task.id}` closes it"
        if not task.is_merging:  # closed by what was approved, once somebody looks
            hint = "`gt sync` closes it" if task.is_offered else "`gt status` closes it, or asks"
        raise RefusedError(f"`{task.id}` is merged into {task.base} already", hint=hint)


def refuse_unapproved(task: Task, mode: MergeMode, children: Iterable[TaskId]) -> None:
    """Refuses to merge what is not approved, as an epic with open children, or what gitticks does not merge."""
    if task.is_offered:
        raise RefusedError(
            f"the pull request of `{task.id}` has to be merged on its forge: {task.pr}",
            hint="`gt sync` checks it",
        )
    if is_merged_by_person(task, mode):
        raise RefusedError(
            f"a person merges `{task.id}`: `merge.mode` is `{MergeMode.MANUAL}`",
            hint=f"on `{task.base}`, `git merge {task.branch}` merges it and closes the task",
        )
    if not task.is_merging:
        lacking = gates.open_children(children)
        turn = f", and {lacking}" if lacking else f" and awaits {task.awaiting}" if task.awaiting else ""
        raise RefusedError(
            f"`{task.id}` is not approved: it is {task.status}{turn}",
            hint=gates.after_children(task.id) if lacking else f"`gt show {task.id}`",
        )
    if task.end_sha is None:
        why = f"`{task.id}` is approved, and nothing says which commit was handed off"
        raise GitticksError(why, hint=f'`gt reject {task.id} "hand off again"` sends it back')


def left_epic(task: Task, ancestors: Iterable[AnyTask]) -> TaskId | None:
    """Returns the epic on whose branch a task's work is, and with which it is merged no more; None if there is none.

    It is closed, or the task is no longer part of it, as below another epic that is closed.
    """
    epics = (above.id for above in takewhile(attrgetter("is_open"), ancestors))
    return None if task.sharing_epic is None or task.sharing_epic in epics else task.sharing_epic


def as_begun(task: Task, ancestors: Iterable[AnyTask]) -> Task:
    """Returns a task with the work that goes on; as if it was never begun where that is on the branch of an epic that it left.

    What was handed off stays where it is.
    """
    if not task.is_open or task.is_handed_off or left_epic(task, ancestors) is None:
        return task
    return replace(task, branch=None, start_sha=None, end_sha=None)


def bind_epic(epic: Task, child: Task) -> Task | None:
    """Returns an epic with the branch that one of its tasks works on; None if the task does not share the epic's.

    What was merged before the epic was reopened is no part of what is on its branch now.
    """
    if child.start_sha is None or child.sharing_epic != epic.id or child.merged_sha is not None:
        return None
    return replace(epic, base=child.base, branch=child.branch, start_sha=child.start_sha)


def merged_with(epic: Task, task: Task) -> Task | None:
    """Returns a task with the merge of the epic that brought its code into the base; None for others.

    As long as the epic is closed it has that itself; reopened it would be taken to have the code still to be merged.
    """
    if epic.merged_sha is None or task.carrier != epic.id:
        return None
    return replace(task, merged_sha=epic.merged_sha)


def close_merged(draft: Draft, merged: Merged) -> None:
    """Closes a task whose approved head is in the base."""
    _need_merging(draft)
    draft.task = replace(draft.task, merged_sha=merged.sha)
    draft.log(EventType.MERGED, data={"sha": None if merged.was_there else merged.sha})
    reason = NOTHING_TO_MERGE if merged.was_there else f"merged {merged.sha[:7]}"
    draft.enter(Status.DONE, EventType.ADVANCED, reason)


def send_back(draft: Draft, failed: MergeFailed) -> None:
    """Sends a task back whose merge was not made; stuck where policy or the second failure says so.

    Work that a person did goes back to that person.
    """
    _need_merging(draft)
    draft.log(EventType.MERGE_FAILED, failed.reason, data={"conflicts": list(failed.conflicts)})
    by_policy = bool(failed.conflicts) and draft.policy.on_conflict is OnConflict.STUCK
    if draft.counts.work_approved:
        draft.enter(Status.WORKING, EventType.ADVANCED, f"merge-failed: {failed.reason}")
        draft.await_person(Awaiting.WORK, "a person's work could not be merged", actor=ENGINE)
    elif by_policy or draft.counts.failed_merges + 1 >= MOST_FAILED_MERGES:
        draft.enter(Status.STUCK, EventType.ADVANCED, f"merge-failed: {failed.reason}")
    else:
        draft.enter(Status.WORKING, EventType.ADVANCED, f"merge-failed: {failed.reason}")
        ask_for_rework(draft, Status.REVIEWING, failed.reason)


def _need_merging(draft: Draft) -> None:
    if not draft.task.is_merging:
        raise RefusedError(
            f"`{draft.task.id}` is not merging: it is {draft.task.status}", hint=f"`gt show {draft.task.id}`"
        )


def ask_for_rework(draft: Draft, source: Status, feedback: str | None) -> None:
    """Lets an epic that was sent back have a child that carries the feedback; a task has its own agent.

    One that was stuck has such a child only if there is something to carry: its reviewer may just have crashed.
    """
    sent_back = source in (Status.AGENT_REVIEW, Status.REVIEWING)
    if draft.task.is_epic and (sent_back or (source is Status.STUCK and feedback)):
        draft.rework = feedback or "sent back"


def close_found(draft: Draft, found: MergeFound) -> None:
    """Closes a task whose branch a person merged by hand; where nobody was to merge yet, asks what that means.

    It asks once for each merge: who then gives the task back to the agent is not asked at every command.
    """
    task = draft.task
    if not task.is_open:
        raise RefusedError(f"`{task.id}` is {task.status} already")
    if draft.artifacts.head is not None and draft.artifacts.head == task.start_sha:
        raise RefusedError(f"the branch of `{task.id}` has no commit of its own, so nothing was merged")
    if not _may_close_found(draft, found):
        if task.merged_sha != found.sha:
            # An approval lets nothing be merged while a person is asked; a pull request's is what `gt close` goes by.
            approval = None if task.is_merging else task.approval
            draft.task = replace(task, merged_sha=found.sha, approval=approval)
            draft.log(EventType.MERGED, "found merged", data={"sha": found.sha})
            lacking = gates.open_children(draft.artifacts.open_children)
            if lacking:
                how = f"though {lacking}"
                choice = (
                    f"`gt respond {task.id}` lets them continue, and `gt close` works once they are closed"
                )
            else:
                how = found.doubt or f"though it was {task.status}"
                choice = (
                    f"`gt close {task.id}` accepts it as done, `gt respond {task.id}` lets the agent go on"
                )
            reason = f"its branch is merged as {found.sha[:7]} {how}: {choice}"
            draft.await_person(Awaiting.ESCALATION, reason, actor=ENGINE)
        return
    draft.log(EventType.MERGED, "found merged", data={"sha": found.sha})
    walk_to_reviewing(draft, "merged by hand")
    draft.task = replace(draft.task, merged_sha=found.sha)
    draft.enter(Status.DONE, EventType.VERDICT, f"merged by hand as {found.sha[:7]}")


def _may_close_found(draft: Draft, found: MergeFound) -> bool:
    task = draft.task
    if draft.artifacts.open_children:
        return False
    if draft.policy.is_name_too_little and not _is_approved(draft):
        return False  # a merge by hand is a name alone
    if task.is_merging and (not found.doubt or task.merged_sha == found.sha):
        return True  # whoever approved it was asked about the merge before
    if found.doubt:
        return False
    was_to_merge = task.status is Status.REVIEWING or task.awaiting is Awaiting.WORK
    return found.actor.is_human and was_to_merge


def _is_approved(draft: Draft) -> bool:
    """True if the commit that was merged is the one that was approved, and as strongly as policy requires."""
    task, policy = draft.task, draft.policy
    approved, head = draft.artifacts.approved, draft.artifacts.head or task.end_sha
    if approved is None or approved.head != head:
        return False
    weak = why_too_weak(
        task, approved, draft.counts.hands, minimum=policy.minimum_approval, four_eyes=policy.four_eyes
    )
    was_to_merge = task.is_merging or task.is_offered or is_merged_by_person(task, policy.merge_mode)
    return weak is None and was_to_merge


_NEXT_ON_THE_WAY = {
    Status.PENDING: (Status.WORKING, None),
    Status.CLARIFICATION: (Status.WORKING, None),
    Status.STUCK: (Status.AGENT_REVIEW, "handoff"),
    Status.WORKING: (Status.AGENT_REVIEW, "handoff"),
    Status.AGENT_REVIEW: (Status.REVIEWING, "review"),
}


def walk_to_reviewing(draft: Draft, reason: str) -> None:
    """Moves a task to reviewing because a person says so; each skipped gate is an event."""
    while draft.task.status in _NEXT_ON_THE_WAY:
        target, gate = _NEXT_ON_THE_WAY[draft.task.status]
        for waived in _gates_not_passed(draft, gate):
            draft.waive(waived, reason)
        draft.enter(target, EventType.VERDICT, reason)


def _gates_not_passed(draft: Draft, gate: str | None) -> list[str]:
    artifacts = draft.artifacts
    if gate == "handoff":
        if not artifacts.handoff or draft.has_archived(Section.HANDOFF):
            return ["handoff"]
        return ["checks"] if artifacts.checks_failure is not None else []
    if gate == "review":
        fresh = not draft.has_archived(Section.REVIEW) and not draft.head_moved
        return [] if fresh and artifacts.review is ReviewOutcome.PASS else ["review"]
    return []


def void(draft: Draft, head: str) -> None:
    """Voids what was about another commit: in agent-review the review, in reviewing the approval too."""
    task = draft.task
    bound = task.is_handed_off and gates.owns_branch(task, draft.policy)
    if not bound or head == task.end_sha:
        raise RefusedError(f"nothing about `{task.id}` depends on its head: it is {task.status}")
    if task.awaiting is Awaiting.WORK:
        raise RefusedError(f"a person works on `{task.id}`, so its head may move")
    reason = f"the branch moved to {head[:7]} after the hand-off"
    draft.log(EventType.VOIDED, reason, actor=ENGINE, data={"head": head})
    if draft.counts.voids + 1 >= MOST_VOIDS:
        draft.enter(Status.STUCK, EventType.ADVANCED, reason, actor=ENGINE)
    elif task.status is Status.REVIEWING:
        draft.enter(Status.WORKING, EventType.ADVANCED, reason, actor=ENGINE)
    else:
        draft.archive(Section.REVIEW)
        draft.task = replace(task, end_sha=head)


def ask_again(draft: Draft, reason: str) -> None:
    """Takes back an approval whose merge is not to be made; a person is asked again, and the work stays as it is."""
    _need_merging(draft)
    draft.log(EventType.VOIDED, reason)
    draft.task = replace(draft.task, approval=None)
    asked = draft.task.requires or draft.task.asked
    draft.await_person(asked.awaiting if asked else Awaiting.REVIEW, reason, actor=ENGINE)


def follow_children(draft: Draft, children: ChildrenChanged) -> None:
    """Moves an epic as its children move: to work with the first, on with the last, back when one is added."""
    if not lags_behind(draft.task, children):
        return
    if draft.task.status is Status.PENDING:
        draft.enter(Status.WORKING, EventType.ADVANCED, "a child was started")
    if children.all_closed:
        draft.log(EventType.CHILDREN, "all children are closed")
        draft.enter(Status.AGENT_REVIEW, EventType.ADVANCED, "all children are closed")
        draft.run_on()
    elif draft.task.status is not Status.WORKING:
        draft.enter(Status.WORKING, EventType.ADVANCED, "a child is open again")


def lags_behind(epic: Task, children: ChildrenChanged) -> bool:
    """True if an epic does not stand as its children do, as after a merge of what two clones did with them."""
    if epic.awaiting is not None and epic.status is not Status.REVIEWING:
        return False
    if epic.status is Status.PENDING:
        return children.any_started or children.all_closed
    if epic.is_handed_off:
        return not children.all_closed
    return epic.status is Status.WORKING and children.all_closed
