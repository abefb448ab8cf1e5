"""The closed sets of words that tasks are made of: statuses, kinds of awaiting, verdicts, roles."""

from __future__ import annotations

from enum import Enum, StrEnum

from gitticks.model import words


class Status(StrEnum):
    """Where a task stands; the order of the members is the order along the way."""

    PENDING = words.PENDING
    CLARIFICATION = words.CLARIFICATION
    WORKING = words.WORKING
    AGENT_REVIEW = words.AGENT_REVIEW
    REVIEWING = words.REVIEWING
    STUCK = words.STUCK
    DONE = words.DONE
    CANCELLED = words.CANCELLED

    @property
    def is_terminal(self) -> bool:
        """True for done and cancelled, which only `gt reopen` leaves."""
        return self in (Status.DONE, Status.CANCELLED)

    @property
    def phase(self) -> Phase:
        """Returns the column of a board that this status belongs to."""
        return _PHASES[self]


class Phase(StrEnum):
    """The columns of a board, derived from the status and never stored."""

    OPEN = words.OPEN
    IN_PROGRESS = words.IN_PROGRESS
    IN_REVIEW = words.IN_REVIEW
    CLOSED = words.CLOSED


_PHASES = {Status(status): Phase(phase) for status, phase in words.PHASES.items()}


class Awaiting(StrEnum):
    """Why it is a person's turn."""

    WORK = "work"
    APPROVAL = "approval"
    INPUT = "input"
    REVIEW = "review"
    CONTENT = "content"
    ESCALATION = "escalation"
    CHECKPOINT = "checkpoint"


class Requires(StrEnum):
    """The human gate that a task always passes, and what a signal may ask for."""

    APPROVAL = "approval"
    REVIEW = "review"
    CONTENT = "content"

    @property
    def awaiting(self) -> Awaiting:
        """Returns the kind of awaiting that this gate sets."""
        return Awaiting(self.value)


class Verdict(StrEnum):
    """A person's answer to what a task awaits."""

    APPROVED = "approved"
    REJECTED = "rejected"


class TaskType(StrEnum):
    """A unit of work, or the epic that holds several."""

    TASK = "task"
    EPIC = "epic"


class Isolation(StrEnum):
    """Where an agent works: a worktree for each task, one for each epic, or the user's own checkout."""

    TASK = "task"
    EPIC = "epic"
    NONE = "none"


class ActorKind(StrEnum):
    """Who asks for a change."""

    HUMAN = "human"
    AGENT = "agent"
    ENGINE = "engine"


class Role(StrEnum):
    """What an agent is started for."""

    WORKER = "worker"
    REVIEWER = "reviewer"
    CLARIFIER = "clarifier"


class Priority(Enum):
    """The words for the numbers 0 to 4; files and output hold the number."""

    CRITICAL = 0
    HIGH = 1
    MEDIUM = 2
    LOW = 3
    BACKLOG = 4
