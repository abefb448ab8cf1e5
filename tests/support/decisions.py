"""Builders for tests of the decisions: a task in any status, the actors, and `decide` with everything defaulted."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from gitticks.model.event import ENGINE, Actor, EventType
from gitticks.model.ids import TaskId
from gitticks.model.notes import ReviewOutcome
from gitticks.model.settings import Policy
from gitticks.model.status import ActorKind, Awaiting, Role, Status, TaskType, Verdict
from gitticks.model.task import Approval, Ending, Task
from gitticks.workflow.artifacts import Artifacts, Counts
from gitticks.workflow.decide import decide
from gitticks.workflow.decision import Decision
from gitticks.workflow.sessions import current_round
from gitticks.workflow.signals import Signal, SignalKind
from gitticks.workflow.triggers import SessionEnded, Trigger, VerdictGiven

AT = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)
EARLIER = datetime(2026, 3, 4, 5, 0, 0, tzinfo=UTC)
START, HEAD, OTHER_HEAD, MERGE = "a" * 40, "b" * 40, "c" * 40, "d" * 40

ADA = Actor(ActorKind.HUMAN, "Ada")
WORKER = Actor(ActorKind.AGENT, "claude", Role.WORKER)
REVIEWER = Actor(ActorKind.AGENT, "codex", Role.REVIEWER)
CLARIFIER = Actor(ActorKind.AGENT, "claude", Role.CLARIFIER)
ACTORS = {"worker": WORKER, "reviewer": REVIEWER, "human": ADA, "engine": ENGINE}

HANDED_OFF = Artifacts(handoff=True, head=HEAD)
PASSED = Artifacts(handoff=True, review=ReviewOutcome.PASS, head=HEAD)
FAILED = Artifacts(handoff=True, review=ReviewOutcome.FAIL, head=HEAD)
NOTHING = Artifacts()
RED = Artifacts(handoff=True, checks_failure="`make test` failed", head=HEAD)

CRASHES = [Ending.CRASHED, Ending.TIMED_OUT]
CUT_OFF = [
    Ending.INTERRUPTED,
    Ending.OUTAGE,
    Ending.RATE_LIMITED,
    Ending.USAGE_LIMITED,
    Ending.SANDBOX_FAILED,
]
FINISHED = [Ending.CLEAN, *CRASHES, *CUT_OFF]

_USUAL_AWAITING = {
    Status.CLARIFICATION: Awaiting.INPUT,
    Status.STUCK: Awaiting.ESCALATION,
    Status.REVIEWING: Awaiting.REVIEW,
}


def make_task(status: Status = Status.WORKING, **fields: Any) -> Task:
    """Returns a task as it usually looks in a status; fields override."""
    begun: dict[str, Any] = {}
    if status is not Status.PENDING:
        begun = {"base": "main", "branch": "gitticks/work/k7f2", "start_sha": START}
    if status in (Status.AGENT_REVIEW, Status.REVIEWING):
        begun |= {"end_sha": HEAD, "review_round": 1}
    awaiting = _USUAL_AWAITING.get(status)
    asked_at = EARLIER if awaiting else None
    usual = {"status": status, "awaiting": awaiting, "asked_at": asked_at, **begun}
    return Task(**{"id": TaskId("k7f2"), "title": "Login loses the return URL", **usual, **fields})


def make_epic(status: Status = Status.WORKING, **fields: Any) -> Task:
    """Returns an epic as it usually looks in a status."""
    return make_task(status, type=TaskType.EPIC, **fields)


def make_merging(**fields: Any) -> Task:
    """Returns a task whose approved head waits for its merge."""
    approval = Approval("Ada", EARLIER, HEAD)
    return make_task(Status.REVIEWING, **{"awaiting": None, "approval": approval, **fields})


def run(
    task: Task,
    trigger: Trigger,
    *,
    artifacts: Artifacts | None = None,
    counts: Counts | None = None,
    policy: Policy | None = None,
    at: datetime = AT,
) -> Decision:
    """Decides, with nothing written, nothing counted and the default policy where nothing else is said."""
    return decide(
        task,
        trigger,
        at=at,
        artifacts=artifacts or Artifacts(head=task.end_sha),
        counts=counts or Counts(),
        policy=policy or Policy(),
    )


def answer(verdict: Verdict, note: str | None = None, **fields: Any) -> VerdictGiven:
    """Returns a person's verdict."""
    return VerdictGiven(ADA, verdict, note, **fields)


def ended(
    task: Task,
    ending: Ending = Ending.CLEAN,
    kind: SignalKind | None = None,
    text: str = "",
    *,
    role: Role | None = None,
    **fields: Any,
) -> SessionEnded:
    """Returns the end of the session that the task has now: a reviewer in agent-review, else a worker."""
    if role is None:
        role = Role.REVIEWER if task.status is Status.AGENT_REVIEW else Role.WORKER
    actor = WORKER._replace(role=role)
    signal = Signal(kind, text) if kind else None
    return SessionEnded(actor, role, current_round(task, role), ending, signal, **fields)


def way(decision: Decision) -> list[str]:
    """Returns the statuses that a decision goes through, first one first; empty if it stays."""
    return [str(step.from_status) for step in decision.steps[:1]] + [
        str(step.to_status) for step in decision.steps
    ]


def kinds(decision: Decision) -> list[EventType]:
    """Returns the types of a decision's events in order."""
    return [event.type for event in decision.events]


def waived(decision: Decision) -> list[str]:
    """Returns the names of the gates that a decision waived, in order."""
    return [str(event.data["gate"]) for event in decision.events if event.type is EventType.WAIVED]


def is_iteration(decision: Decision) -> bool:
    """True if the session's end that was decided about counts as an iteration."""
    (event,) = (event for event in decision.events if event.type is EventType.SESSION_ENDED)
    assert isinstance(event.data["iteration"], bool)
    return event.data["iteration"]
