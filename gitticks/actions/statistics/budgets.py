"""What is spent of the budgets of open tasks and epics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gitticks.model.event import Event
from gitticks.model.ids import TaskId
from gitticks.model.queries import TaskGraph
from gitticks.model.settings import BudgetSettings
from gitticks.workflow import budget
from gitticks.workflow.artifacts import count_since_last_word, granted_before
from gitticks.workflow.budget import Reading, Scope


@dataclass(frozen=True, slots=True)
class BudgetFigures:
    """How much of one limit of a task or an epic is spent, since a person let it continue last."""

    id: TaskId
    title: str
    reading: Reading


def budget_figures(
    graph: TaskGraph, histories: Mapping[TaskId, Sequence[Event]], limits: BudgetSettings
) -> tuple[BudgetFigures, ...]:
    """Returns the budgets of open tasks and epics of which anything is spent, the most first."""
    found: list[BudgetFigures] = []
    for task in graph.tasks.values():
        if not task.is_open:
            continue
        history = histories.get(task.id, ())
        if not task.is_epic:
            readings = budget.read(Scope.TASK, count_since_last_word(history).spent, limits.task)
        elif limits.epic.is_set:
            below = {task.id, *graph.below(task.id)}
            total = budget.total_of(budget.spent_in(histories.get(one, ())) for one in below)
            readings = budget.read(Scope.EPIC, total.minus(granted_before(history)), limits.epic)
        else:
            continue
        found += [BudgetFigures(task.id, task.title, one) for one in readings if one.spent]
    return tuple(sorted(found, key=lambda one: (-one.reading.percent, one.id, one.reading.metric)))
