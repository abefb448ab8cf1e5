"""What follows from a review's verdict, and from a review that is not to be waited for."""

from __future__ import annotations

from dataclasses import replace

from gitticks.errors import RefusedError
from gitticks.model.event import ENGINE, EventType
from gitticks.model.settings import ReviewPolicy
from gitticks.model.status import Status
from gitticks.workflow import gates, merging
from gitticks.workflow.decision import Draft, Turn, whose_turn
from gitticks.workflow.transitions import FAILED_REVIEWS, REVIEW_FAILED, REVIEWS_SPENT


def pass_review(draft: Draft, cause: EventType) -> None:
    """Takes a PASS to a person, or past where none is asked."""
    draft.task = replace(draft.task, failed_reviews=0)
    _enter(draft, Status.REVIEWING, cause, "PASS")
    draft.run_on()


def fail_review(draft: Draft, cause: EventType) -> None:
    """Takes a FAIL back to the worker; at the limit the task is stuck, or a council leaves it to a person."""
    spent = gates.is_at_limit(draft.task, draft.policy)
    failed = draft.task.failed_reviews + 1
    draft.task = replace(draft.task, failed_reviews=failed)
    if not spent:
        _enter(draft, Status.WORKING, cause, REVIEW_FAILED)
        merging.ask_for_rework(draft, Status.AGENT_REVIEW, "the review failed")
    elif draft.policy.review is ReviewPolicy.COUNCIL:
        _enter(draft, Status.REVIEWING, cause, REVIEWS_SPENT)
    else:
        one, several = FAILED_REVIEWS
        _enter(draft, Status.STUCK, cause, f"{failed} {one if failed == 1 else several}")


def _enter(draft: Draft, target: Status, cause: EventType, reason: str) -> None:
    draft.enter(target, cause, reason, actor=ENGINE if cause is EventType.ADVANCED else None)


def leave_to_person(draft: Draft, reason: str) -> None:
    """Hands the task to a person where the council does not decide; that person is never waived."""
    if whose_turn(draft.task) is not Turn.REVIEWER or draft.policy.review is not ReviewPolicy.COUNCIL:
        raise RefusedError(f"no council reviews `{draft.task.id}`: it is {draft.task.status}")
    draft.enter(Status.REVIEWING, EventType.ADVANCED, reason)


def follow_policy(draft: Draft) -> None:
    """Takes a task past a review that is not asked for any more; a person who was asked stays asked."""
    if draft.task.status is Status.AGENT_REVIEW and draft.task.awaiting is None:
        draft.run_on()
