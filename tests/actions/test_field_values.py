from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitticks.actions.field_values import WEEKDAYS, Reading, read_day, read_priority, read_wishes
from gitticks.errors import UsageError
from gitticks.model.ids import TaskId
from gitticks.model.task import Task

SUNDAY = date(2026, 11, 22)


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("today", SUNDAY),
        ("Tomorrow", date(2026, 11, 23)),
        ("+0d", SUNDAY),
        ("+2w", date(2026, 12, 6)),
        ("monday", date(2026, 11, 23)),
        ("sun", date(2026, 11, 29)),
        ("2026-12-24", date(2026, 12, 24)),
        ("2020-01-01", date(2020, 1, 1)),
    ],
)
def test_days(text: str, day: date) -> None:
    assert read_day(text, SUNDAY) == day


@pytest.mark.parametrize(
    "text", ["", "soon", "3d", "+d", "+3", "20261224", "2026-13-01", "24.12.2026", "+99999w"]
)
def test_no_days(text: str) -> None:
    with pytest.raises(UsageError, match="is not a day"):
        read_day(text, SUNDAY)


@given(st.sampled_from(WEEKDAYS), st.dates(date(2000, 1, 1), date(2100, 1, 1)))
def test_a_weekday_is_the_next_one_and_never_today(name: str, today: date) -> None:
    day = read_day(name, today)
    assert timedelta(0) < day - today <= timedelta(days=7)
    assert day.weekday() == WEEKDAYS.index(name)


@pytest.mark.parametrize(
    ("text", "number"), [("0", 0), ("4", 4), ("P2", 2), ("critical", 0), ("High", 1), ("backlog", 4)]
)
def test_priorities(text: str, number: int) -> None:
    assert read_priority(text) == number


@pytest.mark.parametrize("text", ["5", "-1", "P", "urgent", "1.0", "²"])
def test_no_priorities(text: str) -> None:
    with pytest.raises(UsageError, match="is not a valid priority"):
        read_priority(text)


@pytest.mark.parametrize("typed", [("bug", "+ui"), ("-old,bug",)])
def test_a_list_is_either_named_whole_or_changed(typed: tuple[str, ...]) -> None:
    task = Task(TaskId("k7f2"), "A", labels=("old",))
    with pytest.raises(UsageError, match="`bug` replaces it") as caught:
        read_wishes({"labels": typed}, Reading(SUNDAY, TaskId, task))
    assert str(caught.value.hint).startswith("`+bug` adds it")


@pytest.mark.parametrize(
    ("present", "typed", "result"),
    [
        ((), ("a,b", "c"), ("a", "b", "c")),
        (("a",), ("b",), ("b",)),
        (("a",), ("+b",), ("a", "b")),
        (("a", "b"), ("-a", "+c"), ("b", "c")),
        (("a", "b"), ("",), ()),
        (("alpha", "beta"), ("-al",), ("beta",)),
        (("alpha", "alps"), ("-al",), ("alpha", "alps")),
        (("c++",), ("-c++",), ()),
    ],
)
def test_lists_are_set_or_changed(
    present: tuple[str, ...], typed: tuple[str, ...], result: tuple[str, ...]
) -> None:
    task = Task(TaskId("k7f2"), "A", labels=present)
    assert read_wishes({"labels": typed}, Reading(SUNDAY, TaskId, task)) == {"labels": result}


@pytest.mark.parametrize(
    "name", ["type", "priority", "parent", "requires", "awaiting", "defer_until", "agent"]
)
@pytest.mark.parametrize("text", ["", "null", " null "])
def test_every_field_can_be_cleared(name: str, text: str) -> None:
    default = getattr(Task(TaskId("k7f2"), "A"), name)
    assert read_wishes({name: text}, Reading(SUNDAY, TaskId)) == {name: default}


@pytest.mark.parametrize(
    "wishes",
    [
        {"agent": "a\x1b[31m"},
        {"model": "--yolo"},
        {"model": "a\tb"},
        {"labels": ("a\nb",)},
        {"isolation": "docker"},
    ],
)
def test_what_no_field_can_hold(wishes: dict[str, str]) -> None:
    with pytest.raises(UsageError):
        read_wishes(wishes, Reading(SUNDAY, TaskId))
