from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from gitticks.actions.statistics.journey import Crash, Session, Wait, follow
from gitticks.model.event import ENGINE, Actor, Data, Event, EventType
from gitticks.model.ids import TaskId
from gitticks.model.status import ActorKind, Awaiting, Role, Status
from gitticks.model.task import Task, Usage

START = datetime(2026, 3, 4, 5, 0, tzinfo=UTC)
ADA = Actor(ActorKind.HUMAN, "Ada")
CLAUDE = Actor(ActorKind.AGENT, "claude", Role.WORKER)
CODEX = Actor(ActorKind.AGENT, "codex", Role.REVIEWER)
TASK = Task(TaskId("k7f2"), "Login", created=START)
P, C, W, A, R, S, D = (
    Status.PENDING,
    Status.CLARIFICATION,
    Status.WORKING,
    Status.AGENT_REVIEW,
    Status.REVIEWING,
    Status.STUCK,
    Status.DONE,
)


def at(minute: int) -> datetime:
    return START + timedelta(minutes=minute)


def step(minute: int, source: Status, target: Status, reason: str = "", **how: EventType) -> Event:
    cause = how.get("cause", EventType.ADVANCED)
    actor = ADA if cause is EventType.VERDICT else ENGINE
    return Event(cause, at(minute), actor, source, target, reason or None)


def told(kind: EventType, minute: int, actor: Actor = ENGINE, **data: str | float | bool | None) -> Event:
    values: Data = dict(data)
    return Event(kind, at(minute), actor, data=values)


def verdict(minute: int, awaiting: Awaiting) -> Event:
    return told(EventType.VERDICT, minute, ADA, verdict="approved", awaiting=awaiting.value)


def waits(*events: Event, task: Task = TASK) -> list[Wait]:
    return follow(task, events).waits


def test_what_was_awaited_elsewhere_waits_since_its_import() -> None:
    task = replace(TASK, status=C, awaiting=Awaiting.INPUT, asked_at=START - timedelta(days=3460))
    assert waits(told(EventType.IMPORTED, 3, ADA), task=task) == [Wait(Awaiting.INPUT, at(3))]
    assert waits(told(EventType.CREATED, 3, ADA), task=task) == [
        Wait(Awaiting.INPUT, at(0) - timedelta(days=3460))
    ]


def test_a_question_waits_until_it_is_answered() -> None:
    asked = step(1, W, C)
    answered = (verdict(5, Awaiting.INPUT), step(5, C, W, cause=EventType.VERDICT))
    assert waits(asked, *answered) == [Wait(Awaiting.INPUT, at(1), at(5))]


def test_the_answer_tells_what_was_awaited() -> None:
    assert waits(step(1, W, C), verdict(3, Awaiting.ESCALATION)) == [Wait(Awaiting.ESCALATION, at(1), at(3))]


def test_an_approval_ends_the_wait_although_the_merge_is_pending() -> None:
    way = (step(1, A, R), verdict(4, Awaiting.REVIEW), step(9, R, D))
    assert waits(*way) == [Wait(Awaiting.REVIEW, at(1), at(4))]


def test_a_person_who_approves_early_waits_for_nobody_on_the_way() -> None:
    way = (
        told(EventType.AWAITING_SET, 1, ADA, awaiting="work"),
        verdict(2, Awaiting.WORK),
        step(2, P, W, cause=EventType.VERDICT),
        step(2, W, A, cause=EventType.VERDICT),
        step(2, A, R, cause=EventType.VERDICT),
        step(8, R, D),
    )
    assert waits(*way) == [Wait(Awaiting.WORK, at(1), at(2))]


def test_where_policy_waives_the_person_nobody_is_waited_for() -> None:
    waived = told(EventType.WAIVED, 1, gate="person")
    assert waits(step(1, A, R), waived, step(7, R, D)) == []


