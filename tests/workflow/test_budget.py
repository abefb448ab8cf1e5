"""How much of a budget is spent, and what follows, row by row."""

from __future__ import annotations

import pytest

from gitticks.model.event import ENGINE, Event, EventType
from gitticks.model.settings import BudgetLimits
from gitticks.model.spending import Level, Metric, Reading, Scope, Spent
from gitticks.model.status import Role
from gitticks.model.task import Ending, Usage
from gitticks.workflow import budget
from gitticks.workflow.artifacts import awaits_grant, count_since_last_word, granted_before, with_grant
from tests.support.decisions import ADA, AT, WORKER

LIMITS = BudgetLimits(iterations=10, tokens=1000, cost=3.0, duration=600)


@pytest.mark.parametrize(
    ("spent", "limit", "level", "percent"),
    [
        (0.0, 3.0, Level.FREE, 0),
        (2.39, 3.0, Level.FREE, 79),
        (2.4, 3.0, Level.WARNING, 80),
        (2.84, 3.0, Level.WARNING, 94),
        (2.85, 3.0, Level.CRITICAL, 95),
        (2.99, 3.0, Level.CRITICAL, 99),
        (3.0, 3.0, Level.SPENT, 100),
        (9.0, 3.0, Level.SPENT, 300),
        (0.0, 0.0, Level.SPENT, 100),
        (1, 1, Level.SPENT, 100),
        (0.1 + 0.2, 0.3, Level.SPENT, 100),
        (0.2, 0.2, Level.SPENT, 100),
    ],
)
def test_the_level_of_a_budget(spent: float, limit: float, level: Level, percent: int) -> None:
    reading = Reading(Scope.TASK, Metric.COST, spent, limit)
    assert (reading.level, reading.percent) == (level, percent)


@pytest.mark.parametrize(
    ("scope", "metric", "stops_worker", "stops_reviewer"),
    [
        (Scope.TASK, Metric.ITERATIONS, True, False),
        (Scope.TASK, Metric.TOKENS, True, False),
        (Scope.TASK, Metric.COST, True, False),
        (Scope.TASK, Metric.DURATION, True, False),
        (Scope.EPIC, Metric.ITERATIONS, True, False),
        (Scope.EPIC, Metric.TOKENS, True, False),
        (Scope.EPIC, Metric.COST, True, False),
        (Scope.EPIC, Metric.DURATION, True, False),
        (Scope.RUN, Metric.ITERATIONS, True, False),
        (Scope.RUN, Metric.TOKENS, True, True),
        (Scope.RUN, Metric.COST, True, True),
        (Scope.RUN, Metric.DURATION, True, True),
    ],
)
def test_whom_a_spent_budget_keeps_from_starting(
    scope: Scope, metric: Metric, stops_worker: bool, stops_reviewer: bool
) -> None:
    spent = Reading(scope, metric, 5, 5)
    assert spent.stops(Role.WORKER) is stops_worker
    assert spent.stops(Role.REVIEWER) is stops_reviewer
    for below in (Reading(scope, metric, 4.9, 5), Reading(scope, metric, 4, 5), Reading(scope, metric, 0, 5)):
        assert not below.stops(Role.WORKER)
        assert not below.stops(Role.REVIEWER)


def test_each_limit_that_is_set_is_read() -> None:
    spent = Spent(3, 900, 2.9, 600.5)
    found = budget.read(Scope.EPIC, spent, LIMITS)
    assert [(one.metric, one.spent, one.level) for one in found] == [
        (Metric.ITERATIONS, 3, Level.FREE),
        (Metric.TOKENS, 900, Level.WARNING),
        (Metric.COST, 2.9, Level.CRITICAL),
        (Metric.DURATION, 600.5, Level.SPENT),
    ]
    assert budget.read(Scope.EPIC, spent, BudgetLimits()) == ()
    stopped = budget.stopping(found, Role.WORKER)
    assert stopped is not None
    assert stopped.metric is Metric.DURATION


@pytest.mark.parametrize(
    ("before", "after", "levels"),
    [
        (0.0, 2.0, []),
        (2.0, 2.4, [Level.WARNING]),
        (2.4, 2.6, []),
        (2.4, 2.9, [Level.CRITICAL]),
        (0.0, 2.9, [Level.CRITICAL]),
        (2.9, 3.5, [Level.SPENT]),
        (3.0, 4.0, []),
    ],
)
def test_a_level_is_reached_once(before: float, after: float, levels: list[Level]) -> None:
    limits = BudgetLimits(cost=3.0)
    first = budget.read(Scope.TASK, Spent(cost=before), limits)
    second = budget.read(Scope.TASK, Spent(cost=after), limits)
    assert [one.level for one in budget.newly_reached(first, second)] == levels


@pytest.mark.parametrize(
    ("metric", "spent", "limit", "words"),
    [
        (Metric.COST, 2.4, 3.0, "$2.40 of $3.00"),
        (Metric.COST, 0.0012, 1234.5, "$0.0012 of $1,234.50"),
        (Metric.COST, 0.0, 3.0, "$0.00 of $3.00"),
        (Metric.TOKENS, 84000, 100000, "84,000 of 100,000 tokens"),
        (Metric.ITERATIONS, 1, 1, "1 of 1 iteration"),
        (Metric.ITERATIONS, 3, 10, "3 of 10 iterations"),
        (Metric.DURATION, 4.0, 5, "4 s of 5 s"),
        (Metric.DURATION, 4.8, 5, "4.8 s of 5 s"),
        (Metric.DURATION, 5.2, 5, "5 s of 5 s"),
        (Metric.DURATION, 59.9, 3600, "59 s of 1 h"),
        (Metric.DURATION, 3900, 7200, "1 h 5 min of 2 h"),
        (Metric.DURATION, 90, 600, "1 min 30 s of 10 min"),
    ],
)
def test_words(metric: Metric, spent: float, limit: float, words: str) -> None:
    assert Reading(Scope.TASK, metric, spent, limit).words == words


