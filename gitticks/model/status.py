"""The enums of tasks: statuses, kinds of awaiting, verdicts, roles."""

from __future__ import annotations

from enum import Enum, StrEnum

BY_HAND = "hand:"
"""What the runner's name in a claim begins with where it is a person's."""
BUDGET_SPENT = "`budget."
"""How the reason begins where a spent budget stopped a task; an approval grants as much again."""
REVIEWER_CRASHED = "its reviewer "
"""How the reason begins where a review came to nothing; the work itself is finished."""


class Status(StrEnum):
    """A task's status; the order of the members is the order along the way."""

    PENDING = "pending"
    CLARIFICATION = "clarification"
    WORKING = "working"
    AGENT_REVIEW = "agent-review"
    REVIEWING = "reviewing"
    STUCK = "stuck"
    DONE = "done"
    CANCELLED = "cancelled"

    @property
    def is_terminal(self) -> bool:
        """True for done and cancelled, which only `gt reopen` leaves."""
        return self in (Status.DONE, Status.CANCELLED)

    @property
    def words(self) -> str:
        """Returns the status as it follows "is" in a sentence."""
        return f"in {self}" if self in (Status.CLARIFICATION, Status.AGENT_REVIEW) else f"{self}"

    @property
    def phase(self) -> Phase:
        """Returns the column of a board that this status belongs to."""
        return PHASES[self]


class Phase(StrEnum):
    """The columns of a board, derived from the status and never stored."""

    OPEN = "open"
    IN_PROGRESS = "in_progress"
    IN_REVIEW = "in_review"
    CLOSED = "closed"


PHASES: dict[str, Phase] = {
    Status.PENDING: Phase.OPEN,
    Status.CLARIFICATION: Phase.IN_PROGRESS,
    Status.WORKING: Phase.IN_PROGRESS,
    Status.STUCK: Phase.IN_PROGRESS,
    Status.AGENT_REVIEW: Phase.IN_REVIEW,
    Status.REVIEWING: Phase.IN_REVIEW,
    Status.DONE: Phase.CLOSED,
    Status.CANCELLED: Phase.CLOSED,
}
"""The phase of each status, in the order of the phases."""

STATUS_MEANINGS: dict[str, str] = {
    Status.PENDING: "not started",
    Status.CLARIFICATION: "an agent asked; a person answers",
    Status.WORKING: "a worker is working on it, or will continue",
    Status.AGENT_REVIEW: "handed off; an agent reviews it",
    Status.REVIEWING: "reviewed; a person decides, or the merge is pending",
    Status.STUCK: "agents make no progress; a person decides",
    Status.DONE: "closed, and merged if there was code",
    Status.CANCELLED: "given up",
}
"""What each status means, in the order along the way."""


class Awaiting(StrEnum):
    """Why it is a person's turn."""

    WORK = "work"
    APPROVAL = "approval"
    INPUT = "input"
    REVIEW = "review"
    CONTENT = "content"
    ESCALATION = "escalation"
    CHECKPOINT = "checkpoint"


AWAITING_MEANINGS: dict[str, str] = {
    Awaiting.WORK: "a person does the work, or a part of it",
    Awaiting.APPROVAL: "the work needs somebody's approval",
    Awaiting.INPUT: "a question needs an answer",
    Awaiting.REVIEW: "the code needs a review",
    Awaiting.CONTENT: "texts or designs need a review",
    Awaiting.ESCALATION: "something is wrong that an agent cannot resolve",
    Awaiting.CHECKPOINT: "a phase is finished, and the next one may need direction",
}
"""Why it is a person's turn, by the word for it."""

ANSWERED: frozenset[str] = frozenset({Awaiting.INPUT, Awaiting.ESCALATION, Awaiting.CHECKPOINT})
"""What ends with an answer; the rest ends with work that is done, or with a verdict on it."""


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
