from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from gitticks.actions.context import Context
from gitticks.actions.statistics.figures import (
    Figures,
    Period,
    Week,
    by_kind,
    by_week,
    figures_of,
    gather,
    monday_of,
    period_until,
    read_since,
    share,
)
from gitticks.actions.statistics.journey import Crash, Facts, Session, Wait
from gitticks.errors import UsageError
from gitticks.model.ids import TaskId
from gitticks.model.status import Awaiting, Status, TaskType
from gitticks.model.task import Task, Usage
from gitticks.store.transaction import Transaction
from tests.support.stores import ADA, make_store, put_task

NOW = datetime(2026, 3, 4, 6, 0, tzinfo=UTC)
DAY = timedelta(days=1)
ALL = Period(None, NOW)
DONE = Task(
    TaskId("d0ne"),
    "Done",
    status=Status.DONE,
    created=NOW - 10 * DAY,
    closed=NOW - 8 * DAY,
)
DEEP = 30


@pytest.mark.parametrize(
    ("text", "since"),
    [
        ("90s", timedelta(seconds=90)),
        ("2h", timedelta(hours=2)),
        ("30d", timedelta(days=30)),
        (" 12w ", timedelta(weeks=12)),
        ("2026-03-01", date(2026, 3, 1)),
    ],
)
def test_what_a_person_writes(text: str, since: date | timedelta) -> None:
    assert read_since(text) == since


@pytest.mark.parametrize(
    "text", ["", "yesterday", "12", "-3d", "12345d", "2026-13-01", "20260301", "3 d", "٣d"]
)
def test_anything_else_is_refused_with_what_would_do(text: str) -> None:
    with pytest.raises(UsageError) as refused:
        read_since(text)
    assert refused.value.hint == "write 2026-10-01, 2h, 30d or 12w"


def test_periods() -> None:
    assert period_until(NOW, None) == Period(None, NOW)
    assert period_until(NOW, timedelta(days=1)).since == NOW - timedelta(days=1)
    assert period_until(NOW, date(2026, 3, 4)).since == datetime(2026, 3, 4, tzinfo=UTC)
    assert period_until(NOW, timedelta(weeks=9999)).since is not None
    with pytest.raises(UsageError):
        period_until(NOW, date(2026, 3, 5))


def test_only_what_lies_within_counts() -> None:
    hour = timedelta(hours=1)
    period = Period(NOW - hour, NOW)
    assert [period.has(at) for at in (None, NOW - 2 * hour, NOW - hour, NOW, NOW + hour)] == [
        False, False, True, True, False,
    ]  # fmt: skip
    assert period.seconds_of(NOW - 2 * hour, NOW - hour / 2) == 1800
    assert period.seconds_of(NOW - 2 * hour, None) == 3600
    assert period.seconds_of(NOW - 3 * hour, NOW - 2 * hour) == 0
    assert Period(None, NOW).seconds_of(NOW - 3 * hour, NOW + hour) == 3 * 3600


@pytest.mark.parametrize(
    ("values", "part", "expected"),
    [((), 0.5, None), ((7.0,), 0.9, 7.0), ((1.0, 2.0, 3.0, 4.0), 0.5, 2.0), (tuple(range(1, 11)), 0.9, 9)],
)
def test_the_share_is_a_value_that_there_is(
    values: tuple[float, ...], part: float, expected: float | None
) -> None:
    assert share(values, part) == expected


def test_nothing_comes_to_nothing() -> None:
    assert figures_of(Facts(), ALL) == Figures()
    assert figures_of(Facts(), ALL).is_empty
    assert (by_week(Facts(), ALL), by_kind(Facts(), ALL)) == ((), ())


