"""The session: one run of an agent on a task, while it lives and how it ended."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from gitticks.model.ids import TaskId
from gitticks.model.status import Role


class Ending(StrEnum):
    """How a run of an agent ended, as far as its output and its process tell."""

    CLEAN = "clean"
    CRASHED = "crashed"
    TIMED_OUT = "timed-out"
    REFUSED = "refused"
    OUTAGE = "outage"
    RATE_LIMITED = "rate-limited"
    USAGE_LIMITED = "usage-limited"
    CONTEXT_FULL = "context-full"
    START_FAILED = "start-failed"
    SANDBOX_FAILED = "sandbox-failed"
    INTERRUPTED = "interrupted"
    STOPPED = "stopped"


SERVICE_FAILED = frozenset({Ending.OUTAGE, Ending.RATE_LIMITED, Ending.USAGE_LIMITED})
"""The agent's service is down, or gives it no more for now."""
KEPT_FROM_WORK = SERVICE_FAILED | {Ending.SANDBOX_FAILED}
"""Something outside of the agent kept it from its work."""
CAME_TO_NOTHING = KEPT_FROM_WORK | {Ending.INTERRUPTED, Ending.START_FAILED, Ending.STOPPED}
"""Sessions that ended so may not have acted on what their prompt said, and their end says nothing of the agent."""


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """A live session as the clone keeps it, so that a later command can tell whether it still lives.

    `pid`, `start_ticks` and `boot_id` together name one process for ever; a pid alone is given out again.
    `is_briefed` says that the mailbox holds what this session was given, and no longer an earlier one's. `session_id`
    is the agent's own name of it, once it has told that.
    """

    task: TaskId
    role: Role
    round: int
    agent: str
    pid: int
    start_ticks: int
    boot_id: str
    started: datetime
    workspace: str
    is_briefed: bool = False
    session_id: str | None = None
