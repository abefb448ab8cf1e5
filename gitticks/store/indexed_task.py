"""A task as the query index tells of it: one row, with all that rules and listings ask and nothing that they do not.

Making a whole `Task` takes ten times as long as reading its row, and loading what a `Task` needs takes longer than
`gt next` has for its answer. What follows from a task alone is stored with the row, found out by the task's own
properties, so no rule is told twice.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable
from datetime import date, datetime
from operator import itemgetter
from typing import TYPE_CHECKING, Any, ClassVar, Self

from gitticks.model.ids import TaskId
from gitticks.model.words import STATUSES

if TYPE_CHECKING:
    from gitticks.model.task import Task


def _text(column: tuple[Any, ...]) -> None:
    """Raises a TypeError where a value is no text; the quickest way to look at thousands."""
    "".join(column)


def _maybe_text(column: tuple[Any, ...]) -> None:
    """Raises a TypeError where a value is neither text nor null."""
    "".join(filter(None, column))


def _number(column: tuple[Any, ...]) -> None:
    """Raises a TypeError where a value is no number."""
    sum(column)


COLUMNS: dict[str, Callable[[tuple[Any, ...]], None]] = {
    "id": _text,
    "title": _text,
    "status": _text,
    "priority": _number,
    "parent": _maybe_text,
    "awaiting": _maybe_text,
    "born": _text,
    "traits": _number,
    "blockers": _maybe_text,
    "more": _maybe_text,
}
"""The columns that listings and rules ask, each with what refuses the values of a damaged database."""

PAGE_COLUMNS: dict[str, Callable[[tuple[Any, ...]], None]] = {
    "label_list": _maybe_text,
    "agent": _maybe_text,
    "reviewer": _maybe_text,
    "requires": _maybe_text,
    "created_by": _maybe_text,
    "pr": _maybe_text,
    "iterations": _number,
    "cost": _number,
}
"""The columns that a page and the rarer filters ask as well."""

TRAITS = ("is_open", "is_epic", "is_workable", "is_begun", "is_merging", "is_cancelled")
"""The properties of a `Task` that are bits of the column `traits`, the first the lowest."""

_NOTHING, _MOST_SPACES = "-", 4
_JSON_BEGINS = '{"id": "'
_STATUS, _TRAITS, _MORE = map(list(COLUMNS).index, ("status", "traits", "more"))


HAS_BLOCKERS, HAS_MORE = 1 << len(TRAITS), 2 << len(TRAITS)
"""Two more bits, which are added as a row is read: that `blockers` and `more` are not null."""

SELECTED = tuple(
    f"task.traits & {HAS_BLOCKERS - 1} | (task.blockers IS NOT NULL) * {HAS_BLOCKERS} | (task.more IS NOT NULL) * {HAS_MORE}"
    if name == "traits"
    else f"task.{name}"
    for name in COLUMNS
)
"""What is asked of the table for a listing; `SELECTED_PAGE` for a page."""

SELECTED_PAGE = (*SELECTED, *(f"task.{name}" for name in PAGE_COLUMNS))


def traits_of(task: Task) -> int:
    """Returns the bits of the column `traits`."""
    return sum(1 << place for place, name in enumerate(TRAITS) if getattr(task, name))


def more_of(task: Task) -> str | None:
    """Returns the column `more`: what few open tasks have, in one text; None for a task that has none of it.

    Its parts stand in the order in which `IndexedTask` reads them; the runner comes last, as it may hold spaces.
    """
    if not (task.defer_until or task.asked_at or task.closed or task.claim):
        return None
    claim = task.claim
    parts = [
        *(None if day is None else day.isoformat() for day in (task.defer_until, task.asked_at, task.closed)),
        None if claim is None else claim.expires.isoformat(),
        None if claim is None else claim.runner,
    ]
    return " ".join(part or _NOTHING for part in parts)


class IndexedClaim:
    """Who has taken a task, and until when."""

    __slots__ = ("expires", "runner")

    def __init__(self, runner: str, expires: datetime) -> None:
        self.runner = runner
        self.expires = expires


class IndexedTask(tuple[object, ...]):
    """A row as a tuple: the values of `COLUMNS`, and last its JSON, if that was asked for.

    All rows of the same traits share a class of their own, on which the traits are plain attributes, and for most
    rows also that there is nothing more: so neither takes any room in a row, or any time to ask for.
    """

    __slots__ = ()
    _kinds: ClassVar[dict[int, Any]] = {}
    _columns: ClassVar[dict[str, Callable[[tuple[Any, ...]], None]]] = COLUMNS

    id: TaskId
    title: str
    status: str
    priority: int
    parent: TaskId | None
    awaiting: str | None
    born: str
    blockers: str
    more: str
    json: str

    is_open: bool
    is_epic: bool
    is_workable: bool
    is_begun: bool
    is_merging: bool
    is_cancelled: bool

    def __init_subclass__(cls) -> None:
        cls._kinds = {}

    @classmethod
    def from_rows(cls, rows: list[Any]) -> list[Self]:
        """Returns rows of the database as tasks.

        Raises:
            ValueError: a row holds what no task has, so the database is damaged.
            TypeError: likewise.
        """
        if not rows:
            return []
        columns = list(zip(*rows, strict=True))
        for column, require in zip(columns, cls._columns.values(), strict=False):
            require(column)
        if not set(columns[_STATUS]) <= STATUSES:
            raise ValueError("there is no such status")
        new, place = tuple.__new__, _TRAITS
        kinds = {traits: cls._kind(traits) for traits in set(columns[place])}
        found = [new(kinds[row[place]], row) for row in rows]
        for place, more in enumerate(columns[_MORE]):
            if more is not None:
                found[place]._require_more()  # noqa: SLF001 (one of our own kind)
        return found

    @classmethod
    def from_rows_with_json(cls, rows: list[Any]) -> list[Self]:
        """Returns rows with their JSON as tasks; raises as `from_rows`."""
        if not all(type(row[-1]) is str and row[-1].startswith(_JSON_BEGINS) for row in rows):
            raise ValueError("the JSON is damaged")
        return cls.from_rows(rows)

    @classmethod
    def _kind(cls, traits: int) -> type[Self]:
        """Returns the class of the rows with these traits."""
        known: type[Self] | None = cls._kinds.get(traits)
        if known is not None:
            return known
        shared: dict[str, object] = {name: bool(traits >> place & 1) for place, name in enumerate(TRAITS)}
        if not traits & HAS_BLOCKERS:
            shared["blocked_by"] = ()
        if not traits & HAS_MORE:
            shared |= _NOTHING_MORE
        kind: type[Self] = type(cls.__name__, (cls,), {"__slots__": (), **shared})
        cls._kinds[traits] = kind
        return kind

    def _more(self, place: int) -> str:
        """Returns a part of the column `more`; empty if there is none."""
        part = self.more.split(" ", _MOST_SPACES)[place]
        return "" if part == _NOTHING else part

    def _require_more(self) -> None:
        """Raises a ValueError or TypeError if the rarer values cannot be read, now and not when they are asked for."""
        *times, _ = self.more.split(" ", _MOST_SPACES)
        if len(times) != _MOST_SPACES:
            raise ValueError(self.more)
        for time in times:
            if time != _NOTHING:
                datetime.fromisoformat(time)

    @property
    def blocked_by(self) -> tuple[TaskId, ...]:
        """Returns the tasks that it waits for, closed and missing ones too."""
        return tuple(self.blockers.split())  # type: ignore[arg-type]

    @property
    def defer_until(self) -> date | None:
        """Returns the day that it was put off to."""
        day = self._more(0)
        return date.fromisoformat(day) if day else None

    @property
    def asked_at(self) -> datetime | None:
        """Returns since when a person is asked; UTC."""
        asked = self._more(1)
        return datetime.fromisoformat(asked) if asked else None

    @property
    def waits_since(self) -> str:
        """Returns since when a person is asked as text that sorts: the time of the question, else of the creation."""
        return self._more(1) or self.born

    @property
    def closed(self) -> str:
        """Returns when it was closed as text that sorts; empty if it is open."""
        return self._more(2)

    @property
    def claim(self) -> IndexedClaim | None:
        """Returns who has taken it."""
        expires = self._more(3)
        return IndexedClaim(self._more(4), datetime.fromisoformat(expires)) if expires else None


class IndexedPage(IndexedTask):
    """A row with what `gt show` and the rarer filters of `gt list` ask as well: `PAGE_COLUMNS` behind the others.

    `label_list` is a JSON array of text.
    """

    __slots__ = ()
    _columns: ClassVar[dict[str, Callable[[tuple[Any, ...]], None]]] = COLUMNS | PAGE_COLUMNS

    label_list: str | None
    agent: str | None
    reviewer: str | None
    requires: str | None
    created_by: str | None
    pr: str | None
    iterations: int
    cost: float

    @classmethod
    def from_rows(cls, rows: list[Any]) -> list[Self]:
        """Returns rows of the database as tasks; raises as that of `IndexedTask`."""
        found = super().from_rows(rows)
        for page in found:
            _ = page.labels
        return found

    @property
    def labels(self) -> tuple[str, ...]:
        """Returns the labels."""
        text = self.label_list
        if text is None:
            return ()
        if "\\" not in text and text.startswith('["') and text.endswith('"]'):
            return tuple(text[2:-2].split('","'))
        import json  # only for a label with quotes or control characters

        return tuple(map(str, json.loads(text)))


# A named tuple's attributes read their place in any tuple, and faster than a property does. The class is kept: the
# cyclic collector empties the attributes of one that nobody names any more.
_GETTERS = namedtuple("_GETTERS", (*COLUMNS, *PAGE_COLUMNS))  # type: ignore[misc]  # noqa: PYI024 (typing is slow to load)
for _kind, _names in ((IndexedTask, COLUMNS), (IndexedPage, PAGE_COLUMNS)):
    for _name in _names:
        setattr(_kind, _name, vars(_GETTERS)[_name])
IndexedTask.json = property(itemgetter(-1))  # type: ignore[assignment]

_NOTHING_MORE: dict[str, object] = {
    "defer_until": None,
    "asked_at": None,
    "waits_since": IndexedTask.born,
    "closed": "",
    "claim": None,
}
