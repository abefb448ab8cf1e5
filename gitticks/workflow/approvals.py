"""What makes an approval count: its strength, the commit and the rules it is for, and what is still to prove."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from gitticks.model.approval import (
    HARDWARE,
    LEVELS,
    NAME,
    SIGNATURE,
    SIGNED,
    WORDS,
    Statement,
    is_enough,
    statement_of,
)
from gitticks.model.event import Event, EventType
from gitticks.model.settings import Settings
from gitticks.model.status import Verdict
from gitticks.model.task import Task
from gitticks.workflow.artifacts import strangers_in

_CLOSING = ("work", "approval", "review", "content")
_WAIVED = "waived"


class Signed(NamedTuple):
    """An approval that only its signature proves, made `at` that time, by a hardware key if it says so."""

    statement: Statement
    signature: str
    at: datetime
    is_by_hardware: bool = False


def gates_digest(settings: Settings) -> str:
    """Returns what the team's quality gates are known by."""
    return _digest(settings.verify._asdict())


def policy_digest(settings: Settings) -> str:
    """Returns what the team's rules about review and approval are known by."""
    return _digest(
        {
            "approvals": settings.approvals._asdict(),
            "council": settings.council._asdict(),
            "human": settings.human,
            "merge": [settings.merge.mode, settings.merge.strategy],
            "review": settings.review,
            "review_limit": settings.review_limit,
        }
    )


def _digest(value: object) -> str:
    text = json.dumps(value, sort_keys=True, default=str, separators=(",", ":"))
    return "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def is_approval(event: Event) -> bool:
    """True for the verdict of a person that closes or merges work."""
    data = event.data
    return (
        event.type is EventType.VERDICT
        and data.get("verdict") == Verdict.APPROVED.value
        and data.get("awaiting") in _CLOSING
    )


def last_approval(history: Sequence[Event]) -> Event | None:
    """Returns the approval that counts of a history."""
    return next((event for event in reversed(history) if is_approval(event)), None)


def claimed(task_id: str, approval: Event) -> Signed | str | None:
    """Returns what an approval claims that its signature has to prove.

    None where it claims nothing that could be proven, as a name and a terminal do; in words why it cannot be true.
    """
    strength, signature = approval.data.get("strength"), approval.data.get(SIGNATURE)
    if strength not in (SIGNED, HARDWARE) and signature is None:
        return None
    statement = statement_of(task_id, approval.data)
    if statement is None or not isinstance(signature, str):
        return f"it says {strength}, but has no signature"
    try:
        at = datetime.strptime(statement.at, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=UTC)
    except ValueError:
        return "it has no valid time"
    return Signed(statement, signature, at, is_by_hardware=strength == HARDWARE)


def why_void(
    task: Task, history: Sequence[Event], *, base: str, minimum: str, gates: str, policy: str
) -> str | None:
    """Returns why a task's approval does not carry a merge into `base`, whatever its signature; None if it may.

    `minimum` is how strong it must be, `gates` and `policy` what the team's gates and rules are known by now.
    """
    approval = task.approval
    if approval is None:
        return "nobody approved it"
    if not is_enough(approval.strength, minimum):
        return f"it was approved by {WORDS.get(approval.strength, 'nobody')}, but policy requires {WORDS[minimum]}"
    strangers = ", ".join(sorted(strangers_in(history)))
    if strangers and approval.strength not in LEVELS and not task.is_epic:
        return f"its agent read text by {strangers}, a stranger here, so a person has to approve it"
    event = last_approval(history)
    if event is None:
        return None if minimum == NAME else "its history has no approval"
    if not is_enough(str(event.data.get("strength")), minimum):
        return f"its history has an approval of {event.data.get('strength')}, but policy requires {WORDS[minimum]}"
    statement = statement_of(str(task.id), event.data)
    if statement is None:
        needs_none = not is_enough(approval.strength, SIGNED) or approval.strength == _WAIVED
        return None if needs_none else "its history has no signature"
    for is_same, what in (
        (statement.head == (task.end_sha or ""), "another commit"),
        (statement.base == base, f"the base `{statement.base}`"),
        (statement.gates == gates, "other quality gates"),
        (statement.policy == policy, "another policy"),
    ):
        if not is_same:
            return f"it was approved for {what}"
    return None
