"""What a verdict means for each kind of awaiting, as data."""

from __future__ import annotations

from enum import Enum

from gitticks.model.status import Awaiting, Verdict


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
