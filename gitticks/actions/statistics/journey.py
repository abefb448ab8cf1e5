"""One task's history: when it waited for people, who worked on it, and what went wrong."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from operator import attrgetter
from typing import NamedTuple

from gitticks.model.event import Event, EventType
from gitticks.model.status import Awaiting, Role, Status
from gitticks.model.task import Task, Usage
from gitticks.workflow.budget import spent_by
from gitticks.workflow.transitions import AWAITED_IN, FAILED_REVIEWS, REVIEW_FAILED, REVIEWS_SPENT


class Wait(NamedTuple):
    """A time in which a task awaited a person; one that has not ended has no end."""

    kind: Awaiting
    begun: datetime
    ended: datetime | None = None


class Session(NamedTuple):
    """One run of an agent on a task that has ended, and what it took; `is_priced` if the agent reported no cost."""

    agent: str
    at: datetime
    spent: Usage
    is_priced: bool = False


class Crash(NamedTuple):
    """An agent's crash."""

    agent: str
    at: datetime


@dataclass(slots=True)
class Facts:
    """What happened to one task, or to several; `worker` is the agent that worked on one last, or is to; empty for none.

    An epic is no task to be counted: it is what its children come to. `rounds` are the times of hand-offs for review.
    """

    worker: str = ""
    tasks: list[Task] = field(default_factory=list)
    waits: list[Wait] = field(default_factory=list)
    sessions: list[Session] = field(default_factory=list)
    rounds: list[datetime] = field(default_factory=list)
    failed_reviews: list[datetime] = field(default_factory=list)
    crashes: list[Crash] = field(default_factory=list)

    def add(self, other: Facts) -> None:
        """Adds everything that is known of others."""
        self.tasks += other.tasks
        self.waits += other.waits
        self.sessions += other.sessions
        self.rounds += other.rounds
        self.failed_reviews += other.failed_reviews
        self.crashes += other.crashes


def follow(task: Task, events: Sequence[Event]) -> Facts:
    """Returns the way of a task with these events; a merge of two histories may have left them in any order."""
    events = sorted(events, key=attrgetter("at"))
    journey = Facts(task.agent or "", [] if task.is_epic else [task])
    journey.waits, begun = _turns(events)
    for event in events:
        _count(journey, event)
    if task.is_open and task.awaiting is not None:
        begun = begun or task.asked_at or (events[-1].at if events else task.created)
        if begun is not None:
            # What another tracker awaited before it was imported, nobody here was asked for.
            arrived = (event.at for event in events if event.type is EventType.IMPORTED)
            journey.waits.append(Wait(task.awaiting, max(begun, next(arrived, begun))))
    return journey


def _count(journey: Facts, event: Event) -> None:
    if event.to_status is Status.AGENT_REVIEW:
        journey.rounds.append(event.at)
    elif event.from_status is Status.AGENT_REVIEW and _is_failed_review(event):
        journey.failed_reviews.append(event.at)
    elif event.type is EventType.CRASHED:
        journey.crashes.append(Crash(_agent(event, journey), event.at))
    elif event.type is EventType.SESSION_ENDED:
        agent = _agent(event, journey)
        journey.sessions.append(Session(agent, event.at, spent_by(event), "cost_source" in event.data))
        if event.data.get("role") == Role.WORKER and agent:
            journey.worker = agent


def _is_failed_review(event: Event) -> bool:
    """True if a review sent the work back; by request that is the only way, else the reason says so."""
    if event.type is EventType.MOVED:
        return event.to_status in (Status.WORKING, Status.STUCK)
    reason = event.reason or ""
    return event.type is EventType.ADVANCED and (
        reason in (REVIEW_FAILED, REVIEWS_SPENT) or reason.endswith(FAILED_REVIEWS)
    )


def _agent(event: Event, journey: Facts) -> str:
    return event.actor.name if event.actor.is_agent else journey.worker


def total_of(sessions: Iterable[Session]) -> Usage:
    """Returns what sessions took together."""
    total = Usage()
    for one in sessions:
        total = total.plus(one.spent)
    return total


def _turns(events: Sequence[Event]) -> tuple[list[Wait], datetime | None]:
    """Returns the times in which it was a person's turn, and since when it is; None if it is not."""
    waits: list[Wait] = []
    begun: datetime | None = None
    kind = Awaiting.REVIEW
    for event in events:
        answered = asked = None
        if event.type is EventType.VERDICT:
            answered = _kind(event)
        elif event.type is EventType.AWAITING_SET:
            asked = _kind(event)
        elif event.type is EventType.WAIVED and event.data.get("gate") == "person":
            begun = None
            continue
        elif event.to_status is not None:
            asked = AWAITED_IN.get(event.to_status)
        else:
            continue
        # An answer tells what a wait was for; one that took no time was none.
        if begun is not None and event.at > begun:
            waits.append(Wait(answered or kind, begun, event.at))
        begun = None
        if asked is not None:
            begun, kind = event.at, asked
    return waits, begun


def _kind(event: Event) -> Awaiting | None:
    value = event.data.get("awaiting")
    return next((kind for kind in Awaiting if kind == value), None)
