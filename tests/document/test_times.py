"""Times are read with any offset and written as UTC."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest

from gitticks.document.times import format_date, format_time, parse_time


@pytest.mark.parametrize(
    "text",
    [
        "2026-11-22T10:02:03Z",
        "2026-11-22t10:02:03z",
        "2026-11-22 10:02:03",
        "2026-11-22T12:02:03+02:00",
        "2026-11-22T12:02:03 +0200",
        "2026-11-22T05:02:03.987-05",
    ],
)
def test_times_of_every_offset_are_utc(text: str) -> None:
    assert parse_time(text) == datetime(2026, 11, 22, 10, 2, 3, tzinfo=UTC)


def test_a_date_is_its_midnight() -> None:
    assert parse_time("2026-11-22") == datetime(2026, 11, 22, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "soon",
        "2026-13-01",
        "2026-11-22T25:00:00Z",
        "2026-W10",
        "20261122",
        "0001-01-01T00:00:00+14:00",
        "٢٠٢٦-11-22",
    ],
)
def test_what_is_no_time(text: str) -> None:
    assert parse_time(text) is None


def test_times_are_written_in_utc_with_whole_seconds() -> None:
    east = datetime(2026, 11, 22, 12, 2, 3, 999_999, tzinfo=timezone(timedelta(hours=2)))
    assert format_time(east) == "2026-11-22T10:02:03Z"
    assert format_time(datetime(2026, 11, 22, 10, 2, 3)) == "2026-11-22T10:02:03Z"  # noqa: DTZ001


def test_dates_are_written_without_a_time() -> None:
    assert format_date(date(2026, 1, 2)) == "2026-01-02"
    assert format_date(datetime(2026, 1, 2, 3, tzinfo=UTC)) == "2026-01-02"