def test_what_lies_before_the_period_is_left_out() -> None:
    journey = Facts(
        "claude",
        [DONE],
        waits=[Wait(Awaiting.REVIEW, NOW - 9 * DAY, NOW - 8 * DAY), Wait(Awaiting.INPUT, NOW - DAY / 2)],
        sessions=[Session("claude", NOW - 9 * DAY, Usage(1, 5, 5, 1.0, 9.0)), Session("claude", NOW, Usage(1))],
        rounds=[NOW - 9 * DAY, NOW],
        crashes=[Crash("claude", NOW - 9 * DAY)],
    )  # fmt: skip
    everything = figures_of(journey, ALL)
    assert (everything.done, everything.rounds, everything.crashes, everything.sessions) == (1, 2, 1, 2)
    assert everything.wait_seconds == (43_200.0, 86_400.0)
    assert everything.lead_seconds == (172_800.0,)
    assert everything.usage == Usage(2, 5, 5, 1.0, 9.0)
    late = figures_of(journey, Period(NOW - DAY, NOW))
    assert late == Figures(wait_seconds=(43_200.0,), waiting=1, rounds=1, sessions=1, usage=Usage(1))
    assert [one.kind for one in by_kind(journey, Period(NOW - DAY, NOW))] == [Awaiting.INPUT]


def test_what_brought_code_was_merged_by_itself_or_with_its_epic() -> None:
    merged = replace(DONE, merged_sha="a" * 40)
    with_epic = replace(DONE, start_sha="a" * 40, end_sha="b" * 40)
    untouched = replace(DONE, start_sha="a" * 40, end_sha="a" * 40)
    found = figures_of(Facts(tasks=[DONE, merged, with_epic, untouched]), ALL)
    assert (found.done, found.merged) == (4, 2)


def test_times_that_contradict_one_another_are_no_negative_ones() -> None:
    odd = replace(DONE, closed=NOW - 20 * DAY)
    assert figures_of(Facts(tasks=[odd]), ALL).lead_seconds == (0.0,)
    unknown = replace(DONE, created=None, closed=None)
    assert figures_of(Facts(tasks=[unknown]), ALL) == Figures()


def test_weeks_without_anything_are_weeks_too() -> None:
    waited = Wait(Awaiting.REVIEW, NOW - 9 * DAY, NOW - 8 * DAY)
    sessions = [
        Session("claude", NOW, Usage(1, cost=0.1)),
        Session("claude", NOW, Usage(1, cost=0.2)),
    ]
    weeks = by_week(Facts(tasks=[DONE], waits=[waited], sessions=sessions), ALL)
    assert weeks == (
        Week(date(2026, 2, 16), 1, 0, 0.0, 0.0),
        Week(date(2026, 2, 23), 0, 1, 86_400.0, 0.0),
        Week(date(2026, 3, 2), 0, 0, 0.0, 0.3),
    )
    assert monday_of(NOW) == date(2026, 3, 2)


@pytest.mark.parametrize(
    ("zone", "at", "monday"),
    [
        ("Europe/Berlin", datetime(2026, 3, 1, 23, 30, tzinfo=UTC), date(2026, 3, 2)),
        ("America/New_York", datetime(2026, 3, 1, 23, 30, tzinfo=UTC), date(2026, 2, 23)),
    ],
)
def test_weeks_are_those_of_whoever_reads(
    monkeypatch: pytest.MonkeyPatch, zone: str, at: datetime, monday: date
) -> None:
    with monkeypatch.context() as there:
        there.setenv("TZ", zone)
        time.tzset()
        found = monday_of(at)
    time.tzset()
    assert found == monday


def _put_nested(transaction: Transaction) -> None:
    def put(task_id: str, parent: str | None = None, kind: TaskType = TaskType.TASK) -> None:
        put_task(transaction, id=task_id, parent=TaskId(parent) if parent else None, type=kind)

    put("outer", kind=TaskType.EPIC)
    put("inner", "outer", TaskType.EPIC)
    put("a1", "inner")
    put("a2", "a1")
    put("b1", "outer")
    put("c1", "c2")
    put("c2", "c1")
    put("d1", "gone")
    put("line0", "outer")
    for number in range(1, DEEP):
        put(f"line{number}", f"line{number - 1}")


def test_each_task_counts_for_the_nearest_epic_above_it_and_cycles_for_none(tmp_path: Path) -> None:
    make_store(tmp_path).transact(_put_nested, author=ADA)
    found = gather(Context(directory=tmp_path))
    assert {one.id: one.figures.open for one in found.epics} == {"outer": 1 + DEEP, "inner": 2, None: 3}
    assert found.epics[-1].id is None
    assert [one.name for one in found.agents] == [""]
