"""The tables as data: which status may follow which, past which gate, who may ask, and what a verdict means."""

from __future__ import annotations

from collections.abc import Container
from enum import Enum, StrEnum
from typing import NamedTuple

from gitticks.errors import RefusedError
from gitticks.model.event import Actor
from gitticks.model.status import ActorKind, Awaiting, Role, Status, Verdict
from gitticks.model.task import Task


class Gate(StrEnum):
    """What must be there before a row of the table may be taken."""

    NONE = "none"
    HANDOFF = "handoff"
    QUESTION = "question"
    REVIEW_PASS = "review-pass"
    REVIEW_FAIL = "review-fail"
    REVIEW_FAIL_AT_LIMIT = "review-fail-at-limit"
    REVIEW_SPENT = "review-spent"
    CRASHED = "crashed"
    APPROVED = "approved"
    RETURNED = "returned"
    MERGE_FAILED = "merge-failed"


GATE_MEANINGS = {
    Gate.NONE: "",
    Gate.HANDOFF: "`## Handoff` of this round, and the checks pass",
    Gate.QUESTION: "an agent needs an open question in `## Questions`",
    Gate.REVIEW_PASS: "`## Review` of this round says PASS",
    Gate.REVIEW_FAIL: "`## Review` of this round says FAIL, below the limit",
    Gate.REVIEW_FAIL_AT_LIMIT: "`## Review` of this round says FAIL, at the limit",
    Gate.REVIEW_SPENT: "a council's time or rounds are spent, or half of it or more abstained",
    Gate.CRASHED: "the reviewer crashed twice, or the branch moved twice after a hand-off",
    Gate.APPROVED: "approved or waived, and merged",
    Gate.RETURNED: "rejected, the merge failed, or the branch moved",
    Gate.MERGE_FAILED: "the merge failed, or the branch moved, twice since the last human answer",
}
"""What each gate asks for, in words."""


AWAITED_IN = {
    Status.CLARIFICATION: Awaiting.INPUT,
    Status.STUCK: Awaiting.ESCALATION,
    Status.REVIEWING: Awaiting.REVIEW,
}
"""What a task awaits once it enters a status, unless it, or what moved it there, asks for something else."""


REVIEW_FAILED = "FAIL"
REVIEWS_SPENT = "rounds-exhausted"
REVIEW_LATE = "council-timeout"
REVIEW_ABSTAINED = "council-abstained"
FAILED_REVIEWS = ("failed review", "failed reviews")
"""The reasons of the steps out of a failed review: back to work, past a council's last round, past its time, past one that did not speak, and stuck, below a number."""
REVIEW_WORDS = {
    REVIEWS_SPENT: "blocked in every round",
    REVIEW_ABSTAINED: "half of the council or more abstained",
    REVIEW_LATE: "time is up before all have answered",
}
"""What to show where a council leaves the decision to a person."""


class Asker(Enum):
    """Who may ask for a row; a verdict counts as a person's only way where BY_VERDICT is alone."""

    WORKER = "worker"
    REVIEWER = "reviewer"
    HUMAN = "human"
    BY_VERDICT = "human by verdict"
    ENGINE = "engine"


class Row(NamedTuple):
    """One allowed transition."""

    source: Status
    target: Status
    gate: Gate
    askers: frozenset[Asker]


def _row(source: Status, target: Status, gate: Gate, *askers: Asker) -> Row:
    return Row(source, target, gate, frozenset(askers))


_WORKER, _REVIEWER, _HUMAN, _ENGINE = Asker.WORKER, Asker.REVIEWER, Asker.HUMAN, Asker.ENGINE
_BY_VERDICT = Asker.BY_VERDICT

TABLE: tuple[Row, ...] = (
    _row(Status.PENDING, Status.WORKING, Gate.NONE, _WORKER, _REVIEWER, _HUMAN, _ENGINE),
    _row(Status.PENDING, Status.CLARIFICATION, Gate.NONE, _WORKER, _REVIEWER, _HUMAN, _ENGINE),
    _row(Status.PENDING, Status.CANCELLED, Gate.NONE, _HUMAN, _ENGINE),
    _row(Status.CLARIFICATION, Status.WORKING, Gate.NONE, _HUMAN, _BY_VERDICT),
    _row(Status.CLARIFICATION, Status.CANCELLED, Gate.NONE, _HUMAN, _BY_VERDICT),
    _row(Status.WORKING, Status.AGENT_REVIEW, Gate.HANDOFF, _WORKER, _HUMAN, _ENGINE),
    _row(Status.WORKING, Status.CLARIFICATION, Gate.QUESTION, _WORKER, _HUMAN, _ENGINE),
    _row(Status.WORKING, Status.STUCK, Gate.NONE, _HUMAN, _ENGINE),
    _row(Status.WORKING, Status.CANCELLED, Gate.NONE, _HUMAN, _ENGINE),
    _row(Status.AGENT_REVIEW, Status.REVIEWING, Gate.REVIEW_PASS, _REVIEWER, _HUMAN, _ENGINE),
    _row(Status.AGENT_REVIEW, Status.WORKING, Gate.REVIEW_FAIL, _REVIEWER, _HUMAN, _ENGINE),
    _row(Status.AGENT_REVIEW, Status.STUCK, Gate.REVIEW_FAIL_AT_LIMIT, _REVIEWER, _HUMAN, _ENGINE),
    _row(Status.AGENT_REVIEW, Status.CANCELLED, Gate.NONE, _HUMAN),
    _row(Status.REVIEWING, Status.DONE, Gate.APPROVED, _BY_VERDICT, _ENGINE),
    _row(Status.REVIEWING, Status.WORKING, Gate.RETURNED, _BY_VERDICT, _ENGINE),
    _row(Status.REVIEWING, Status.CANCELLED, Gate.NONE, _HUMAN),
    _row(Status.STUCK, Status.WORKING, Gate.NONE, _HUMAN, _BY_VERDICT),
    _row(Status.STUCK, Status.CANCELLED, Gate.NONE, _HUMAN, _BY_VERDICT),
    _row(Status.STUCK, Status.AGENT_REVIEW, Gate.HANDOFF, _HUMAN, _ENGINE),
)
"""Everything that may be asked for."""

