"""The normal form of worlds: two that have the same one can do the same things.

It renames commits (only whether they are the same one matters), drops times, and cuts counters at the value from
which every rule treats them alike (all limits are tested by `>=`). It also forgets what no later move can read:
counts on a person's turn in a status that only a person's word leaves, for that word resets them; and a merge that was
found, where it may be found again.
"""

from __future__ import annotations

from gitticks.model.notes import ReviewOutcome
from gitticks.model.settings import Policy
from gitticks.model.status import Awaiting, Role, Status
from gitticks.model.task import Approval, Task
from gitticks.workflow.artifacts import Counts
from gitticks.workflow.decision import Turn
from tests.support.decisions import AT, HEAD, OTHER_HEAD, START
from tests.workflow.world import World

_RESTING = (Status.PENDING, Status.CLARIFICATION, Status.WORKING)


def normalise(world: World, policy: Policy) -> World:
    task = world.task
    if not task.is_open:
        bare = Task(task.id, task.title, task.type, task.status, parent=task.parent, requires=task.requires)
        return World(bare)
    in_review = task.status in (Status.AGENT_REVIEW, Status.REVIEWING)
    end_sha = None if task.end_sha is None else START if task.end_sha == task.start_sha else HEAD
    head = world.head
    if head is not None:
        head = end_sha if head == task.end_sha else START if head == task.start_sha else OTHER_HEAD
    rests = world.turn is Turn.PERSON and task.status in _RESTING
    normal = Task(
        task.id,
        task.title,
        task.type,
        task.status,
        parent=task.parent,
        requires=task.requires,
        asked=task.asked,
        awaiting=task.awaiting,
        approval=Approval("x", AT, end_sha) if task.approval else None,
        start_sha=task.start_sha,
        end_sha=end_sha,
        merged_sha=task.merged_sha if task.awaiting is Awaiting.ESCALATION else None,
        review_round=min(task.review_round, 1),
        failed_reviews=min(task.failed_reviews, 1),
        crash_count=0 if rests or task.status is Status.STUCK else min(task.crash_count, 1),
    )
    return World(
        normal,
        handoff=world.handoff and not in_review,
        review=world.review if task.status is Status.AGENT_REVIEW else ReviewOutcome.MISSING,
        question=world.question,
        head=head,
        counts=Counts() if rests else cut(world.counts, policy),
        session=world.session,
        session_round=normal.review_round + (world.session is Role.WORKER) if world.session else 0,
        children_closed=world.children_closed,
        passed=world.passed and in_review,
        approved=world.approved and in_review,
    )


def cut(counts: Counts, policy: Policy) -> Counts:
    return Counts(
        iterations=min(counts.iterations, policy.iterations - 1),
        failed_checks=min(counts.failed_checks, 2),
        refusals=min(counts.refusals, 1),
        failed_merges=min(counts.failed_merges, 1),
        voids=min(counts.voids, 1),
        work_approved=counts.work_approved,
    )


def key(world: World) -> tuple[object, ...]:
    task = world.task
    return (
        task.status, task.awaiting, task.asked, task.approval is None, task.start_sha, task.end_sha,
        task.merged_sha, task.review_round, task.failed_reviews, task.crash_count, world.handoff, world.review,
        world.question, world.head, world.counts, world.session, world.children_closed, world.passed, world.approved,
    )  # fmt: skip