def test_each_turn_of_a_person_is_a_wait_of_its_own() -> None:
    way = (
        told(EventType.AWAITING_SET, 1, awaiting="checkpoint"),
        told(EventType.AWAITING_SET, 2, ADA, awaiting=None),
        step(3, A, R),
        step(5, R, S),
        step(9, S, W, cause=EventType.MOVED),
    )
    assert waits(*way) == [
        Wait(Awaiting.CHECKPOINT, at(1), at(2)),
        Wait(Awaiting.REVIEW, at(3), at(5)),
        Wait(Awaiting.ESCALATION, at(5), at(9)),
    ]


@pytest.mark.parametrize(
    ("asked_at", "events", "begun"),
    [
        (at(3), (step(3, W, C),), at(3)),
        (at(2), (), at(2)),
        (None, (told(EventType.CREATED, 1),), at(1)),
        (None, (), START),
    ],
)
def test_a_wait_that_goes_on_has_no_end(
    asked_at: datetime | None, events: tuple[Event, ...], begun: datetime
) -> None:
    task = replace(TASK, status=C, awaiting=Awaiting.INPUT, asked_at=asked_at)
    assert waits(*events, task=task) == [Wait(Awaiting.INPUT, begun)]


def test_histories_of_two_clones_are_reported_in_their_order() -> None:
    way = [
        step(1, A, R),
        verdict(4, Awaiting.REVIEW),
        step(4, R, W),
        step(6, W, C),
        verdict(7, Awaiting.INPUT),
    ]
    assert waits(*way[3:], *way[:3]) == waits(*way)


def test_a_clock_that_goes_back_makes_no_wait() -> None:
    assert waits(step(5, W, C), verdict(1, Awaiting.INPUT)) == []


def test_rounds_failed_reviews_and_crashes_are_counted() -> None:
    way = (
        step(1, W, A),
        step(2, A, W, "FAIL"),
        step(3, W, A),
        step(4, A, S, "2 failed reviews"),
        told(EventType.CRASHED, 5, CODEX, status="agent-review"),
        step(6, A, R, "rounds-exhausted"),
        step(7, A, W, cause=EventType.MOVED),
    )
    journey = follow(TASK, way)
    assert journey.rounds == [at(1), at(3)]
    assert journey.failed_reviews == [at(2), at(4), at(6), at(7)]
    assert journey.crashes == [Crash("codex", at(5))]


@pytest.mark.parametrize(
    "event",
    [
        step(1, A, R, "PASS"),
        step(1, A, S, "crashed: exit code 1"),
        step(1, A, W, "a child is open again"),
        step(1, A, W, "rejected", cause=EventType.VERDICT),
    ],
)
def test_what_is_no_failed_review(event: Event) -> None:
    assert follow(TASK, [event]).failed_reviews == []


def test_sessions_tell_what_they_took_and_who_worked() -> None:
    way = (
        told(EventType.SESSION_ENDED, 1, CLAUDE, role="worker", tokens_in=10, cost=0.5, seconds=60.0),
        told(EventType.SESSION_ENDED, 2, CODEX, role="reviewer", tokens_out=7),
    )
    journey = follow(replace(TASK, agent="gemini", usage=Usage(2, 10, 7, 0.5, 60.0)), way)
    assert journey.worker == "claude"
    assert journey.sessions == [
        Session("claude", at(1), Usage(1, 10, 0, 0.5, 60.0)),
        Session("codex", at(2), Usage(1, 0, 7)),
    ]
    assert follow(replace(TASK, agent="gemini"), ()).worker == "gemini"


@pytest.mark.parametrize("value", [True, -1, float("nan"), 1e300, "12"])
def test_figures_that_make_no_sense_are_none(value: str | float | bool) -> None:
    ended = told(EventType.SESSION_ENDED, 1, CLAUDE, role="worker", cost=value, tokens_in=value)
    assert follow(TASK, [ended]).sessions == [Session("claude", at(1), Usage(1))]
