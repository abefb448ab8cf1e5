"""Whether a session still counts when it ends: another clone may have taken its task over, or moved it."""

from __future__ import annotations

from dataclasses import replace

from gitticks.agents.base import AgentReport
from gitticks.model.ids import TaskId
from gitticks.model.status import Role
from gitticks.model.task import Ending
from gitticks.runner.claiming import ClaimedElsewhereError
from gitticks.runner.context import RunContext
from gitticks.runner.events import Warned
from gitticks.store.branch import Store
from gitticks.workflow.decision import is_turn_of


def as_claimed(
    run: RunContext, store: Store, task_id: TaskId, role: Role, report: AgentReport
) -> AgentReport:
    """Returns a report as it counts: whoever took the task over or moved it in another clone stopped the session."""
    was_turn = is_turn_of(store.task_file(task_id).task, role)
    try:
        run.claims.confirm(task_id)
        now = store.task_file(task_id).task
        if is_turn_of(now, role) or not was_turn:
            return report
        words = f"others moved it first: it is {now.status}"
    except ClaimedElsewhereError as error:
        words = error.words
    run.emit(Warned(task_id, words))
    return replace(report, ending=Ending.STOPPED)
