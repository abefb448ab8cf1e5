"""A task of which no field stands at its default."""

from __future__ import annotations

from datetime import UTC, date, datetime

from gitticks.model.ids import TaskId
from gitticks.model.status import Awaiting, Isolation, Requires, Status, TaskType, Verdict
from gitticks.model.task import Approval, Claim, Task, Usage

AT = datetime(2026, 11, 22, 10, 2, 3, tzinfo=UTC)
HEAD = "0123456789abcdef0123456789abcdef01234567"
FULL = Task(
    id=TaskId("k7f2"),
    title="Fix it: now #1",
    type=TaskType.EPIC,
    status=Status.REVIEWING,
    priority=0,
    labels=("a", "no", "x, y"),
    blocked_by=(TaskId("b1"), TaskId("012")),
    parent=TaskId("p1"),
    requires=Requires.CONTENT,
    asked=Requires.REVIEW,
    awaiting=Awaiting.INPUT,
    verdict=Verdict.APPROVED,
    approval=Approval("Ada", AT, HEAD, "L2"),
    reviewer="null",
    assignee="yes",
    due=date(2026, 12, 24),
    defer_until=date(2026, 12, 1),
    agent="claude",
    model="1.5",
    isolation=Isolation.NONE,
    base="main",
    branch="gitticks/work/k7f2",
    start_sha=HEAD,
    end_sha="1" * 40,
    merged_sha="12e" + "0" * 61,
    pr="https://example.org/pull/1",
    review_round=3,
    failed_reviews=1,
    crash_count=2,
    usage=Usage(1, 2, 3, 0.000001, 5.5),
    claim=Claim("r1", "host.example", AT, AT),
    agent_sessions={"claude": "abc-1", "x: y": "0"},
    asked_at=AT,
    responded_at=AT,
    created=AT,
    created_by="Ada Lovelace",
    updated=AT,
    closed=AT,
    closed_reason="won't: do",
    external_ref="GH-12",
)
