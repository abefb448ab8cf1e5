from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest

from gitticks.actions.statistics.period import Period, period_until, read_since
from gitticks.errors import UsageError

NOW = datetime(2026, 3, 4, 5, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "since"),
    [("30d", timedelta(days=30)), (" 12w ", timedelta(weeks=12)), ("2026-03-01", date(2026, 3, 1))],
)
def test_what_a_person_writes(text: str, since: date | timedelta) -> None:
    assert read_since(text) == since


@pytest.mark.parametrize(
    "text", ["", "yesterday", "12", "-3d", "12345d", "2026-13-01", "20260301", "3 d", "٣d"]
)
def test_anything_else_is_refused_with_what_would_do(text: str) -> None:
    with pytest.raises(UsageError) as refused:
        read_since(text)
    assert refused.value.hint == "write 2026-10-01, 30d or 12w"


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
