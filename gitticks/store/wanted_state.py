"""What may be asked of a task's state at once: a status, whose turn it is, a verdict. Decided about in that order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gitticks.model.event import Actor
from gitticks.model.ids import TaskId
from gitticks.model.status import Awaiting, Status, Verdict
from gitticks.store.decisions import Circumstances, carry_out
from gitticks.workflow.triggers import AwaitingSet, Requested, Seen, VerdictGiven

if TYPE_CHECKING:
    from gitticks.store.transaction import Transaction
    from gitticks.workflow.decision import Decision


@dataclass(frozen=True, slots=True)
class WantedState:
    """What is asked for, each part None if it is not; `sets_awaiting` tells `awaiting: null` from no wish.

    `note` goes with the verdict, `reason` with the status.
    """

    status: Status | None = None
    awaiting: Awaiting | None = None
    sets_awaiting: bool = False
    verdict: Verdict | None = None
    note: str | None = None
    reason: str | None = None
    seen: Seen | None = None


def apply_state(
    transaction: Transaction,
    task_id: TaskId,
    wanted: WantedState,
    actor: Actor,
    circumstances: Circumstances,
) -> tuple[Decision, ...]:
    """Decides about a status, then whose turn it is, then a verdict; returns the decisions, none if nothing is asked.

    Raises:
        RefusedError: one of them is refused; the transaction is to be given up.
    """
    decisions = []
    if wanted.status is not None:
        trigger = Requested(actor, wanted.status, wanted.reason)
        decisions.append(carry_out(transaction, task_id, trigger, circumstances))
    if wanted.sets_awaiting and transaction.task_file(task_id).task.awaiting is not wanted.awaiting:
        decisions.append(carry_out(transaction, task_id, AwaitingSet(actor, wanted.awaiting), circumstances))
    if wanted.verdict is not None:
        given = VerdictGiven(actor, wanted.verdict, wanted.note, seen=wanted.seen)
        decisions.append(carry_out(transaction, task_id, given, circumstances))
    return tuple(decisions)
