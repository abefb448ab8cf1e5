"""What a budget does to a task and to an epic."""

from __future__ import annotations

import pytest

from gitticks.model.event import ENGINE, EventType
from gitticks.model.settings import BudgetLimits, Policy
from gitticks.model.spending import Level, Metric, Reading, Scope, Spent
from gitticks.model.status import Awaiting, Role, Status, Verdict
from gitticks.model.task import Ending, Usage
from gitticks.workflow.artifacts import Counts
from gitticks.workflow.decision import Decision
from gitticks.workflow.signals import SignalKind
from gitticks.workflow.triggers import BudgetCounted
from tests.support.decisions import (
    FAILED,
    HANDED_OFF,
    PASSED,
    answer,
    ended,
    make_epic,
    make_task,
    run,
)

THREE_DOLLARS = Policy(budget=BudgetLimits(cost=3.0))


def levels(decision: Decision) -> list[object]:
    return [event.data["level"] for event in decision.events if event.type is EventType.BUDGET]


@pytest.mark.parametrize(
    ("before", "cost", "status", "reached"),
    [
        (0.0, 2.0, Status.WORKING, []),
        (2.0, 0.4, Status.WORKING, [80]),
        (2.0, 0.9, Status.WORKING, [95]),
        (2.0, 1.0, Status.STUCK, [100]),
        (2.9, 9.0, Status.STUCK, [100]),
        (3.5, 0.0, Status.STUCK, [100]),
    ],
)
def test_a_session_that_leads_on_is_counted(
    before: float, cost: float, status: Status, reached: list[int]
) -> None:
    task = make_task()
    counts = Counts(spent=Spent(2, 100, before, 60.0))
    decision = run(task, ended(task, spent=Usage(cost=cost)), counts=counts, policy=THREE_DOLLARS)
    assert decision.task.status is status
    assert levels(decision) == reached
    assert decision.events[-1].type is EventType.SESSION_ENDED


def test_the_reason_names_the_setting_and_what_was_spent_on_what() -> None:
    task = make_task()
    counts = Counts(spent=Spent(2, 4000, 2.5, 60.0))
    spent = Usage(tokens_in=900, tokens_out=100, cost=0.75, seconds=30)
    decision = run(task, ended(task, spent=spent), counts=counts, policy=THREE_DOLLARS)
    stuck = next(event for event in decision.events if event.to_status is Status.STUCK)
    assert stuck.actor == ENGINE
    assert stuck.reason == (
        "`budget.task.cost` is spent: $3.25 of $3.00, 3 iterations, 5,000 tokens, 1 min 30 s of agent time"
    )


def test_work_that_was_handed_off_is_reviewed_and_stuck_only_if_it_comes_back() -> None:
    task = make_task()
    handed_off = run(
        task,
        ended(task, kind=SignalKind.COMPLETE, spent=Usage(cost=5.0)),
        artifacts=HANDED_OFF,
        policy=THREE_DOLLARS,
    )
    assert (handed_off.task.status, levels(handed_off)) == (Status.AGENT_REVIEW, [100])
    spent = Counts(spent=Spent(1, 0, 5.0))
    review = ended(handed_off.task, role=Role.REVIEWER, spent=Usage(cost=0.1))
    passed = run(handed_off.task, review, artifacts=PASSED, counts=spent, policy=THREE_DOLLARS)
    assert (passed.task.status, passed.task.awaiting) == (Status.REVIEWING, Awaiting.REVIEW)
    failed = run(handed_off.task, review, artifacts=FAILED, counts=spent, policy=THREE_DOLLARS)
    assert [step.to_status for step in failed.steps] == [Status.WORKING, Status.STUCK]
    assert levels(failed) == [100]


@pytest.mark.parametrize("kind", [SignalKind.INPUT_NEEDED, SignalKind.EJECT, SignalKind.CHECKPOINT])
def test_what_awaits_a_person_anyway_is_not_stuck(kind: SignalKind) -> None:
    task = make_task()
    decision = run(task, ended(task, kind=kind, text="what?", spent=Usage(cost=5.0)), policy=THREE_DOLLARS)
    assert decision.task.status is not Status.STUCK
    assert decision.task.awaiting is not None


@pytest.mark.parametrize("ending", [Ending.STOPPED, Ending.INTERRUPTED, Ending.OUTAGE, Ending.CRASHED])
def test_however_a_session_ended_what_it_took_counts(ending: Ending) -> None:
    task = make_task()
    decision = run(task, ended(task, ending, spent=Usage(cost=5.0)), policy=THREE_DOLLARS)
    assert decision.task.status is Status.STUCK


def test_approved_it_goes_back_to_its_agent() -> None:
    decision = run(make_task(Status.STUCK), answer(Verdict.APPROVED), policy=THREE_DOLLARS)
    assert (decision.task.status, decision.task.awaiting) == (Status.WORKING, None)


def counted(spent: float, *, is_new: bool = True) -> BudgetCounted:
    reading = Reading(Scope.EPIC, Metric.COST, spent, 10.0)
    reached = (reading,) if is_new and reading.level > Level.FREE else ()
    return BudgetCounted((reading,), Spent(7, 0, spent), "on `aaaa` $9.00", reached)


@pytest.mark.parametrize(
    ("status", "spent", "awaiting", "reached"),
    [
        (Status.WORKING, 7.0, None, []),
        (Status.WORKING, 8.0, None, [80]),
        (Status.WORKING, 10.0, Awaiting.ESCALATION, [100]),
        (Status.PENDING, 10.0, Awaiting.ESCALATION, [100]),
        (Status.AGENT_REVIEW, 10.0, None, []),
        (Status.CLARIFICATION, 10.0, Awaiting.INPUT, []),
        (Status.DONE, 10.0, None, []),
    ],
)
def test_an_epic_whose_budget_is_spent_awaits_a_person(
    status: Status, spent: float, awaiting: Awaiting | None, reached: list[int]
) -> None:
    decision = run(make_epic(status), counted(spent))
    assert (decision.task.status, decision.task.awaiting) == (status, awaiting)
    assert levels(decision) == reached
    if awaiting is Awaiting.ESCALATION:
        event = next(event for event in decision.events if event.type is EventType.AWAITING_SET)
        assert event.reason == "`budget.epic.cost` is spent: $10.00 of $10.00, on `aaaa` $9.00"


def test_an_epic_that_is_stopped_later_tells_what_was_spent_then() -> None:
    decision = run(make_epic(), counted(12.0, is_new=False))
    assert decision.task.awaiting is Awaiting.ESCALATION
    event = next(event for event in decision.events if event.type is EventType.BUDGET)
    assert (event.data["total_cost"], event.data["level"]) == (12.0, 100)


def test_an_epic_that_may_go_on_gets_no_child_for_a_word_that_came_with_it() -> None:
    stopped = run(make_epic(), counted(10.0)).task
    decision = run(stopped, answer(Verdict.APPROVED, "go on"))
    assert (decision.task.status, decision.task.awaiting, decision.rework) == (Status.WORKING, None, None)
