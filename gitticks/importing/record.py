"""A record of another tracker, and how its fields are read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from enum import StrEnum
from typing import Any, NamedTuple

from gitticks.document.texts import encodable, is_encodable, with_newlines
from gitticks.document.values import parse_time
from gitticks.errors import DocumentError
from gitticks.importing.exported import RecordError, canonical, digest_of
from gitticks.model.notes import Entry, Section
from gitticks.model.status import ActorKind, Status, TaskType
from gitticks.model.task import DEFAULT_PRIORITY, Task

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
"""The time of what came without one."""
_FRACTION = re.compile(r"(?<=\d)\.(\d+)")
_GIVEN_UP = re.compile(
    r"\W*(?:(?:won'?t (?:do|fix)|wontfix|not planned|no longer (?:needed|relevant))\b"
    r"|(?:duplicate|dup|obsolete|superseded|invalid|cancel(?:l?ed)?|abandoned)(?: (?:issue|task|ticket|bug))?"
    r"(?:[^\w\s/-]|\s*(?:$|[(\[#\u2013\u2014]|-+\s)"  # it ends there, or punctuation follows
    r"|\s+(?:of|by|with|in|as|since|because|due|after|per|now)(?![\w-])"
    r"|\s+(?=\S*[\d-])\S+\s*$))",  # an id alone
    re.IGNORECASE | re.MULTILINE,
)
"""Words that say so plainly. `invalid` and the like do not, where they only describe what was worked on."""
_NUL = re.compile(r"(?<!\\)(?:\\\\)*\\u0000")
_LEAST_YEAR = 1970


def clean(text: str) -> str:
    """Returns the text as a file can hold it, with LF line breaks."""
    return with_newlines(encodable(text), "\n")


def one_line(text: str) -> str:
    """Returns the text on one line."""
    return " ".join(clean(text).split())


@dataclass(slots=True)
class Parts:
    """The fields of one record; what was taken is no longer among those left."""

    left: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(cls, record: Mapping[str, Any]) -> Parts:
        """Returns the parts of a record; nulls and empty texts and lists say nothing."""
        return cls(
            {key: value for key, value in record.items() if value is not None and value not in ("", [], {})}
        )

    def text(self, key: str) -> str | None:
        """Takes a text."""
        value = self.left.get(key)
        if not isinstance(value, str):
            return None
        del self.left[key]
        return clean(value)

    def line(self, key: str) -> str | None:
        """Takes a text and puts it on one line; None where nothing is left."""
        text = self.text(key)
        return (one_line(text) or None) if text is not None else None

    def name(self, key: str) -> str:
        """Takes the text that a record cannot do without."""
        if found := self.line(key):
            return found
        raise RecordError(f"`{key}` is not a text" if key in self.left else f"`{key}` is missing")

    def time(self, key: str) -> datetime | None:
        """Takes a time."""
        value = self.left.get(key)
        found = time_of(value) if isinstance(value, str) else None
        if found is not None:
            del self.left[key]
        return found

    def day(self, key: str) -> date | None:
        """Takes the day of a date or time as it is written: in UTC it may be the one before or after."""
        text = str(self.left.get(key)).strip()
        return None if self.time(key) is None else date.fromisoformat(text[:10])

    def priority(self, words: Mapping[str, int] | None = None) -> int:
        """Takes a number from 0 to 4, or one of the words for them; the default where there is none."""
        value = self.left.get("priority")
        found = (words or {}).get(value.strip().lower()) if isinstance(value, str) else value
        if isinstance(found, bool) or not isinstance(found, int) or not 0 <= found <= 4:  # noqa: PLR2004
            return DEFAULT_PRIORITY
        del self.left["priority"]
        return found

    def texts(self, key: str) -> tuple[str, ...]:
        """Takes a list of texts, each once; one text alone is a list too."""
        value = self.left.get(key)
        items = [value] if isinstance(value, str) else value
        if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
            return ()
        del self.left[key]
        return tuple(dict.fromkeys(line for item in items if (line := one_line(item))))

    def objects(self, key: str) -> list[dict[str, Any]]:
        """Takes a list of objects."""
        value = self.left.get(key)
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            return []
        del self.left[key]
        return value

    def names(self, key: str, name: str) -> tuple[str, ...]:
        """Takes a list of objects, and returns the text `name` of each that has one, each once."""
        found = (one.get(name) for one in self.objects(key))
        return tuple(dict.fromkeys(line for one in found if isinstance(one, str) and (line := one_line(one))))

    def sections(self, keys: Mapping[Section, str]) -> tuple[tuple[str, str], ...]:
        """Takes the texts under these keys, as sections in their order."""
        found = ((section.value, self.text(key)) for section, key in keys.items())
        return tuple((name, text) for name, text in found if text and text.strip())

    def task(self, status: Status, kind: str, reason: tuple[str, str | None], **more: Any) -> Task:
        """Takes the fields that beads and ticks call alike, and the kind where it says no more than that.

        `reason` is the key and the text of why it was closed, which go back if it is open.
        """
        word = self.left.get(kind)
        if word in ("task", "epic"):
            self.drop(kind)
        updated = self.time("updated_at")
        key, why = reason
        if why and not status.is_terminal:
            self.left[key] = why
        return Task(
            status=status,
            type=TaskType.EPIC if word == "epic" else TaskType.TASK,
            priority=self.priority(),
            labels=self.texts("labels"),
            defer_until=self.day("defer_until"),
            created=self.time("created_at"),
            created_by=self.line("created_by"),
            updated=updated,
            closed=(self.time("closed_at") or updated) if status.is_terminal else None,
            closed_reason=one_line(why or "") or None if status.is_terminal else None,
            external_ref=self.line("external_ref"),
            **more,
        )

    def drop(self, *keys: str) -> None:
        """Forgets fields."""
        for key in keys:
            self.left.pop(key, None)


def time_of(text: str) -> datetime | None:
    """Returns the UTC time in whole seconds; zeros of a time that was never set are none."""
    found = parse_time(_FRACTION.sub("", text.strip()))
    return found.astimezone(UTC) if found is not None and found.year >= _LEAST_YEAR else None


def is_given_up(reason: str | None) -> bool:
    """True if the reason for closing plainly says that nothing was done."""
    return reason is not None and _GIVEN_UP.match(reason) is not None


def comment(author: object, text: str, created: object, undated: datetime | None) -> Entry:
    """Returns a person's comment as an entry; `undated` stands for a time that is none."""
    name = one_line(author) if isinstance(author, str) else ""
    at = time_of(created) if isinstance(created, str) else None
    return Entry(at or undated or EPOCH, ActorKind.HUMAN, name or "unknown", clean(text))


