from __future__ import annotations

from datetime import date

import pytest

from gitticks.importing.exported import RecordError
from gitticks.importing.record import Parts, is_given_up, time_of


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("2026-03-01T10:00:00.123456789Z", "2026-03-01T10:00:00+00:00"),
        ("2025-11-02T21:58:07.295058-08:00", "2025-11-03T05:58:07+00:00"),
        ("2026-05-01 09:30", "2026-05-01T09:30:00+00:00"),
        ("2026-05-01", "2026-05-01T00:00:00+00:00"),
        ("0001-01-01T00:00:00Z", "None"),
        ("soon", "None"),
    ],
)
def test_times_of_every_tracker(text: str, shown: str) -> None:
    found = time_of(text)
    assert (found.isoformat() if found else "None") == shown


@pytest.mark.parametrize(
    ("value", "day"),
    [
        ("2026-03-01T00:00:00+01:00", date(2026, 3, 1)),
        (" 2026-03-01T17:00:00.5-08:00", date(2026, 3, 1)),
        ("2026-03-01", date(2026, 3, 1)),
        ("0001-01-01T00:00:00Z", None),
        ("soon", None),
        (7, None),
    ],
)
def test_a_day_is_the_one_that_is_written(value: object, day: date | None) -> None:
    parts = Parts.of({"due_at": value})
    assert parts.day("due_at") == day
    assert ("due_at" in parts.left) is (day is None)


@pytest.mark.parametrize(
    ("reason", "given_up"),
    [
        ("Won't do: it is blue", True),
        ("wontfix", True),
        ("Duplicate of bd-1", True),
        ("obsolete", True),
        ("[duplicate]", True),
        ("**Obsolete** since May", True),
        ("Duplicate issue bd-12", True),
        ("dup #12", True),
        ("duplicate\nsee bd-1", True),
        ("Superseded by bd-1", True),
        ("Invalid - it was the cable", True),
        ("cancelled: no time", True),
        ("cancel", True),
        ("done", False),
        ("Removed duplicate code", False),
        ("Invalid input is now rejected with 400", False),
        ("Invalid task ids are refused", False),
        ("Invalid/expired tokens are refused", False),
        ("Duplicate detection added", False),
        ("Duplicate-key errors are retried", False),
        ("Obsolete endpoints removed", False),
        ("Superseded API migrated", False),
        ("Cancelled orders are refunded", False),
        (None, False),
    ],
)
def test_only_a_plain_word_gives_a_task_up(reason: str | None, *, given_up: bool) -> None:
    assert is_given_up(reason) is given_up


def test_values_of_another_kind_stay_where_they_are() -> None:
    record = {
        "title": 7,
        "labels": ["a", 1],
        "priority": "urgent",
        "created_at": "soon",
        "empty": "",
        "none": None,
    }
    parts = Parts.of(record)
    assert (parts.text("title"), parts.texts("labels"), parts.time("created_at")) == (None, (), None)
    assert parts.priority() == 2
    assert set(parts.left) == {"title", "labels", "priority", "created_at"}
    with pytest.raises(RecordError, match="`title` is not a text"):
        parts.name("title")
    with pytest.raises(RecordError, match="`empty` is missing"):
        parts.name("empty")


@pytest.mark.parametrize(
    ("value", "number"), [(0, 0), (4, 4), (5, 2), (-1, 2), (True, 2), ("high", 1), ("x", 2)]
)
def test_priorities_by_number_or_word(value: object, number: int) -> None:
    assert Parts.of({"priority": value}).priority({"high": 1}) == number
