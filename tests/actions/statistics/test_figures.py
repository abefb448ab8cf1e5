from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta

import pytest

from gitticks.actions.statistics.figures import Facts, Figures, Week, monday_of, share
from gitticks.actions.statistics.journey import Crash, Journey, Session, Wait
from gitticks.actions.statistics.period import Period
from gitticks.model.ids import TaskId
from gitticks.model.status import Awaiting, Status
from gitticks.model.task import Task, Usage

NOW = datetime(2026, 3, 4, 6, 0, tzinfo=UTC)
DAY = timedelta(days=1)
ALL = Period(None, NOW)
DONE = Task(TaskId("d0ne"), "Done", status=Status.DONE, created=NOW - 10 * DAY, closed=NOW - 8 * DAY)


def facts(*journeys: Journey) -> Facts:
    found = Facts()
    for journey in journeys:
        found.add(journey)
    return found


@pytest.mark.parametrize(
    ("values", "part", "expected"),
    [((), 0.5, None), ((7.0,), 0.9, 7.0), ((1.0, 2.0, 3.0, 4.0), 0.5, 2.0), (tuple(range(1, 11)), 0.9, 9)],
)
def test_the_share_is_a_value_that_there_is(
    values: tuple[float, ...], part: float, expected: float | None
) -> None:
    assert share(values, part) == expected


def test_nothing_comes_to_nothing() -> None:
    assert Facts().figures(ALL) == Figures()
    assert Facts().figures(ALL).is_empty
    assert (Facts().by_week(ALL), Facts().by_kind(ALL)) == ((), ())


def test_what_lies_before_the_period_is_left_out() -> None:
    journey = Journey(
        DONE,
        "claude",
        waits=[Wait(Awaiting.REVIEW, NOW - 9 * DAY, NOW - 8 * DAY), Wait(Awaiting.INPUT, NOW - DAY / 2)],
        sessions=[Session("claude", NOW - 9 * DAY, Usage(1, 5, 5, 1.0, 9.0)), Session("claude", NOW, Usage(1))],
        rounds=[NOW - 9 * DAY, NOW],
        crashes=[Crash("claude", NOW - 9 * DAY)],
    )  # fmt: skip
    everything = facts(journey).figures(ALL)
    assert (everything.done, everything.rounds, everything.crashes, everything.sessions) == (1, 2, 1, 2)
    assert everything.wait_seconds == (43_200.0, 86_400.0)
    assert everything.lead_seconds == (172_800.0,)
    assert everything.usage == Usage(2, 5, 5, 1.0, 9.0)
    late = facts(journey).figures(Period(NOW - DAY, NOW))
    assert late == Figures(wait_seconds=(43_200.0,), waiting=1, rounds=1, sessions=1, usage=Usage(1))
    assert [one.kind for one in facts(journey).by_kind(Period(NOW - DAY, NOW))] == [Awaiting.INPUT]


def test_times_that_contradict_one_another_are_no_negative_ones() -> None:
    odd = replace(DONE, closed=NOW - 20 * DAY)
    assert facts(Journey(odd, None)).figures(ALL).lead_seconds == (0.0,)
    unknown = replace(DONE, created=None, closed=None)
    assert facts(Journey(unknown, None)).figures(ALL) == Figures()


def test_weeks_without_anything_are_weeks_too() -> None:
    waited = Wait(Awaiting.REVIEW, NOW - 9 * DAY, NOW - 8 * DAY)
    sessions = [Session("claude", NOW, Usage(1, cost=0.1)), Session("claude", NOW, Usage(1, cost=0.2))]
    weeks = facts(Journey(DONE, None, waits=[waited], sessions=sessions)).by_week(ALL)
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
        ("America/New_York", datetime.min.replace(tzinfo=UTC), date.min),
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
