"""Parses fields as typed on a command line into a task's values."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from datetime import date, timedelta
from difflib import get_close_matches
from enum import StrEnum
from typing import Any, NamedTuple, TypeVar

from gitticks.document.values import ARGUMENT_HINT, is_argument
from gitticks.errors import UsageError
from gitticks.model.ids import TaskId
from gitticks.model.status import Awaiting, Isolation, Priority, Requires, TaskType
from gitticks.model.task import Task

WordT = TypeVar("WordT", bound=StrEnum)
Wishes = Mapping[str, str | tuple[str, ...]]
"""Fields by name as they were typed; lists come as tuples. An empty text or `null` clears."""

WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_RELATIVE = re.compile(r"\+([0-9]{1,4})([dw])")
_CLEARED = ("", "null")
ME = ("me", "@me")
"""The words for whoever types them."""
_FARTHEST_YEARS = 100
_DEFAULTS: dict[str, Any] = {
    field.name: getattr(Task(TaskId("0"), ""), field.name) for field in fields(Task) if field.name != "id"
}


class Reading(NamedTuple):
    """What reading a field depends on: the day it is, the task's present value, and how ids are found, and who asks."""

    today: date
    find_task: Callable[[str], TaskId]
    before: Task | None = None
    me: Callable[[], str] = str


def read_wishes(wishes: Wishes, reading: Reading) -> dict[str, Any]:
    """Returns the values by field name."""
    return {name: _read(name, wish, reading) for name, wish in wishes.items()}


def _read(name: str, wish: str | tuple[str, ...], reading: Reading) -> object:
    if isinstance(wish, tuple):
        words = [word.strip() for part in wish for word in part.split(",")]
        present: tuple[str, ...] = getattr(reading.before, name) if reading.before else ()
        read = reading.find_task if name == "blocked_by" else _name
        return _changed_list(words, present, read)
    if name == "title":
        return read_title(wish)
    if wish.strip() in _CLEARED:
        return _DEFAULTS[name]
    return _READERS[name](wish.strip(), reading)


def _changed_list(words: list[str], present: tuple[str, ...], read: Callable[[str], str]) -> tuple[str, ...]:
    """Returns the list that the words name; words that begin with `+` or `-` change the present one instead."""
    named = [word for word in words if word not in _CLEARED]
    changes = [word for word in named if word[0] in "+-" and len(word) > 1]
    whole = next((word for word in named if word not in changes), None)
    if changes and whole is not None:
        raise UsageError(
            f"`{changes[0]}` changes the existing list, but `{whole}` replaces it",
            hint=f"`+{whole}` adds it; or give the whole list, without `+` and `-`",
        )
    if not changes:
        return tuple(dict.fromkeys(read(word) for word in named))
    added = [read(word[1:]) for word in named if word[0] == "+"]
    removed = {_in_list(word[1:], present) for word in named if word[0] == "-"}
    return tuple(one for one in dict.fromkeys([*present, *added]) if one not in removed)


def _in_list(word: str, present: tuple[str, ...]) -> str:
    """Returns the only one of the list that begins with the word; what is taken away may no longer exist."""
    found = [one for one in present if one.startswith(word)]
    return found[0] if len(found) == 1 and word not in present else word


def read_title(text: str) -> str:
    """Returns a title: not empty, on one line."""
    title = text.strip()
    if not title:
        raise UsageError("the title is empty", hint='give it a line of text, such as "Fix the login"')
    if len(title.splitlines()) > 1:
        raise UsageError(
            "the title has several lines",
            hint="use `-d` for the description, or `gt create -` with the title on the first line",
        )
    return title


def read_priority(text: str) -> int:
    """Returns a priority that was given as a number from 0 to 4, or by its word."""
    words = {level.name.lower(): level.value for level in Priority}
    if text.removeprefix("P").removeprefix("p") in {str(level) for level in words.values()}:
        return int(text[-1])
    if text.lower() in words:
        return words[text.lower()]
    raise unknown_word("priority", text, [*words, *map(str, words.values())])


def read_day(text: str, today: date) -> date:
    """Returns the day of a date such as `2026-12-24`, `+3d`, `+2w`, `today`, `tomorrow` or a weekday's next one."""
    word = text.lower()
    if word in ("today", "tomorrow"):
        return today + timedelta(days=word == "tomorrow")
    weekday = next((number for number, name in enumerate(WEEKDAYS) if word in (name, name[:3])), None)
    if weekday is not None:
        return today + timedelta(days=(weekday - today.weekday() - 1) % 7 + 1)
    if match := _RELATIVE.fullmatch(word):
        return today + timedelta(days=int(match[1]) * (7 if match[2] == "w" else 1))
    try:
        day = date.fromisoformat(text)
    except ValueError:
        day = None
    if day is None or len(text) < len("2026-12-24"):
        raise UsageError(
            f"`{text}` is not a day", hint="write 2026-12-24, +3d, +2w, today, tomorrow or a weekday"
        )
    if abs(day.year - today.year) > _FARTHEST_YEARS:
        raise UsageError(
            f"`{text}` is more than {_FARTHEST_YEARS} years away", hint="use a date closer to today, or +2w"
        )
    return day


def read_word(words: type[WordT], what: str) -> Callable[[str], WordT]:
    """Returns a reader of one of the words of a closed set."""

    def read(text: str) -> WordT:
        known = {word.value: word for word in words}
        if text.lower() not in known:
            raise unknown_word(what, text, list(known))
        return known[text.lower()]

    return read


def unknown_word(what: str, word: str, known: Iterable[str]) -> UsageError:
    """Returns the error for a word that is none of those known, with the near ones or all of them in its hint."""
    known = list(known)
    near = [f"`{one}`" for one in get_close_matches(word.lower(), known, n=2)]
    hint = f"did you mean {' or '.join(near)}?" if near else f"one of {', '.join(known)}"
    return UsageError(f"`{word}` is not a valid {what}", hint=hint)


def _name(text: str) -> str:
    if not text.isprintable():
        raise UsageError(f"`{ascii(text)[1:-1]}` contains control characters", hint="leave them out")
    return text


def _model(text: str) -> str:
    if not is_argument(text):
        shown = ascii(text)[1:-1]
        raise UsageError(f"`{shown}` cannot be passed to an agent's program", hint=ARGUMENT_HINT)
    return text


_READERS: dict[str, Callable[[str, Reading], object]] = {
    "type": lambda text, _: read_word(TaskType, "type")(text),
    "priority": lambda text, _: read_priority(text),
    "parent": lambda text, reading: reading.find_task(text),
    "requires": lambda text, _: read_word(Requires, "gate")(text),
    "awaiting": lambda text, _: read_word(Awaiting, "kind of awaiting")(text),
    "reviewer": lambda text, _: _name(text),
    "assignee": lambda text, reading: reading.me() if text in ME else _name(text),
    "due": lambda text, reading: read_day(text, reading.today),
    "defer_until": lambda text, reading: read_day(text, reading.today),
    "agent": lambda text, _: _name(text),
    "model": lambda text, _: _model(text),
    "isolation": lambda text, _: read_word(Isolation, "isolation")(text),
}
