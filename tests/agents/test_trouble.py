"""Outage, limit, refusal, login: told apart by status and words."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta

import pytest

from gitticks.agents.trouble import Trouble, classify, one_line, with_times
from gitticks.model.task import Ending

NOW = datetime(2026, 11, 22, 16, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("status", "text", "ending"),
    [
        (401, "mock", Ending.START_FAILED),
        (403, "mock", Ending.START_FAILED),
        (402, "mock", Ending.USAGE_LIMITED),
        (408, "mock", Ending.OUTAGE),
        (429, "mock", Ending.RATE_LIMITED),
        (429, "You've hit your usage limit", Ending.USAGE_LIMITED),
        (500, "mock", Ending.OUTAGE),
        (529, "mock", Ending.OUTAGE),
        (400, "mock", Ending.CRASHED),
        (400, "Your credit balance is too low", Ending.USAGE_LIMITED),
        (None, "unexpected status 529 <unknown status code>: Overloaded, url: http://x", Ending.OUTAGE),
        (None, '[API Error: {"error":{"code":529,"message":"Overloaded"}}]', Ending.OUTAGE),
        (None, "exceeded retry limit, last status: 429 Too Many Requests", Ending.RATE_LIMITED),
        (
            None,
            "We are currently experiencing high demand, which may cause temporary errors.",
            Ending.RATE_LIMITED,
        ),
        (None, "RESOURCE_EXHAUSTED", Ending.RATE_LIMITED),
        (None, "API Error: Unable to connect to API (ConnectionRefused)", Ending.OUTAGE),
        (None, "stream disconnected before completion: error sending request", Ending.OUTAGE),
        (None, "Reconnecting... waiting for network (Connection failed)", Ending.OUTAGE),
        (None, "Not logged in · Please run /login", Ending.START_FAILED),
        (None, "Missing environment variable: `KEY`.", Ending.START_FAILED),
        (None, "blocked by the content filter", Ending.REFUSED),
        (None, "something else", Ending.CRASHED),
        (400, "Prompt is too long · the request is ~216327 tokens (limit 200000)", Ending.CONTEXT_FULL),
        (
            400,
            "input length and `max_tokens` exceed context limit: 198981 + 21333 > 200000",
            Ending.CONTEXT_FULL,
        ),
        (500, "prompt is too long: 203052 tokens > 200000 maximum", Ending.CONTEXT_FULL),
        (413, "request_too_large: Request exceeds the maximum size", Ending.CONTEXT_FULL),
        (429, "rate limit of requests with a long context window", Ending.RATE_LIMITED),
        (None, "Codex ran out of room in the model's context window.", Ending.CONTEXT_FULL),
        (None, "This model's maximum context length is 128000 tokens.", Ending.CONTEXT_FULL),
        (
            None,
            "The input token count (1196265) exceeds the maximum number of tokens allowed.",
            Ending.CONTEXT_FULL,
        ),
    ],
)
def test_an_error_of_a_service_has_its_ending(status: int | None, text: str, ending: Ending) -> None:
    assert classify(text, status=status).ending is ending


@pytest.mark.parametrize(
    ("text", "resets_at"),
    [
        ("Claude AI usage limit reached|1795370400", datetime.fromtimestamp(1795370400, UTC)),
        ("try again in 2 days 3 hours 4 minutes", NOW + timedelta(days=2, hours=3, minutes=4)),
        ("Please retry in 7.5s", NOW + timedelta(seconds=7.5)),
        ("retry after 1 hour, 5 min", NOW + timedelta(hours=1, minutes=5)),
        ("available again at 2026-11-23T08:00:00+02:00", datetime(2026, 11, 23, 6, tzinfo=UTC)),
        ("resets 3pm (UTC)", datetime(2026, 11, 23, 15, tzinfo=UTC)),
        ("resets at 5:45 pm (Europe/Berlin)", datetime(2026, 11, 22, 16, 45, tzinfo=UTC)),
        ("resets 12am (UTC)", datetime(2026, 11, 23, tzinfo=UTC)),
        ("resets 10pm (UTC)", datetime(2026, 11, 22, 22, tzinfo=UTC)),
        ("resets 10am (UTC)", datetime(2026, 11, 23, 10, tzinfo=UTC)),
        ("resets 4:28pm (UTC)", datetime(2026, 11, 22, 16, 28, tzinfo=UTC)),
        ("Access resets at 10:57 PM GMT-3.", datetime(2026, 11, 23, 1, 57, tzinfo=UTC)),
        ("Access resets at 10:57 PM GMT+5:30.", datetime(2026, 11, 22, 17, 27, tzinfo=UTC)),
        ("Access resets at 10:57 PM GMT-3:30.", datetime(2026, 11, 23, 2, 27, tzinfo=UTC)),
        ("resets Nov 25 at 7pm (UTC)", datetime(2026, 11, 25, 19, tzinfo=UTC)),
        ("resets Jan 2, 2am (UTC)", datetime(2027, 1, 2, 2, tzinfo=UTC)),
        ("resets Nov 21 at 4:30am (Asia/Calcutta)", datetime(2026, 11, 20, 23, tzinfo=UTC)),
        ("try again at Dec 5th, 2026 8:19 PM (UTC)", datetime(2026, 12, 5, 20, 19, tzinfo=UTC)),
        ("try again at May 5 2027 at 7pm (UTC)", datetime(2027, 5, 5, 19, tzinfo=UTC)),
        ('"resets_at":1795370400,"resets_in_seconds":13872', datetime.fromtimestamp(1795370400, UTC)),
        ("resets 99pm (Nowhere/Here)", None),
        ("resets Feb 30 at 7pm (UTC)", None),
        ("available again at 2026-99-23T08:00:00Z", None),
        ("try again later", None),
        ("try again in 99999999999 days", None),
        ("resets Nov 25, 9999 at 7pm (UTC)", None),
        ("available again at 9999-12-31T23:59:59-10:00", None),
    ],
)
def test_the_end_of_a_limit_is_read_from_its_words(text: str, resets_at: datetime | None) -> None:
    assert with_times(Trouble(Ending.USAGE_LIMITED, text), NOW).resets_at == resets_at


def test_the_limit_of_five_hours_pauses_until_its_end() -> None:
    words = "5-hour limit reached ∙ resets 7pm (Europe/Stockholm) ∙ /upgrade to increase your usage limit."
    for text in (words, words.partition(" ∙ /upgrade")[0]):
        found = with_times(classify(text), NOW)
        assert (found.ending, found.resets_at) == (
            Ending.USAGE_LIMITED,
            datetime(2026, 11, 22, 18, tzinfo=UTC),
        )


def test_a_day_that_only_this_year_has_is_read() -> None:
    found = with_times(
        Trouble(Ending.USAGE_LIMITED, "try again at Feb 29 at 7pm (UTC)"), datetime(2028, 2, 28, tzinfo=UTC)
    )
    assert found.resets_at == datetime(2028, 2, 29, 19, tzinfo=UTC)


def test_a_date_after_the_change_of_summer_time_is_that_days(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TZ", "America/New_York")
    time.tzset()
    try:
        now = datetime(2026, 10, 30, 16, 30, tzinfo=UTC)
        found = with_times(Trouble(Ending.USAGE_LIMITED, "try again at Nov 3rd, 2026 8:05 PM"), now)
    finally:
        monkeypatch.undo()
        time.tzset()
    assert found.resets_at == datetime(2026, 11, 4, 1, 5, tzinfo=UTC)


def test_a_retry_after_goes_before_words() -> None:
    trouble = with_times(Trouble(Ending.RATE_LIMITED, "retry in 7s", retry_after_seconds=9), NOW)
    assert (trouble.retry_after_seconds, trouble.resets_at) == (9, NOW + timedelta(seconds=9))


@pytest.mark.parametrize("ending", [Ending.RATE_LIMITED, Ending.USAGE_LIMITED, Ending.OUTAGE])
def test_a_time_that_no_service_means_is_none(ending: Ending) -> None:
    assert with_times(Trouble(ending, "wait", retry_after_seconds=1e300), NOW) == Trouble(ending, "wait")


def test_other_endings_have_no_times() -> None:
    assert with_times(Trouble(Ending.CRASHED, "retry in 7s"), NOW).resets_at is None


def test_details_are_one_line_of_bounded_length() -> None:
    assert one_line("a\n  b\t c") == "a b c"
    assert one_line("x" * 500) == f"{'x' * 399}…"
