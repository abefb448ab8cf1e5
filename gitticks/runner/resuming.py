"""Which of its own sessions an agent goes on with, and how to tell that it could not.

A task that comes back to its agent, from a person or a review, goes on where the agent left it. A further iteration
begins anew: what led nowhere, crashed, ran out of time or filled its context window is no good beginning.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gitticks.agents.base import is_session_id
from gitticks.agents.presets import PRESETS
from gitticks.model.event import Event, EventType
from gitticks.model.session import KEPT_FROM_WORK, Ending
from gitticks.model.status import Role
from gitticks.model.task import Task, Usage

if TYPE_CHECKING:
    from gitticks.agents.base import AgentReport, AgentSpec

_SPOILT = frozenset({Ending.CRASHED, Ending.TIMED_OUT, Ending.REFUSED, Ending.CONTEXT_FULL})
_NEVER_SPOKE = KEPT_FROM_WORK | {Ending.START_FAILED, Ending.STOPPED}
"""A session that ended so and has no name of its own came to nothing, so the one before it is the last."""


@dataclass(frozen=True, slots=True)
class EarlierSession:
    """An agent's own session: its name, and the tokens that the agent counted in it."""

    session_id: str
    counted: Usage = field(default_factory=Usage)


def find_earlier_session(task: Task, history: Iterable[Event], agent: AgentSpec) -> EarlierSession | None:
    """Returns the session that a worker goes on with, or None if it begins anew."""
    session_id = task.agent_sessions.get(agent.name, "")
    if not PRESETS[agent.kind].resumes or not is_session_id(session_id):
        return None
    events = tuple(history)
    last = _last_worker(events)
    if last is None:
        return EarlierSession(session_id)
    end = events[last]
    if end.data.get("session") != session_id or end.data.get("ending") in _SPOILT:
        return None
    led_nowhere = end.data.get("iteration") is True
    if led_nowhere and not any(event.actor.is_human for event in events[last + 1 :]):
        return None
    return EarlierSession(session_id, _counted(events, session_id))


def could_not_go_on(report: AgentReport) -> bool:
    """True if an agent that was asked to go on with a session ended before it said a word, so that it is gone.

    Clients word this each in its own way, and change the words.
    """
    ended_early = report.ending in (Ending.START_FAILED, Ending.CRASHED, Ending.CONTEXT_FULL)
    return ended_early and not report.messages and not report.usage.tokens_out


def _last_worker(events: tuple[Event, ...]) -> int | None:
    """Returns where the end of the last worker's session stands that did anything."""
    for place in range(len(events) - 1, -1, -1):
        data = events[place].data
        if events[place].type is not EventType.SESSION_ENDED or data.get("role") != Role.WORKER.value:
            continue
        if "session" in data or data.get("ending") not in _NEVER_SPOKE:
            return place
    return None


def _counted(events: tuple[Event, ...], session_id: str) -> Usage:
    for event in reversed(events):
        tokens_in, tokens_out = event.data.get("counted_in"), event.data.get("counted_out")
        if (
            event.data.get("session") == session_id
            and isinstance(tokens_in, int)
            and isinstance(tokens_out, int)
        ):
            return Usage(tokens_in=tokens_in, tokens_out=tokens_out)
    return Usage()
