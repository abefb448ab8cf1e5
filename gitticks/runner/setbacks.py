"""What went wrong since a worker last had the task, read from its history, for the next worker's prompt."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from gitticks.model.event import Event, EventType
from gitticks.model.session import CAME_TO_NOTHING, Ending
from gitticks.model.status import Role, Status

_OVERFLOWED = (
    "The last session ran out of its context window. Work in smaller steps, commit each, and keep what commands print "
    "short."
)


@dataclass(frozen=True, slots=True)
class Setbacks:
    """The last failure in words, the paths of a failed merge, what was dropped, and whether the task was stuck.

    `denied` is what agents were not allowed to do.
    """

    failure: str = ""
    conflicts: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()
    was_stuck: bool = False


def find_setbacks(history: Iterable[Event]) -> Setbacks:
    """Returns what a worker that is started now has to know of the time since the last one, oldest event first."""
    events = _since_last_worker(tuple(history))
    failed = [event for event in events if event.type in (EventType.GATE_FAILED, EventType.MERGE_FAILED)]
    crashed = [event for event in events if event.type is EventType.CRASHED]
    merges = [event for event in events if event.type is EventType.MERGE_FAILED]
    failure = next(reversed(failed or crashed), None)
    conflicts = merges[-1].data.get("conflicts") if merges else None
    warnings = [event.reason for event in events if event.type is EventType.WARNED and event.reason]
    ends = [event for event in events if event.type is EventType.SESSION_ENDED and _is_workers(event)]
    if any(end.data.get("ending") == Ending.CONTEXT_FULL for end in ends):
        warnings.append(_OVERFLOWED)
    return Setbacks(
        failure=_words(failure) if failure else "",
        conflicts=tuple(conflicts) if isinstance(conflicts, list) else (),
        warnings=tuple(dict.fromkeys(warnings)),
        denied=tuple(dict.fromkeys(one for end in ends for one in denied_in(end))),
        was_stuck=any(event.from_status is Status.STUCK for event in events),
    )


def denied_in(ended: Event) -> list[str]:
    """Returns what the end of a session says that its agent was not allowed to do."""
    denied = ended.data.get("denied")
    return denied if isinstance(denied, list) else []


def _is_workers(event: Event) -> bool:
    return event.data.get("role") == Role.WORKER.value


def _words(event: Event) -> str:
    reason = event.reason or ""
    match event.type:
        case EventType.CRASHED:
            return f"The last session ended early: {reason}"
        case EventType.MERGE_FAILED:
            return f"The merge failed: {reason}"
        case _:
            return reason


def _since_last_worker(history: tuple[Event, ...]) -> tuple[Event, ...]:
    """Returns the events from the start of the last worker's session that ran its course."""
    has_ended = False
    for index in range(len(history) - 1, -1, -1):
        event = history[index]
        if not _is_workers(event):
            continue
        if event.type is EventType.SESSION_ENDED:
            has_ended = event.data.get("ending") not in CAME_TO_NOTHING
        elif event.type is EventType.SESSION_STARTED and has_ended:
            return history[index:]
    return history
