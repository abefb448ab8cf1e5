"""What a spent budget means for a task or an epic."""

from __future__ import annotations

from collections.abc import Iterable

from gitticks.model.event import ENGINE, EventType
from gitticks.model.status import BUDGET_SPENT, Awaiting, Role, Status
from gitticks.workflow import budget
from gitticks.workflow.budget import Level, Metric, Reading, Scope, Spent
from gitticks.workflow.decision import Draft, Turn, whose_turn
from gitticks.workflow.triggers import BudgetCounted, SessionEnded


def limit(draft: Draft, ended: SessionEnded) -> None:
    """Counts a session into its task's budget; one that is spent makes the task stuck once more work is needed."""
    limits = draft.policy.budget
    before = draft.counts.spent
    after = before.plus(budget.spent_of(ended.spent, ended.role, ended.ending.value))
    readings = budget.read(Scope.TASK, after, limits)
    reached = budget.newly_reached(budget.read(Scope.TASK, before, limits), readings)
    count(draft, BudgetCounted(readings, after, reached=reached))


def count(draft: Draft, counted: BudgetCounted) -> None:
    """Stops what has spent its budget: a task is stuck, an epic awaits a person, who grants as much again."""
    turn = whose_turn(draft.task)
    goes_on = draft.task.status in (Status.PENDING, Status.WORKING) and turn in (Turn.WORKER, Turn.CHILDREN)
    stopped = budget.stopping(counted.readings, Role.WORKER) if goes_on else None
    _log(draft, counted, (one for one in counted.reached if not _is_left_to_a_stop(draft, one, stopped)))
    if stopped is None:
        return
    if stopped not in counted.reached:
        _log(draft, counted, (stopped,))
    on = counted.on or _other_figures(counted.total, stopped.metric)
    reason = f"{BUDGET_SPENT}{stopped.scope}.{stopped.metric}` is spent: {stopped.words}, {on}"
    if turn is Turn.WORKER:
        draft.give_up(reason)
        return
    draft.await_person(Awaiting.ESCALATION, reason, actor=ENGINE)


def _is_left_to_a_stop(draft: Draft, reached: Reading, stopped: Reading | None) -> bool:
    """True if an epic with a spent budget already waits for a person for another reason; only a stop grants more."""
    return draft.task.is_epic and reached.level is Level.SPENT and stopped is None


def _log(draft: Draft, counted: BudgetCounted, readings: Iterable[Reading]) -> None:
    for one in readings:
        draft.log(
            EventType.BUDGET,
            f"{one.percent} % of `budget.{one.scope}.{one.metric}`: {one.words}",
            actor=ENGINE,
            data=budget.reached_data(one, counted.total),
        )


def _other_figures(spent: Spent, named: Metric) -> str:
    """Returns what else was spent."""
    parts = [
        budget.in_words(metric, spent.of(metric))
        for metric in (Metric.ITERATIONS, Metric.TOKENS, Metric.COST)
        if metric is not named and spent.of(metric)
    ]
    return ", ".join([*parts, f"{budget.in_words(Metric.DURATION, spent.seconds)} of agent time"])
