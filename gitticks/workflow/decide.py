"""`decide`: the one function through which every change of a task's state goes."""

from __future__ import annotations

from datetime import datetime
from typing import assert_never

from gitticks.model.settings import BudgetLimits, Policy, Settings
from gitticks.model.status import Status
from gitticks.model.task import Task
from gitticks.workflow import merging, people, pull_requests, reviews, sessions
from gitticks.workflow.artifacts import Artifacts, Counts
from gitticks.workflow.decision import Decision, Draft
from gitticks.workflow.triggers import (
    ApprovalVoided,
    AwaitingSet,
    BudgetCounted,
    ChildrenChanged,
    Closed,
    CouncilUndecided,
    HeadMoved,
    Merged,
    MergeFailed,
    MergeFound,
    PolicyChanged,
    PullRequestOpened,
    PullRequestSeen,
    Reopened,
    Requested,
    Resumed,
    SessionEnded,
    SessionStarted,
    Trigger,
    VerdictGiven,
)


def decide(  # noqa: C901, PLR0912 (one arm for each trigger)
    task: Task,
    trigger: Trigger,
    *,
    at: datetime,
    artifacts: Artifacts,
    counts: Counts,
    policy: Policy,
) -> Decision:
    """Returns what a trigger changes; pure, so the runner, the hooks, the health check and the commands agree.

    Args:
        task: the task as it stands.
        trigger: what was asked or seen.
        at: the UTC time that is written.
        artifacts: what the task's text and code hold.
        counts: what happened since a person's last word.
        policy: the settings that hold for this task.

    Raises:
        RefusedError: the table, a gate or an actor's rights forbid it; nothing is to be written.
    """
    draft = Draft(task, at=at, actor=trigger.actor, artifacts=artifacts, counts=counts, policy=policy)
    match trigger:
        case Requested(is_question=True) if task.status is Status.CLARIFICATION:
            people.ask_again(draft, trigger)
        case Requested():
            people.request(draft, trigger)
        case VerdictGiven():
            people.give_verdict(draft, trigger)
        case Closed():
            people.close(draft, trigger)
        case AwaitingSet():
            people.set_awaiting(draft, trigger)
        case Reopened():
            people.reopen(draft)
        case Resumed():
            people.resume(draft, trigger)
        case SessionStarted():
            sessions.start(draft, trigger)
        case SessionEnded():
            sessions.end(draft, trigger)
        case CouncilUndecided():
            reviews.leave_to_person(draft, trigger.reason)
        case PolicyChanged():
            reviews.follow_policy(draft)
        case Merged():
            merging.close_merged(draft, trigger)
        case MergeFailed():
            merging.send_back(draft, trigger)
        case MergeFound():
            merging.close_found(draft, trigger)
        case HeadMoved():
            merging.void(draft, trigger.head)
        case ApprovalVoided():
            merging.ask_again(draft, trigger.reason)
        case PullRequestOpened():
            pull_requests.open_pull_request(draft, trigger)
        case PullRequestSeen():
            pull_requests.follow_pull_request(draft, trigger)
        case ChildrenChanged():
            merging.follow_children(draft, trigger)
        case BudgetCounted():
            sessions.count_budget(draft, trigger)
        case _:
            assert_never(trigger)
    return draft.finish()


def policy_for(task: Task, settings: Settings, *, review_waiver: str | None = None) -> Policy:
    """Returns the policy for one task; `review_waiver` says why no agent can review it, if none can."""
    return Policy(
        review=settings.review,
        human=settings.human,
        isolation=task.isolation_in(settings.isolation),
        merge_mode=settings.merge.mode,
        on_conflict=settings.merge.on_conflict,
        review_limit=settings.review_limit,
        council_rounds=settings.council.rounds,
        iterations=settings.iterations,
        review_waiver=review_waiver,
        minimum_approval=settings.approvals.minimum,
        four_eyes=settings.approvals.four_eyes,
        budget=BudgetLimits() if task.is_epic else settings.budget.task,
    )