@pytest.mark.parametrize(
    ("role", "ending", "iterations"),
    [
        (Role.WORKER, Ending.CLEAN, 1),
        (Role.WORKER, Ending.CRASHED, 1),
        (Role.WORKER, Ending.TIMED_OUT, 1),
        (Role.WORKER, Ending.STOPPED, 1),
        (Role.WORKER, Ending.CONTEXT_FULL, 1),
        (Role.WORKER, Ending.REFUSED, 1),
        (Role.WORKER, Ending.OUTAGE, 0),
        (Role.WORKER, Ending.RATE_LIMITED, 0),
        (Role.WORKER, Ending.USAGE_LIMITED, 0),
        (Role.WORKER, Ending.SANDBOX_FAILED, 0),
        (Role.WORKER, Ending.INTERRUPTED, 0),
        (Role.WORKER, Ending.START_FAILED, 0),
        (Role.REVIEWER, Ending.CLEAN, 0),
    ],
)
def test_what_a_session_counts_for(role: Role, ending: Ending, iterations: int) -> None:
    usage = Usage(iterations=1, tokens_in=10, tokens_out=5, cost=0.5, seconds=2.0)
    assert budget.spent_of(usage, role, ending.value) == Spent(iterations, 15, 0.5, 2.0)


def ended(role: Role = Role.WORKER, **data: str | float) -> Event:
    return Event(EventType.SESSION_ENDED, AT, WORKER, data={"role": role.value, "ending": "clean", **data})


def test_what_was_spent_is_read_from_histories_and_a_persons_word_grants_a_task_as_much_again() -> None:
    first = (ended(tokens_in=10, tokens_out=5, cost=0.5), ended(Role.REVIEWER, cost=0.25, seconds=2))
    word = Event(EventType.VERDICT, AT, ADA, data={"verdict": "approved", "awaiting": "escalation"})
    assert budget.spent_in(first) == Spent(1, 15, 0.75, 2.0)
    assert count_since_last_word(first).spent == Spent(1, 15, 0.75, 2.0)
    assert count_since_last_word((*first, word)).spent == Spent()
    assert count_since_last_word((*first, word, ended(cost=1.0))).spent == Spent(1, 0, 1.0)
    assert budget.spent_in((*first, word, ended(cost=1.0))).cost == 1.75


def test_figures_that_make_no_sense_are_none() -> None:
    bad: dict[str, str | float] = {
        "tokens_in": -5,
        "tokens_out": "many",
        "cost": float("nan"),
        "seconds": 1e300,
    }
    assert budget.spent_in([ended(Role.WORKER, **bad)]) == Spent(1)


def test_an_epic_is_granted_what_was_spent_when_it_stopped() -> None:
    reading = Reading(Scope.EPIC, Metric.COST, 3.5, 3.0)
    warned = Event(
        EventType.BUDGET,
        AT,
        ENGINE,
        data=budget.reached_data(Reading(Scope.EPIC, Metric.COST, 2.5, 3.0), Spent(2)),
    )
    stop = Event(EventType.BUDGET, AT, ENGINE, data=budget.reached_data(reading, Spent(4, 100, 3.5, 60.0)))
    word = Event(EventType.VERDICT, AT, ADA, data={"verdict": "approved", "awaiting": "escalation"})
    assert granted_before([warned, word]) == Spent()
    assert granted_before([warned, stop]) == Spent()
    assert granted_before([warned, stop, word]) == Spent(4, 100, 3.5, 60.0)
    assert granted_before([warned, stop, word, warned, word]) == Spent(4, 100, 3.5, 60.0)
    assert [awaits_grant(one) for one in ([warned], [stop], [stop, word])] == [False, True, False]


def test_what_was_spent_between_the_stop_and_the_word_is_granted_too() -> None:
    total = Spent(4, 100, 3.5, 60.0)
    stop = Event(
        EventType.BUDGET,
        AT,
        ENGINE,
        data=budget.reached_data(Reading(Scope.EPIC, Metric.COST, 3.5, 3.0), total),
    )
    word = Event(EventType.VERDICT, AT, ADA, data={"verdict": "approved", "awaiting": "escalation"})
    moved = Event(EventType.ADVANCED, AT, ENGINE)
    later = total.plus(Spent(1, 10, 2.0))
    events = with_grant([moved, word, word], later)
    assert (events[0], events[2]) == (moved, word)
    assert events[1].data.items() >= word.data.items()
    assert granted_before([stop, *events]) == later
    assert granted_before([stop, *events, word]) == later, "a word that grants nothing takes nothing away"


def test_a_reopened_task_that_forgot_what_it_took_gives_nothing_back() -> None:
    assert Spent(1, 10, 1.0, 5.0).minus(Spent(4, 5, 3.0, 1.0)) == Spent(0, 5, 0.0, 4.0)
