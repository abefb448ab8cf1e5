"""The filter options of reading commands."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from gitticks.cli.at_once import Option
from gitticks.errors import UsageError
from gitticks.model.status import Awaiting, Phase, Status, TaskType

if TYPE_CHECKING:
    from gitticks.actions.listing import Order

_MOST_DIGITS = 9


def parse_kinds(text: str) -> frozenset[Awaiting]:
    """Returns the kinds of awaiting that a comma list names; every kind for an empty one.

    Raises:
        UsageError: one of the words is no kind.
    """
    known = {kind.value: kind for kind in Awaiting}
    words = _words(text, known, "kind of awaiting")
    return frozenset(known[word] for word in words) or frozenset(Awaiting)


def parse_statuses(text: str) -> frozenset[Status]:
    """Returns the statuses that a comma list names, by themselves or by their phase.

    Raises:
        UsageError: one of the words is neither.
    """
    known = {phase.value: frozenset(one for one in Status if one.phase is phase) for phase in Phase}
    known |= {status.value: frozenset({status}) for status in Status}
    words = _words(text, known, "status or phase")
    return frozenset[Status]().union(*(known[word] for word in words))


def parse_count(text: str) -> int:
    """Returns a number from 1."""
    if text.isascii() and text.isdecimal() and int(text[:_MOST_DIGITS]) > 0:
        return int(text[:_MOST_DIGITS])

    raise UsageError(f"`{text}` is not a number from 1 up", hint="write a number such as 20")


def parse_type(text: str) -> bool:
    """Returns True for `epic`, False for `task`."""
    return _words(text, [one.value for one in TaskType], "type")[-1:] == [TaskType.EPIC]


def parse_order(text: str) -> tuple[Order, bool]:
    """Returns what a listing is sorted by, and whether the last comes first.

    Raises:
        UsageError: it cannot be sorted so.
    """
    from gitticks.actions.field_values import read_word
    from gitticks.actions.listing import Order

    word = text.removeprefix("-")
    return read_word(Order, "order")(word), word != text


def _are_kinds(text: str) -> bool:
    kinds = {kind.value for kind in Awaiting}
    return all(part in kinds for part in text.split(","))


def _words(text: str, known: Iterable[str], what: str) -> list[str]:
    words = [word for word in text.split(",") if word]
    unknown = next((word for word in words if word not in known), None)
    if unknown is not None:
        from gitticks.actions.field_values import unknown_word

        raise unknown_word(what, unknown, known)
    return words


AWAITING = Option(
    "awaiting",
    ("--awaiting",),
    "Only tasks that await a person; KINDS is a comma-separated list of work, approval, input, review, content, escalation, "
    "checkpoint.",
    metavar="[KINDS]",
    read=parse_kinds,
    completes="kinds",
    may_be_bare=True,
    is_value=_are_kinds,
)
"""Arrives as a frozen set of kinds, or None."""

STATUS = Option(
    "statuses",
    ("--status",),
    "Only these statuses or phases (open, in_progress, in_review, closed).",
    metavar="STATUS[,…]",
    read=parse_statuses,
    completes="statuses",
    is_repeated=True,
)
"""Arrives as a tuple of frozen sets of statuses, one for each time it was given."""

COUNT = Option("count", ("-n", "--count"), "Show at most N.", metavar="N", read=parse_count)
"""Arrives as a number, or None."""

LABEL = Option(
    "labels",
    ("-l", "--label"),
    "Only tasks with this label; can be repeated.",
    is_repeated=True,
    completes="labels",
)
"""Arrives as a tuple of labels."""

REVIEWER = Option(
    "reviewer", ("--reviewer",), "Only tasks that this person should answer.", completes="reviewer"
)
"""Arrives as a name, or None."""
