"""Why a task is stuck or asks, by its history."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from gitticks.model.event import ENGINE, Actor, Event, EventType
from gitticks.model.ids import TaskId
from gitticks.model.status import ActorKind, Awaiting, Status
from gitticks.model.task import Task
from gitticks.workflow.session_states import waits_because

AT = datetime(2026, 11, 22, 1, 0, tzinfo=UTC)
STUCK = Task(TaskId("k7f2"), "Login", status=Status.STUCK, awaiting=Awaiting.ESCALATION, asked_at=AT)
REVIEWING = replace(STUCK, status=Status.REVIEWING, awaiting=Awaiting.REVIEW)
ESCALATED = replace(STUCK, status=Status.WORKING)


def became(status: Status, reason: str | None) -> Event:
    return Event(EventType.ADVANCED, AT, ENGINE, to_status=status, reason=reason)


def asked(at: datetime, reason: str | None, actor: Actor = ENGINE) -> Event:
    return Event(EventType.AWAITING_SET, at, actor, reason=reason)


def test_the_last_reason_counts_on_one_line() -> None:
    events = [
        became(Status.STUCK, "first"),
        became(Status.WORKING, None),
        became(Status.STUCK, "two\nlines"),
        became(Status.WORKING, "was stuck"),
    ]
    assert waits_because(STUCK, events) == "two lines"


def test_what_gitticks_asked_of_a_stuck_task_since_comes_before_why_it_is_stuck() -> None:
    events = [asked(AT, "before"), became(Status.STUCK, "crashed"), asked(AT, "its branch is merged")]
    assert waits_because(STUCK, events) == "its branch is merged"
    assert waits_because(STUCK, events[:2]) == "crashed"


@pytest.mark.parametrize("events", [[], [became(Status.WORKING, "was stuck")], [became(Status.STUCK, None)]])
def test_a_history_that_does_not_tell(events: list[Event]) -> None:
    assert waits_because(STUCK, events) == ""


@pytest.mark.parametrize(
    ("task", "last", "why"),
    [
        (REVIEWING, asked(AT, "too large"), "too large"),
        (REVIEWING, asked(AT - timedelta(hours=1), "an earlier turn"), ""),
        (REVIEWING, asked(AT, "by its agent", Actor(ActorKind.AGENT, "claude")), ""),
        (
            ESCALATED,
            asked(AT - timedelta(hours=1), "`budget.epic.cost` is spent"),
            "`budget.epic.cost` is spent",
        ),
        (ESCALATED, asked(AT, None), ""),
    ],
)
def test_what_gitticks_asked_itself(task: Task, last: Event, why: str) -> None:
    assert waits_because(task, [asked(AT, "before"), last]) == why
