"""What was read from another tracker, before anybody knows which ids and links it will have here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum
from typing import Any

from gitticks.model.notes import Entry
from gitticks.model.status import Awaiting, Requires, Status
from gitticks.model.task import DEFAULT_PRIORITY


class Format(StrEnum):
    """The trackers whose data can be read."""

    TICKS = "ticks"
    BEADS = "beads"
    BACKLOG = "backlog"
    GITHUB = "github"


@dataclass(frozen=True, slots=True)
class Problem:
    """What could not be taken as it is, and where: a file, and its line from 1 where that is known."""

    path: str
    line: int | None
    message: str


@dataclass(frozen=True, slots=True)
class ForeignTask:
    """One task of another tracker in our words; its id and links are still the source's.

    Attributes:
        source_id: its id at the source.
        path: the file that it was read from, and `line` its line there.
        wanted_id: what its id is to be made of, where that is not `source_id`.
        sections: names and texts of its body's sections, in their order, after the `summary`.
        links: ids of other tasks by the kind of link, none of which holds a task back.
        extra: fields that have no place here, by their names at the source.
        record: the record itself as JSON, where it is one.
        digest: tells whether the record was changed since.
    """

    source_id: str
    title: str
    path: str
    line: int | None
    digest: str
    wanted_id: str | None = None
    record: str | None = None
    is_epic: bool = False
    status: Status = Status.PENDING
    priority: int = DEFAULT_PRIORITY
    labels: tuple[str, ...] = ()
    blocked_by: tuple[str, ...] = ()
    parent: str | None = None
    requires: Requires | None = None
    awaiting: Awaiting | None = None
    defer_until: date | None = None
    created: datetime | None = None
    created_by: str | None = None
    updated: datetime | None = None
    closed: datetime | None = None
    closed_reason: str | None = None
    external_ref: str | None = None
    summary: str = ""
    sections: tuple[tuple[str, str], ...] = ()
    notes: tuple[Entry, ...] = ()
    links: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Reading:
    """All that one source held: tasks by their ids there, problems, and what was left out on purpose, by reason."""

    format: Format
    tasks: dict[str, ForeignTask] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    skipped: dict[str, int] = field(default_factory=dict)

    def skip(self, reason: str) -> None:
        """Counts one record that was left out on purpose."""
        self.skipped[reason] = self.skipped.get(reason, 0) + 1

    def add(self, task: ForeignTask) -> None:
        """Takes a task; of two with one id the later `updated` stays, and the later place where both are equal."""
        known = self.tasks.get(task.source_id)
        if known is not None:
            self.skip("an older copy of the same id")
            if _age(known) > _age(task):
                return
        self.tasks[task.source_id] = task


def _age(task: ForeignTask) -> float:
    return task.updated.timestamp() if task.updated else 0.0
