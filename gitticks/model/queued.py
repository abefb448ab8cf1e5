"""What queries need of a task: a whole `Task` has it, and so does a row of the index.

Only type checkers load this module.
"""

from __future__ import annotations

from datetime import date, datetime
from typing import Protocol

from gitticks.model.ids import TaskId


class Claimed(Protocol):
    """Who has taken a task, as far as readiness depends on it."""

    @property
    def expires(self) -> datetime:
        """Until when; UTC."""


class Queued(Protocol):
    """A task as picking and readiness see it. Whatever follows from the task alone is a property of its own."""

    @property
    def id(self) -> TaskId:
        """The task's id."""

    @property
    def priority(self) -> int:
        """From 0, the highest, to 4."""

    @property
    def parent(self) -> TaskId | None:
        """The task that it is part of."""

    @property
    def blocked_by(self) -> tuple[TaskId, ...]:
        """The tasks that it waits for, closed and missing ones too."""

    @property
    def carrier(self) -> TaskId | None:
        """The epic on whose branch its code stands once it is done."""

    @property
    def awaiting(self) -> str | None:
        """Why it is a person's turn."""

    @property
    def defer_until(self) -> date | None:
        """The day that it was put off to."""

    @property
    def claim(self) -> Claimed | None:
        """Who has taken it."""

    @property
    def is_open(self) -> bool:
        """True until it is done or cancelled."""

    @property
    def is_cancelled(self) -> bool:
        """True for a task that was given up."""

    @property
    def is_epic(self) -> bool:
        """True for a task that holds others."""

    @property
    def is_workable(self) -> bool:
        """True for a task that workers work on, as far as it tells by itself."""

    @property
    def is_to_review(self) -> bool:
        """True for a task that reviewers work on, as far as it tells by itself."""

    @property
    def is_begun(self) -> bool:
        """True for an open task that is no longer pending."""

    @property
    def born(self) -> str:
        """The time of creation as text that sorts."""

    @property
    def waits_since(self) -> str:
        """The time since which a person is asked, as text that sorts."""


class Listed(Queued, Protocol):
    """A task as listings show it."""

    @property
    def title(self) -> str:
        """One line, as it was written."""

    @property
    def status(self) -> str:
        """Where it stands, one of the words of `Status`."""

    @property
    def asked_at(self) -> datetime | None:
        """Since when a person is asked; UTC."""

    @property
    def is_merging(self) -> bool:
        """True while the work is approved or waived and its merge is pending."""
