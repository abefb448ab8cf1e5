"""Resolves the settings and a task's own fields into the policy for decisions."""

from __future__ import annotations

from gitticks.model.settings import BudgetLimits, Policy, Settings
from gitticks.model.task import Task


def policy_for(task: Task, settings: Settings, *, review_waiver: str | None = None) -> Policy:
    """Returns the policy for one task; `review_waiver` says why no agent can review it, if none can."""
    return Policy(
        review=settings.review,
        human=settings.human,
        isolation=task.isolation or settings.isolation,
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
