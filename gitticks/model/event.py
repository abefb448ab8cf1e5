"""History events, one line each in history.jsonl; appended, never changed."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from gitticks.model.status import ActorKind, Role, Status

Data = Mapping[str, str | int | float | bool | list[str] | None]
NO_DATA: Data = {}


class Actor(NamedTuple):
    """Who asked for a change: the kind decides what is allowed, the name is for readers."""

    kind: ActorKind
    name: str
    role: Role | None = None

    @property
    def is_human(self) -> bool:
        """True for a person."""
        return self.kind is ActorKind.HUMAN

    @property
    def is_agent(self) -> bool:
        """True for an agent in whatever role."""
        return self.kind is ActorKind.AGENT


ENGINE = Actor(ActorKind.ENGINE, "gitticks")


class EventType(StrEnum):
    """Every kind of line that history.jsonl can hold."""

    CREATED = "task.created"
    FIELDS_CHANGED = "task.changed"
    TEXT_CHANGED = "task.edited"
    REOPENED = "task.reopened"
    RESUMED = "task.resumed"
    IMPORTED = "task.imported"
    NOTED = "note.added"
    ASKED = "question.asked"
    ANSWERED = "question.answered"
    MOVED = "status.changed"
    ADVANCED = "auto.advanced"
    WAIVED = "gate.waived"
    GATE_FAILED = "gate.failed"
    AWAITING_SET = "awaiting.set"
    VERDICT = "verdict.given"
    VOIDED = "approval.voided"
    SESSION_STARTED = "session.started"
    SESSION_ENDED = "session.ended"
    CRASHED = "agent.crashed"
    REFUSED = "agent.refused"
    START_FAILED = "agent.start-failed"
    WARNED = "warning"
    MERGED = "merge.done"
    MERGE_FAILED = "merge.failed"
    CHILDREN = "epic.children"
    BUDGET = "budget.reached"
    SECRETS_ALLOWED = "secrets.allowed"


class Event(NamedTuple):
    """One line of history.jsonl.

    `from_status` and `to_status` stand for the keys `from` and `to`; `data` holds what else a type carries
    (plain strings, numbers, booleans and lists of strings).
    """

    type: EventType
    at: datetime
    actor: Actor
    from_status: Status | None = None
    to_status: Status | None = None
    reason: str | None = None
    data: Data = NO_DATA

    def begins(self, role: Role) -> bool:
        """True for the start of a session in this role."""
        return self.type is EventType.SESSION_STARTED and self.data.get("role") == role.value

    def ends(self, role: Role) -> bool:
        """True for the end of a session in this role."""
        return self.type is EventType.SESSION_ENDED and self.data.get("role") == role.value

    def is_edit_of(self, section: str) -> bool:
        """True if a person wrote a section of the task's text."""
        named = self.data.get("sections")
        is_edit = self.type is EventType.TEXT_CHANGED and self.actor.is_human
        return is_edit and isinstance(named, list) and section.casefold() in map(str.casefold, named)