ENGINE_TABLE: tuple[Row, ...] = (
    _row(Status.AGENT_REVIEW, Status.REVIEWING, Gate.REVIEW_SPENT, _ENGINE),
    _row(Status.AGENT_REVIEW, Status.STUCK, Gate.CRASHED, _ENGINE),
    _row(Status.REVIEWING, Status.STUCK, Gate.MERGE_FAILED, _ENGINE),
)
"""What the engine alone does besides: nobody can ask for these rows."""


def find_row(source: Status, target: Status) -> Row | None:
    """Returns the row that somebody may ask for, or None."""
    return next((row for row in TABLE if row.source is source and row.target is target), None)


def targets(source: Status, asker: Asker | None = None) -> tuple[Status, ...]:
    """Returns the statuses that may follow `source`, for one asker or whomever, in table order; empty if none may."""
    rows = (row for row in TABLE if row.source is source and (asker is None or asker in row.askers))
    return tuple(row.target for row in rows)


def rows_between(source: Status, target: Status) -> tuple[Row, ...]:
    """Returns the rows of both tables that lead from one status to the other; empty if there are none."""
    return tuple(row for row in TABLE + ENGINE_TABLE if row.source is source and row.target is target)


def asker_of(actor: Actor) -> Asker:
    """Returns an actor's column of the table; an agent that nobody started has a worker's rights."""
    if actor.kind is ActorKind.HUMAN:
        return Asker.HUMAN
    if actor.kind is ActorKind.ENGINE:
        return Asker.ENGINE
    return Asker.REVIEWER if actor.role is Role.REVIEWER else Asker.WORKER


class Outcome(Enum):
    """Where a verdict leads."""

    CLOSE = "done, after a merge if there is code"
    RETURN = "back to the agent"
    CANCEL = "cancelled"
    REFUSE = "refused: nothing changes"


VERDICTS: dict[tuple[Awaiting, Verdict], Outcome] = {
    (Awaiting.WORK, Verdict.APPROVED): Outcome.CLOSE,
    (Awaiting.WORK, Verdict.REJECTED): Outcome.REFUSE,
    (Awaiting.APPROVAL, Verdict.APPROVED): Outcome.CLOSE,
    (Awaiting.APPROVAL, Verdict.REJECTED): Outcome.RETURN,
    (Awaiting.REVIEW, Verdict.APPROVED): Outcome.CLOSE,
    (Awaiting.REVIEW, Verdict.REJECTED): Outcome.RETURN,
    (Awaiting.CONTENT, Verdict.APPROVED): Outcome.CLOSE,
    (Awaiting.CONTENT, Verdict.REJECTED): Outcome.RETURN,
    (Awaiting.INPUT, Verdict.APPROVED): Outcome.RETURN,
    (Awaiting.INPUT, Verdict.REJECTED): Outcome.CANCEL,
    (Awaiting.ESCALATION, Verdict.APPROVED): Outcome.RETURN,
    (Awaiting.ESCALATION, Verdict.REJECTED): Outcome.CANCEL,
    (Awaiting.CHECKPOINT, Verdict.APPROVED): Outcome.RETURN,
    (Awaiting.CHECKPOINT, Verdict.REJECTED): Outcome.RETURN,
}
"""Every kind of awaiting has both verdicts here."""


def refuse_settled(task: Task, names: Container[str]) -> None:
    """Refuses to change a person's gate once the work has passed it and only the merge is left.

    Raises:
        RefusedError: `requires` is one of them, and the task is merging.
    """
    if task.is_merging and "requires" in names:
        raise RefusedError(
            f"`{task.id}` is approved and merging, so what it requires cannot be changed",
            hint=f"`gt update {task.id} --awaiting review` withdraws the approval",
        )
