"""Turns a written decision into the event that a run tells its listener."""

from __future__ import annotations

from typing import TYPE_CHECKING

from gitticks.model.task import Task
from gitticks.runner.events import TaskMoved
from gitticks.workflow.decision import Decision

if TYPE_CHECKING:
    from gitticks.runner.context import RunContext


def tell(run: RunContext, before: Task, decision: Decision) -> None:
    """Tells the listener what became of a task; a decision that moved nothing and says nothing is not told."""
    after = decision.task
    reason = next((step.reason for step in reversed(decision.steps) if step.reason), None)
    if reason is None:
        reason = next((event.reason for event in reversed(decision.events) if event.reason), None)
    if (before.status, before.awaiting) == (after.status, after.awaiting) and reason is None:
        return
    actor = decision.events[-1].actor.name if decision.events else "gitticks"
    run.emit(
        TaskMoved(
            after.id,
            after.title,
            before.status,
            after.status,
            after.awaiting,
            reason,
            actor,
            is_merging=after.is_merging,
        )
    )
