"""The session: one run of an agent on a task, while it lives and how it ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum
from typing import NamedTuple

from gitticks.model.ids import BOARD_FOLDER, WORK_BRANCH, TaskId, sharing_epic, task_path
from gitticks.model.status import BY_HAND, Awaiting, Isolation, Requires, Role, Status, TaskType, Verdict

DEFAULT_PRIORITY = 2
NOTHING_TO_MERGE = "nothing to merge"
"""Why a task was closed whose base had all of its work without a merge."""
HUMAN_FIELDS = frozenset(
    {
        "title", "type", "priority", "labels", "blocked_by", "parent", "requires", "awaiting", "verdict",
        "reviewer", "assignee", "due", "defer_until", "agent", "model", "isolation",
    }
)  # fmt: skip
"""The fields that a person may write into the file; `status` too, as a request that `decide` judges."""
ENGINE_FIELDS = frozenset(
    {
        "asked", "base", "branch", "start_sha", "end_sha", "merged_sha", "pr", "review_round", "failed_reviews",
        "crash_count", "usage", "claim", "agent_sessions", "approval",
    }
)  # fmt: skip
"""The fields that only gitticks writes; edited by hand they are refused, and `gt reopen` clears them."""


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


class SessionRecord(NamedTuple):
    """A live session as the clone keeps it, so that a later command can tell whether it still lives.

    `pid`, `start_ticks` and `boot_id` together name one process forever; a pid alone is given out again.
    `is_briefed` says that the mailbox holds what this session was given, and no longer an earlier one's; `given` is
    the blob of that file. `session_id` is the agent's own name of it, once it has told that. `model` is the one that the
    agent was asked for, `transcript` the file of what it prints, once it was started; `is_over` says that it ended, so
    that only the checks were left.
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
    model: str | None = None
    transcript: str | None = None
    is_over: bool = False
    given: str | None = None


class Approval(NamedTuple):
    """Who approved which commit, and how strongly; `by` is `gitticks` where policy waived the person."""

    by: str
    at: datetime
    head: str | None = None
    strength: str = "L0"


class Usage(NamedTuple):
    """What agents spent on a task since it was made; `cost` in dollars."""

    iterations: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    cost: float = 0.0
    seconds: float = 0.0

    def plus(self, other: Usage) -> Usage:
        """Returns the sum of both."""
        return Usage(
            self.iterations + other.iterations,
            self.tokens_in + other.tokens_in,
            self.tokens_out + other.tokens_out,
            round(self.cost + other.cost, 6),
            round(self.seconds + other.seconds, 3),
        )


NOTHING_SPENT = Usage()


class Claim(NamedTuple):
    """Which runner has taken the task, and until when."""

    runner: str
    host: str
    since: datetime
    expires: datetime

    @property
    def is_by_hand(self) -> bool:
        """True if a person began the task, and no runner."""
        return self.runner.startswith(BY_HAND)


