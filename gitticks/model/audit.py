"""A permission decision, as `audit.jsonl` keeps it."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import NamedTuple


class Decided(StrEnum):
    """How a decision came about: by a rule or the mode, or by a person who was asked."""

    ALLOWED = "allowed"
    DENIED = "denied"
    ASKED = "asked"


class UserAction(StrEnum):
    """The result of a question."""

    APPROVED = "approved"
    APPROVED_ALWAYS = "approved always"
    REJECTED = "rejected"
    REJECTED_ALWAYS = "rejected always"
    TIMED_OUT = "timed out"
    NOBODY = "nobody attached"
    LEFT = "left to the client"
    """Nobody was attached and no rule was set: the client's own mode decided, which asks nobody either."""


class Outcome(StrEnum):
    """What came of what an agent wanted to do, whoever decided it."""

    ALLOWED = "allowed"
    DENIED = "denied"
    LEFT = "left to the client"


REFUSING = {
    UserAction.REJECTED: "a person said no",
    UserAction.REJECTED_ALWAYS: "a person said no",
    UserAction.TIMED_OUT: "nobody answered in time",
    UserAction.NOBODY: "nobody was there to ask",
}
"""The results that refuse what was asked for, in words."""


class AuditEntry(NamedTuple):
    """One decision; `epic_id` is the task's parent, `user_action` None where nobody was asked."""

    timestamp: datetime
    iteration: int
    epic_id: str | None
    agent: str
    operation: str
    target: str
    decision: Decided
    reason: str
    user_action: UserAction | None = None

    @property
    def client(self) -> str:
        """Returns the agent, without the reviewer that it was: `claude` of `claude (security)`."""
        return self.agent.partition(" (")[0]

    @property
    def is_refused(self) -> bool:
        """True if the agent was denied."""
        return self.decision is Decided.DENIED or self.user_action in REFUSING

    @property
    def outcome(self) -> Outcome:
        """Returns what came of it."""
        if self.is_refused:
            return Outcome.DENIED
        return Outcome.LEFT if self.user_action is UserAction.LEFT else Outcome.ALLOWED

    @property
    def why_refused(self) -> str:
        """Returns why the agent was denied: the rule, else what came of the question."""
        return self.reason if self.user_action is None else REFUSING.get(self.user_action, "")
