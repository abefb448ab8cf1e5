"""A repository in which agents and people have worked for some weeks, for whatever counts what happened."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

from gitticks.model.event import ENGINE, Actor, Event, EventType
from gitticks.model.ids import TaskId
from gitticks.model.status import ActorKind, Awaiting, Role, Status, TaskType
from gitticks.model.task import Usage
from gitticks.store.branch import Store
from gitticks.store.transaction import Transaction
from tests.support.stores import ADA, ADA_ACTOR, NOW, make_store, put_task

CLAUDE = Actor(ActorKind.AGENT, "claude", Role.WORKER)
CODEX = Actor(ActorKind.AGENT, "codex", Role.REVIEWER)
SPENT = Usage(1, 120_000, 8_000, 0.75, 600.0)
EPIC = TaskId("e0pc")
HOSTILE = 'Round "two" </th><script>alert(1)</script> \x1b[31m\u202e {{ 7*7 }} 日本 🎉'


def make_lived(path: Path) -> Store:
    """Makes the repository: an epic with three tasks done, one given up, one that asks, and one that was never begun."""
    store = make_store(path)
    store.transact(_put_lived, author=ADA)
    return store


def _put_lived(transaction: Transaction) -> None:
    put_task(transaction, "Accounts", id=EPIC, type=TaskType.EPIC, created=NOW - timedelta(days=30))
    for number, days in enumerate((21, 13, 1)):
        begun = NOW - timedelta(days=days)
        done = begun + timedelta(hours=5 * (number + 1))
        put_task(
            transaction,
            f"Step {number}",
            id=f"st3{number}",
            parent=EPIC,
            status=Status.DONE,
            created=begun,
            closed=done,
            usage=SPENT._replace(iterations=2, cost=1.0),
            events=_way(begun, done),
        )
    put_task(
        transaction,
        HOSTILE,
        id="m3xq",
        status=Status.CLARIFICATION,
        awaiting=Awaiting.INPUT,
        asked_at=NOW - timedelta(hours=2),
        agent="codex",
        events=(_step(NOW - timedelta(hours=2), Status.WORKING, Status.CLARIFICATION),),
    )
    put_task(
        transaction, "Given up", id="g1vn", status=Status.CANCELLED, created=NOW - timedelta(days=9), closed=NOW
    )  # fmt: skip
    put_task(transaction, "Later", id="l8er")


def _way(begun: datetime, done: datetime) -> Iterator[Event]:
    """Yields the events of a task that failed one review, crashed once, and then waited two hours for its approval."""
    hour = timedelta(hours=1)
    yield _step(begun, Status.PENDING, Status.WORKING)
    yield Event(EventType.CRASHED, begun, CLAUDE, data={"status": "working", "crash_count": 1})
    yield _step(begun + hour, Status.WORKING, Status.AGENT_REVIEW)
    yield _ended(begun + hour, CLAUDE, SPENT)
    yield _step(begun + hour, Status.AGENT_REVIEW, Status.WORKING, "FAIL")
    yield _ended(begun + hour, CODEX, Usage(1, cost=0.25))
    yield _step(begun + 2 * hour, Status.WORKING, Status.AGENT_REVIEW)
    yield _step(done - 2 * hour, Status.AGENT_REVIEW, Status.REVIEWING, "PASS")
    yield Event(EventType.VERDICT, done, ADA_ACTOR, data={"verdict": "approved", "awaiting": "review"})
    yield _step(done, Status.REVIEWING, Status.DONE)


def _step(at: datetime, source: Status, target: Status, reason: str | None = None) -> Event:
    return Event(EventType.ADVANCED, at, ENGINE, source, target, reason)


def _ended(at: datetime, actor: Actor, spent: Usage) -> Event:
    figures = {"tokens_in": spent.tokens_in, "tokens_out": spent.tokens_out, "cost": spent.cost}
    role = actor.role.value if actor.role else None
    return Event(EventType.SESSION_ENDED, at, actor, data={"role": role, "seconds": spent.seconds, **figures})