class Format(StrEnum):
    """The trackers whose data can be read."""

    TICKS = "ticks"
    BEADS = "beads"
    BACKLOG = "backlog"
    GITHUB = "github"


class Problem(NamedTuple):
    """What could not be taken as it is, and where: a file, and its line from 1 where that is known."""

    path: str
    line: int | None
    message: str


@dataclass(frozen=True, slots=True)
class ForeignTask:
    """One task of another tracker.

    Attributes:
        task: what our fields say of it; its id and links are still the source's.
        path: the file that it was read from, and `line` its line there.
        digest: tells whether the record was changed since.
        wanted_id: what its id is to be made of, where that is not its own.
        record: the record itself as JSON, where it is one.
        sections: names and texts of its body's sections, in their order, after the `summary`.
        is_held: the source says that something holds it back; it waits for a person unless a blocker here does.
        links: ids of other tasks by the kind of link, none of which holds a task back.
        extra: fields that have no place here, by their names at the source.
    """

    task: Task
    path: str
    line: int | None
    digest: str
    wanted_id: str | None = None
    record: str | None = None
    summary: str = ""
    sections: tuple[tuple[str, str], ...] = ()
    notes: tuple[Entry, ...] = ()
    is_held: bool = False
    links: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls, record: Mapping[str, Any], task: Task, path: str, line: int | None = None, **more: Any
    ) -> ForeignTask:
        """Returns the task that a record of JSON holds, with the record itself, its keys in the order in which they came."""
        text = json.dumps(record, ensure_ascii=False, separators=(",", ":"))
        return cls(task, path, line, digest_of(canonical(record)), record=text, **more)

    @property
    def source_id(self) -> str:
        """Returns its id at the source."""
        return self.task.id

    @property
    def wish(self) -> str:
        """Returns what its id here is to be made of."""
        return self.wanted_id or self.source_id

    @property
    def ref(self) -> str:
        """Returns the `external_ref` of a task that has another id here: its URL where ids are only numbers."""
        return (self.task.external_ref if self.wanted_id else None) or self.source_id


@dataclass(slots=True)
class Reading:
    """All that one source held: tasks by their ids there, problems, and how many were left out, by reason."""

    format: Format
    tasks: dict[str, ForeignTask] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    skipped: dict[str, int] = field(default_factory=dict)

    @contextmanager
    def noting(self, path: str, line: int | None = None, what: str = "") -> Iterator[None]:
        """Makes a problem of what cannot be taken, and counts it; `what` is before its message."""
        try:
            yield
        except RecordError as error:
            self.skip("not readable", Problem(path, line, f"{what}{error}"))
        except DocumentError as error:
            self.skip("not readable", Problem(path, error.line, error.problem))

    def skip(self, reason: str, problem: Problem | None = None) -> None:
        """Counts one record that was left out, on purpose or for a problem."""
        self.skipped[reason] = self.skipped.get(reason, 0) + 1
        if problem is not None:
            self.problems.append(problem)

    def add(self, task: ForeignTask) -> None:
        """Takes a task; of two with one id the later `updated` stays, and the later place where both are equal."""
        if task.record is not None and (_NUL.search(task.record) or not is_encodable(task.record)):
            message = f"`{task.source_id}` has characters that no file can hold; `\ufffd` stands for each"
            self.problems.append(Problem(task.path, task.line, message))
        known = self.tasks.get(task.source_id)
        if known is not None:
            task, older = (known, task) if _age(known) > _age(task) else (task, known)
            place = task.path if task.line is None else f"{task.path}:{task.line}"
            message = f"`{task.source_id}` was skipped: `{place}` has the newer copy of this id"
            problem = Problem(older.path, older.line, message) if older.digest != task.digest else None
            self.skip("an older copy of the same id", problem)
        self.tasks[task.source_id] = task


def _age(task: ForeignTask) -> float:
    return task.task.updated.timestamp() if task.task.updated else 0.0
