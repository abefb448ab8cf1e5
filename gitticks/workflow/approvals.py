"""What makes an approval count: its strength, the commit and the rules it is for, and what is still to prove."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
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
from gitticks.model.status import ActorKind, Status, Verdict
from gitticks.model.task import Approval, Task
from gitticks.workflow.artifacts import hands_of, strangers_in

_CLOSING = ("work", "approval", "review", "content")
WAIVED = "waived"
NOT_GIVEN = "its history has no approval"


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


def gives_approval(event: Event) -> bool:
    """True for what lets reviewed work be merged: a person's approval, and the policy that asks for none."""
    if event.actor.is_human:
        return is_approval(event)
    is_waiver = event.type is EventType.WAIVED and event.data.get("gate") == "person"
    return is_waiver and event.actor.kind is ActorKind.ENGINE


def with_head(events: Iterable[Event], head: str | None) -> tuple[Event, ...]:
    """Returns a decision's events; what gives an approval among them says for which commit."""
    return tuple(
        one._replace(data={"head": head, **one.data}) if head and gives_approval(one) else one
        for one in events
    )


def valid_approvals(history: Iterable[Event]) -> list[Event]:
    """Returns what approved the work that was handed off last and was not taken back, oldest first."""
    found: list[Event] = []
    for event in history:
        # What a verdict itself hands off comes after it, as a step that it led to.
        is_handoff = event.to_status is Status.AGENT_REVIEW and event.type is not EventType.VERDICT
        if is_handoff or event.type is EventType.VOIDED:
            found.clear()
        elif gives_approval(event):
            found.append(event)
    return found


def approval_of(task: Task, history: Iterable[Event]) -> Event | None:
    """Returns the event that gave a task's approval; None if its history has none, so that nobody gave it."""
    given = task.approval and (task.approval.by, task.approval.strength)
    found = (one for one in reversed(valid_approvals(history)) if (one.actor.name, _strength(one)) == given)
    return next(found, None)


def last_approval(history: Iterable[Event]) -> Approval | None:
    """Returns what approved the work that was handed off last, as its event says; None if nothing did."""
    events = valid_approvals(history)
    if not events:
        return None
    head = events[-1].data.get("head")
    return Approval(
        events[-1].actor.name, events[-1].at, str(head) if head else None, str(_strength(events[-1]))
    )


def _strength(event: Event) -> object:
    return event.data.get("strength", WAIVED if event.type is EventType.WAIVED else NAME)


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


def own_name(task: Task, names: AbstractSet[str], hands: AbstractSet[str]) -> str | None:
    """Returns under which of their names somebody created a task or worked on it; None if they are a second person."""
    return task.created_by if task.created_by in names else min(names & hands, default=None)


def why_too_weak(
    task: Task, approval: Approval, hands: AbstractSet[str], *, minimum: str, four_eyes: bool
) -> str | None:
    """Returns why policy asks for more than an approval of a task on which `hands` worked; None if it does not."""
    if not is_enough(approval.strength, minimum):
        return f"it was approved by {WORDS.get(approval.strength, 'nobody')}, but policy requires {WORDS[minimum]}"
    if four_eyes and approval.strength not in LEVELS:
        return "policy requires a second person, and nobody approved it"
    if four_eyes and own_name(task, {approval.by}, hands) is not None:
        return f"policy requires a second person, and {approval.by} created it or worked on it"
    return None


def why_void(
    task: Task,
    history: Sequence[Event],
    *,
    base: str,
    minimum: str,
    gates: str,
    policy: str,
    four_eyes: bool = False,
    is_person_waived: bool = True,
) -> str | None:
    """Returns why a task's approval does not carry a merge into `base`, whatever its signature; None if it may.

    `minimum` is how strong it must be, with `four_eyes` a second person's. `gates` and `policy` are what the team's
    gates and rules are known by now. `is_person_waived` says whether no person would be asked by now.
    """
    approval = task.approval
    if approval is None:
        return "nobody approved it"
    weak = why_too_weak(task, approval, hands_of(history), minimum=minimum, four_eyes=four_eyes)
    if weak is not None:
        return weak
    strangers = ", ".join(sorted(strangers_in(history)))
    if strangers and approval.strength not in LEVELS:
        return f"its agent read text by {strangers}, a stranger here, so a person has to approve it"
    if approval.strength == WAIVED and not is_person_waived:
        return "a person was waived, and is required now"
    event = approval_of(task, history)
    if event is None:
        return NOT_GIVEN
    if not task.end_sha == approval.head == event.data.get("head", approval.head):
        return "it was approved for another commit"
    statement = statement_of(str(task.id), event.data)
    if statement is None:
        return "its history has no signature" if is_enough(approval.strength, SIGNED) else None
    for is_same, what in (
        (statement.base == base, f"the base `{statement.base}`"),
        (statement.gates == gates, "other quality gates"),
        (statement.policy == policy, "another policy"),
    ):
        if not is_same:
            return f"it was approved for {what}"
    return None
