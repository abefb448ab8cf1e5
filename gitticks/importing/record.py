"""What was read from another tracker, before anybody knows which ids and links it will have here."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum
from typing import Any

from gitticks.errors import DocumentError
from gitticks.importing.files import RecordError
from gitticks.importing.parts import is_altered
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

    @contextmanager
    def noting(self, path: str, line: int | None = None, what: str = "") -> Iterator[None]:
        """Makes a problem of what cannot be taken; `what` stands before its message."""
        try:
            yield
        except RecordError as error:
            self.problems.append(Problem(path, line, f"{what}{error}"))
        except DocumentError as error:
            self.problems.append(Problem(path, error.line, error.problem))

    def skip(self, reason: str) -> None:
        """Counts one record that was left out on purpose."""
        self.skipped[reason] = self.skipped.get(reason, 0) + 1

    def add(self, task: ForeignTask) -> None:
        """Takes a task; of two with one id the later `updated` stays, and the later place where both are equal."""
        if task.record is not None and is_altered(task.record):
            message = f"`{task.source_id}` has characters that no file can hold; `\ufffd` stands for each"
            self.problems.append(Problem(task.path, task.line, message))
        known = self.tasks.get(task.source_id)
        if known is not None:
            self.skip("an older copy of the same id")
            task, older = (known, task) if _age(known) > _age(task) else (task, known)
            if older.digest != task.digest:
                place = task.path if task.line is None else f"{task.path}:{task.line}"
                message = f"`{task.source_id}` is left out: `{place}` has the newer copy of this id"
                self.problems.append(Problem(older.path, older.line, message))
        self.tasks[task.source_id] = task


def _age(task: ForeignTask) -> float:
    return task.updated.timestamp() if task.updated else 0.0