@dataclass(frozen=True, slots=True)
class Task:
    """One task, as its frontmatter says; absent keys are the defaults here.

    Times are UTC with whole seconds. Git names are full object ids or branch names.
    """

    id: TaskId
    title: str
    type: TaskType = TaskType.TASK
    status: Status = Status.PENDING
    priority: int = DEFAULT_PRIORITY
    labels: tuple[str, ...] = ()
    blocked_by: tuple[TaskId, ...] = ()
    parent: TaskId | None = None
    requires: Requires | None = None
    asked: Requires | None = None
    awaiting: Awaiting | None = None
    verdict: Verdict | None = None
    approval: Approval | None = None
    reviewer: str | None = None
    assignee: str | None = None
    due: date | None = None
    defer_until: date | None = None
    agent: str | None = None
    model: str | None = None
    isolation: Isolation | None = None
    base: str | None = None
    branch: str | None = None
    start_sha: str | None = None
    end_sha: str | None = None
    merged_sha: str | None = None
    pr: str | None = None
    review_round: int = 0
    failed_reviews: int = 0
    crash_count: int = 0
    usage: Usage = NOTHING_SPENT
    claim: Claim | None = None
    agent_sessions: Mapping[str, str] = field(default_factory=dict)
    asked_at: datetime | None = None
    responded_at: datetime | None = None
    created: datetime | None = None
    created_by: str | None = None
    updated: datetime | None = None
    closed: datetime | None = None
    closed_reason: str | None = None
    external_ref: str | None = None

    @property
    def is_epic(self) -> bool:
        """True for a task that holds others."""
        return self.type is TaskType.EPIC

    @property
    def is_open(self) -> bool:
        """True until the task is done or cancelled."""
        return not self.status.is_terminal

    @property
    def is_cancelled(self) -> bool:
        """True for a task that was given up."""
        return self.status is Status.CANCELLED

    @property
    def is_workable(self) -> bool:
        """True for a task that workers work on, as far as it tells by itself."""
        return self.status in (Status.PENDING, Status.WORKING) and not self.is_epic and self.awaiting is None

    @property
    def is_to_review(self) -> bool:
        """True for a task that reviewers work on, as far as it tells by itself."""
        return self.status is Status.AGENT_REVIEW and self.awaiting is None

    @property
    def is_handed_off(self) -> bool:
        """True while reviewers or a person judge what was handed off."""
        return self.status in (Status.AGENT_REVIEW, Status.REVIEWING)

    @property
    def is_begun(self) -> bool:
        """True for an open task that is no longer pending."""
        return self.is_open and self.status is not Status.PENDING

    @property
    def is_begun_by_hand(self) -> bool:
        """True while a person, whom no runner started, works on it."""
        claim = self.claim
        return self.status is Status.WORKING and claim is not None and claim.is_by_hand

    @property
    def born(self) -> str:
        """Returns the time of creation as text that sorts; empty if it is not known."""
        return self.created.isoformat() if self.created else ""

    @property
    def waits_since(self) -> str:
        """Returns the time since which a person is asked, as text that sorts: of the question, else of the creation."""
        asked = self.asked_at or self.created
        return asked.isoformat() if asked else ""

    @property
    def origin(self) -> str | None:
        """Returns the branch that its work begins on: the base, or the one that it shares, which others' work is on."""
        return self.branch if self.sharing_epic else self.base

    @property
    def sharing_epic(self) -> TaskId | None:
        """Returns the epic whose branch its work is on, and with which it is merged; None if it has its own."""
        return sharing_epic(self.id, self.branch)

    @property
    def is_merging(self) -> bool:
        """True while the work is approved or waived and its merge is pending."""
        return self.status is Status.REVIEWING and self.approval is not None and self.awaiting is None

    @property
    def is_offered(self) -> bool:
        """True while a pull request asks for the merge of the approved head."""
        asks = self.awaiting in (Awaiting.REVIEW, Awaiting.WORK) and self.pr is not None
        return self.status is Status.REVIEWING and self.approval is not None and asks

    def isolation_in(self, usual: Isolation) -> Isolation:
        """Returns how its work is isolated: as it was begun, where a run's flag may have said how, else as asked for."""
        if self.branch is not None and self.branch.startswith(WORK_BRANCH):
            is_shared = self.is_epic or self.sharing_epic
            return Isolation.EPIC if is_shared else Isolation.TASK
        is_begun_here = self.branch is None and self.start_sha is not None
        if is_begun_here and self.isolation is None:
            return Isolation.NONE
        return self.isolation or usual

    @property
    def has_code(self) -> bool:
        """True if the head that was handed off has commits of this task."""
        return self.end_sha is not None and self.end_sha != self.start_sha

    @property
    def is_landed(self) -> bool:
        """True if it is done and its base has all of its commits, if it has any."""
        return self.status is Status.DONE and (self.merged_sha is not None or not self.has_code)

    @property
    def has_merge(self) -> bool:
        """True if its base got its work by a merge; where there was nothing to merge, `merged_sha` is another's commit."""
        return self.merged_sha is not None and self.closed_reason != NOTHING_TO_MERGE

    @property
    def carrier(self) -> TaskId | None:
        """Returns the epic on whose branch its code stands once it is done, to be merged with the epic; else None."""
        is_kept = self.status is Status.DONE and self.has_code and self.merged_sha is None
        return self.sharing_epic if is_kept else None

    @property
    def file(self) -> str:
        """Returns the path of the task's file as a person types it from the repository's root."""
        return f"{BOARD_FOLDER}/{task_path(self.id)}"
