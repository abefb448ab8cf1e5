"""Why a task is stuck or asks a person, as its history tells."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from gitticks.model.event import ENGINE, Event, EventType
from gitticks.model.status import Awaiting, Status


class Stopped(Protocol):
    """A task, as far as is asked here."""

    @property
    def status(self) -> str: ...  # noqa: D102
    @property
    def awaiting(self) -> str | None: ...  # noqa: D102
    @property
    def asked_at(self) -> datetime | None: ...  # noqa: D102


def waits_because(task: Stopped, events: Sequence[Event]) -> str:
    """Returns why a task is stuck, or why gitticks itself asks a person; empty if its history does not say."""
    if task.status == Status.STUCK:
        last = next((event for event in reversed(events) if event.to_status is Status.STUCK), None)
        return "" if last is None else " ".join((last.reason or "").split())
    is_escalated = task.awaiting == Awaiting.ESCALATION
    last = next((event for event in reversed(events) if event.type is EventType.AWAITING_SET), None)
    if last is None or last.actor != ENGINE or (not is_escalated and last.at != task.asked_at):
        return ""
    return last.reason or ""
