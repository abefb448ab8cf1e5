"""One task as rules and listings see it: a row of the index, which has of a `Task` what they ask for."""

from __future__ import annotations

from datetime import date, datetime
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from gitticks.model.ids import TaskId
from gitticks.model.status import BY_HAND, Status

if TYPE_CHECKING:
    from gitticks.model.task import Task

AnyTask: TypeAlias = "Task | TaskRow"
"""Whatever a rule or a listing can be asked about."""


class RowClaim(NamedTuple):
    """Who has taken a task, and until when; UTC."""

    runner: str
    expires: datetime

    @property
    def is_by_hand(self) -> bool:
        """True if a person began the task, and no runner."""
        return self.runner.startswith(BY_HAND)


class TaskRow(NamedTuple):
    """One task as rules and listings see it; thousands are read at once, so what few tasks have is kept as text.

    `blockers` are ids with spaces between them, `claimed` is a time and a runner, `json` the whole task as `--json`
    prints it, empty unless it was asked for.
    """

    id: TaskId
    title: str
    status: str
    priority: int
    parent: TaskId | None
    awaiting: str | None
    born: str
    blockers: str | None
    deferred: str | None
    asked: str | None
    closed: str
    claimed: str | None
    carrier: TaskId | None
    is_open: bool
    is_epic: bool
    is_workable: bool
    is_begun: bool
    is_merging: bool
    json: str

    @property
    def is_cancelled(self) -> bool:
        """True for a task that was given up."""
        return self.status == Status.CANCELLED

    @property
    def is_to_review(self) -> bool:
        """True for a task that reviewers work on, as far as it tells by itself."""
        return self.status == Status.AGENT_REVIEW and self.awaiting is None

    @property
    def is_begun_by_hand(self) -> bool:
        """True while a person, whom no runner started, works on it."""
        claim = self.claim
        return self.status == Status.WORKING and claim is not None and claim.is_by_hand

    @property
    def blocked_by(self) -> tuple[TaskId, ...]:
        """Returns the tasks that it waits for, closed and missing ones too."""
        return tuple(map(TaskId, self.blockers.split())) if self.blockers else ()

    @property
    def defer_until(self) -> date | None:
        """Returns the day that it was put off to."""
        return date.fromisoformat(self.deferred) if self.deferred else None

    @property
    def asked_at(self) -> datetime | None:
        """Returns since when a person is asked; UTC."""
        return datetime.fromisoformat(self.asked) if self.asked else None

    @property
    def waits_since(self) -> str:
        """Returns since when a person is asked as text that sorts: the time of the question, else of the creation."""
        return self.asked or self.born

    @property
    def claim(self) -> RowClaim | None:
        """Returns who has taken it."""
        if self.claimed is None:
            return None
        expires, _, runner = self.claimed.partition(" ")
        return RowClaim(runner, datetime.fromisoformat(expires))
