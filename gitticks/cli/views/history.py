"""History in words: one line per event."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from gitticks.cli.render import Screen, Style
from gitticks.cli.table import Cell, table
from gitticks.model.approval import NAME, WORDS
from gitticks.model.event import Event, EventType
from gitticks.model.notes import Section
from gitticks.model.status import ANSWERED, Status, Verdict

_WORDS = {
    EventType.CREATED: "created",
    EventType.FIELDS_CHANGED: "fields changed",
    EventType.TEXT_CHANGED: "text edited",
    EventType.REOPENED: "reopened",
    EventType.RESUMED: "resumed",
    EventType.IMPORTED: "imported from {source}",
    EventType.MOVED: "moved",
    EventType.ADVANCED: "advanced",
    EventType.WAIVED: "{gate} waived",
    EventType.GATE_FAILED: "{gate} failed",
    EventType.AWAITING_SET: "awaits {awaiting}",
    EventType.VERDICT: "{verdict}",
    EventType.SESSION_STARTED: "{role} started",
    EventType.SESSION_ENDED: "{role} ended",
    EventType.START_FAILED: "agent did not start",
    EventType.MERGED: "merged as {sha}",
    EventType.CHILDREN: "children closed",
    EventType.BUDGET: "budget",
    EventType.SECRETS_ALLOWED: "secret allowed",
}
"""What events are called whose names do not say it."""
_DETAILS = (
    "strength",
    "ending",
    "agent",
    "fields",
    "conflicts",
    "blocking",
    "denied",
    "estimated",
    "cost",
    "cost_source",
)
_NAMED = {
    "blocking": "blocked by {}",
    "denied": "not allowed: {}",
    "estimated": "usage incomplete",
    "cost_source": "priced by {}",
}
_TURNS = frozenset(
    {
        EventType.REOPENED, EventType.RESUMED, EventType.WAIVED, EventType.GATE_FAILED, EventType.AWAITING_SET,
        EventType.VERDICT, EventType.VOIDED, EventType.CRASHED, EventType.REFUSED, EventType.START_FAILED, EventType.WARNED,
        EventType.MERGED, EventType.MERGE_FAILED, EventType.BUDGET, EventType.SECRETS_ALLOWED,
    }
)  # fmt: skip
BAD = {
    EventType.GATE_FAILED,
    EventType.CRASHED,
    EventType.REFUSED,
    EventType.START_FAILED,
    EventType.MERGE_FAILED,
}
_CENT = 0.01
_SHORT_SHA = 7
_LONG = 60


def turns(events: Iterable[Event]) -> list[Event]:
    """Returns the events that moved the task or explain why; changes of text are left out.

    A step that says again why its gate was waived, what a person answered, or what was merged, takes that event in.
    """
    told: list[Event] = []
    for event in events:
        if event.to_status is None and event.type not in _TURNS:
            continue
        joined = _joined(told[-1], event) if told else None
        if joined is not None:
            told[-1] = joined
        else:
            told.append(event)
    return told


def _joined(before: Event, step: Event) -> Event | None:
    """Returns a step with what the event before it adds; None where that one says something of its own."""
    if step.to_status is None or step.reason is None:
        return None
    if before.type is EventType.WAIVED and before.reason == step.reason:
        return step._replace(reason=f"{what_happened(before)}: {step.reason}")
    if before.type is EventType.VERDICT and (before.reason, before.actor) == (step.reason, step.actor):
        return step._replace(reason=f"{what_happened(before)}: {details(before)}")
    if before.type is EventType.BUDGET and "is spent" in step.reason:
        return step
    if before.type is EventType.MERGE_FAILED and before.reason and before.reason in step.reason:
        return step
    if before.type is EventType.MERGED:
        merged = str(before.data.get("sha") or "")[:_SHORT_SHA]
        return step if merged in step.reason else None
    return None


def event_lines(on: Screen, events: Iterable[Event], now: datetime) -> list[str]:
    """Returns the events as aligned lines: time, what happened, who, and the reason."""
    rows: list[list[Cell | str]] = [
        [
            Cell(clock(event.at, now), Style.FAINT),
            Cell(what_happened(event), Style.BAD if event.type in BAD else Style.PLAIN),
            event.actor.kind.value
            if not event.actor.is_human and not event.actor.is_agent
            else event.actor.name,
            details(event),
        ]
        for event in events
    ]
    return table(on, ["", "", "", "reason"], rows, flexible="reason", with_heading=False)


def clock(at: datetime, now: datetime) -> str:
    """Returns a time in the reader's zone: the hour today, else the day before it."""
    here = at.astimezone()
    today = here.date() == now.astimezone().date()
    return here.strftime("%H:%M" if today else "%Y-%m-%d %H:%M")


def what_happened(event: Event) -> str:
    """Returns an event in a few words."""
    if event.type is EventType.IMPORTED and event.from_status is event.to_status is not None:
        return "imported again"
    if event.to_status is not None:
        return f"{_status(event.from_status)} → {_status(event.to_status)}"
    if event.type is EventType.TEXT_CHANGED and event.data.get("sections") == [Section.HANDOFF]:
        return "hand-off written"
    if event.type is EventType.MERGED and event.data.get("sha") is None:
        return "nothing to merge"
    data = {"gate": "gate", "role": "agent", "verdict": "answered", "awaiting": "", "sha": "", "source": ""}
    lengths = {"sha": _SHORT_SHA}
    data |= {key: str(one)[: lengths.get(key, _LONG)] for key, one in event.data.items() if one is not None}
    if event.type is EventType.AWAITING_SET and not data["awaiting"]:
        return "is not waiting for anyone"
    if (
        event.type is EventType.VERDICT
        and data["awaiting"] in ANSWERED
        and data["verdict"] == Verdict.APPROVED
    ):
        return "answered"
    return " ".join(_WORDS.get(event.type, event.type.replace(".", " ")).format(**data).split())


def details(event: Event) -> str:
    """Returns the reason of an event and what else it carries, on one line."""
    reason = event.reason or ""
    if event.to_status is Status.REVIEWING:
        # Most tasks that are shown have not come so far.
        from gitticks.workflow.transitions import REVIEW_WORDS

        reason = REVIEW_WORDS.get(reason, reason)
    parts = [reason.removeprefix(f"{event.actor.name}, ")]
    for key in _DETAILS:
        value = event.data.get(key)
        if isinstance(value, list):
            told = ", ".join(one for one in value if one not in parts[0])
            parts.append(_NAMED.get(key, "{}").format(told) if told else "")
        elif key == "strength":
            parts.append("" if value in {None, NAME} else WORDS.get(str(value), str(value)))
        elif key == "cost" and isinstance(value, int | float):
            parts.append(f"${value:,.{2 if value >= _CENT else 4}f}")
        elif value is not None and str(value) != event.actor.name:
            parts.append(_NAMED.get(key, "{}").format(value))
    return ", ".join(dict.fromkeys(" ".join(part.split()) for part in parts if part))


def _status(status: Status | None) -> str:
    return "new" if status is None else status.value
