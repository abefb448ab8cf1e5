"""What the session on a task is doing, in one word, and why it waits; derived, never stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from gitticks.model.event import ENGINE, Event, EventType
from gitticks.model.status import Awaiting, Status

if TYPE_CHECKING:
    from gitticks.model.task_row import AnyTask


class SessionState:
    """What an agent does with a task right now, as shown by `gt status` and JSON.

    Plain words, so that a listing as JSON does not make an enum for them.
    """

    IDLE = "idle"
    WORKING = "working"
    AWAITING_COUNCIL = "awaiting_council"
    NEEDS_HUMAN_REVIEW = "needs_human_review"
    DONE = "done"
    BLOCKED = "blocked"
    FAILED = "failed"
    INTERRUPTED = "interrupted"
    STOPPED = "stopped"


MEANINGS: dict[str, str] = {
    SessionState.IDLE: "no agent is working on it, and it waits only for its turn",
    SessionState.WORKING: "an agent or a person is working on it, here or in another clone",
    SessionState.AWAITING_COUNCIL: "handed off; being reviewed, or about to be",
    SessionState.NEEDS_HUMAN_REVIEW: "a person approves or rejects",
    SessionState.DONE: "accepted: done, or its merge is pending",
    SessionState.BLOCKED: "the agent asked; a person answers or does a part",
    SessionState.FAILED: "stuck: agents make no progress",
    SessionState.INTERRUPTED: "its runner died; the next run continues",
    SessionState.STOPPED: "a person stopped it, or gave up the task",
}
"""What each state means, in the order along the way."""

_FOR_REVIEW = frozenset({Awaiting.APPROVAL, Awaiting.REVIEW, Awaiting.CONTENT})
_BY_STATUS: dict[str, str] = {
    Status.DONE: SessionState.DONE,
    Status.CANCELLED: SessionState.STOPPED,
    Status.STUCK: SessionState.FAILED,
    Status.CLARIFICATION: SessionState.BLOCKED,
}
"""The statuses that tell it by themselves."""


def session_state(
    status: str,
    awaiting: str | None,
    *,
    is_merging: bool = False,
    is_live: bool = False,
    left: str | None = None,
    is_held: bool = False,
) -> str:
    """Returns the state of a task's session.

    `is_live` while an agent or a person is at it. `left` is how its last session ended here, where that left it
    unfinished: `interrupted` or `stopped`. `is_held` if `gt stop` holds it.
    """
    if status in _BY_STATUS:
        return _BY_STATUS[status]
    if is_merging:
        return SessionState.DONE
    if awaiting is not None:
        return SessionState.NEEDS_HUMAN_REVIEW if awaiting in _FOR_REVIEW else SessionState.BLOCKED
    if not is_live and (is_held or left is not None):
        return SessionState.STOPPED if is_held or left == SessionState.STOPPED else SessionState.INTERRUPTED
    if status == Status.AGENT_REVIEW:
        return SessionState.AWAITING_COUNCIL
    return SessionState.WORKING if is_live else SessionState.IDLE


def _tells_why_stuck(event: Event) -> bool:
    is_asked = event.type is EventType.AWAITING_SET and event.actor == ENGINE and event.reason is not None
    return event.to_status is Status.STUCK or is_asked


def waits_because(task: AnyTask, events: Sequence[Event]) -> str:
    """Returns why a task is stuck, or why gitticks itself asks a person; empty if its history does not say.

    Of a stuck task that is the latest of both.
    """
    if task.status == Status.STUCK:
        last = next((event for event in reversed(events) if _tells_why_stuck(event)), None)
        return "" if last is None else " ".join((last.reason or "").split())
    is_escalated = task.awaiting == Awaiting.ESCALATION
    last = next((event for event in reversed(events) if event.type is EventType.AWAITING_SET), None)
    if last is None or last.actor != ENGINE or (not is_escalated and last.at != task.asked_at):
        return ""
    return last.reason or ""
