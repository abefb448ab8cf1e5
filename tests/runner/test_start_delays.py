"""Tasks that are ready and yet have to wait: for a person who is still editing, or for an agent that rests."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest

from gitticks.agents.base import AgentReport
from gitticks.model.event import EventType
from gitticks.model.status import Status
from gitticks.model.task import Ending
from gitticks.runner import start_delays
from gitticks.runner.outcome import RunExit
from gitticks.runner.start_delays import LONGEST_PAUSE_SECONDS, Pauses
from gitticks.world import World
from tests.support.agents import DATA
from tests.support.runs import NO_REVIEW, RunProject, project

__all__ = ["project"]

NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)


class TestService:
    @pytest.fixture(autouse=True)
    def short(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Makes the pauses short."""
        monkeypatch.setattr(start_delays, "FIRST_PAUSE_SECONDS", 0.05)

    def client(self, project: RunProject, name: str) -> None:
        """Makes the agent a client that prints a recorded stream."""
        project.agent(f'echo >> "{project.path.parent}/calls"; cat > /dev/null; cat "{DATA / name}"; exit 1')
        project.ok("config", "agents.mine.type", name.partition("-")[0])

    def calls(self, project: RunProject) -> int:
        return len((project.path.parent / "calls").read_text().splitlines())

    def test_three_outages_in_a_row_let_the_agent_rest(self, project: RunProject) -> None:
        self.client(project, "codex-disconnected.jsonl")
        project.make()
        ran = project.run()
        assert ran.code == RunExit.LIMIT
        assert "`mine` rests for the rest of this run" in ran.err
        assert self.calls(project) == 3
        task = project.task("k7f2")
        assert (task.status, task.crash_count) == (Status.WORKING, 0)

    def test_five_rate_limits_in_a_row_do(self, project: RunProject) -> None:
        self.client(project, "claude-429.jsonl")
        project.make()
        assert project.run().code == RunExit.LIMIT
        assert self.calls(project) == 5

    def test_a_usage_limit_does_at_once(self, project: RunProject) -> None:
        self.client(project, "claude-usage-limit.jsonl")
        project.make("aaaa")
        project.make("bbbb")
        assert project.run("--parallel", "1").code == RunExit.LIMIT
        assert self.calls(project) == 1
        assert project.stands("bbbb") == (Status.PENDING, None)

    def test_two_failed_starts_are_stuck(self, project: RunProject) -> None:
        project.agent_file.unlink()
        project.make()
        assert project.run().code == RunExit.STUCK
        assert "cannot start" in (project.last(EventType.START_FAILED).reason or "")


def test_a_task_that_is_being_edited_waits(project: RunProject) -> None:
    project.settings(NO_REVIEW)
    task_id = project.create()
    begun = World().now()
    ran = project.gt("run", "--debounce", "2s")
    assert ran.code == RunExit.WAITS
    started = next(e for e in project.events(task_id) if e.type is EventType.SESSION_STARTED)
    assert started.at - begun >= timedelta(seconds=1)


def test_an_edit_from_the_future_is_not_waited_for(project: RunProject) -> None:
    project.settings(NO_REVIEW)
    task_id = project.create("Later", now=World().now() + timedelta(days=3650))
    assert project.gt("run", "--debounce", "10m").code == RunExit.WAITS
    assert project.stands(task_id)[0] is Status.REVIEWING


@dataclass
class Clock:
    """A clock that a test sets."""

    now: float = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def pauses(clock: Clock) -> Pauses:
    return Pauses(clock, lambda _: 0)


def report(ending: Ending, **fields: object) -> AgentReport:
    return AgentReport(ending, **fields)  # type: ignore[arg-type]


def seconds(pauses: Pauses, clock: Clock, said: AgentReport) -> float | None:
    """Returns how long an agent rests after a report."""
    pause = pauses.note("claude", said, NOW)
    return None if pause is None else pause.until - clock.now


@pytest.mark.parametrize(
    ("ending", "expected"),
    [
        (Ending.OUTAGE, [2.0, 4.0, math.inf]),
        (Ending.RATE_LIMITED, [2.0, 4.0, 8.0, 16.0, math.inf]),
        (Ending.USAGE_LIMITED, [math.inf]),
        (Ending.SANDBOX_FAILED, [math.inf]),
    ],
)
def test_pauses_grow_and_end_in_a_rest(
    pauses: Pauses, clock: Clock, ending: Ending, expected: list[float]
) -> None:
    assert [seconds(pauses, clock, report(ending)) for _ in expected] == expected


def test_any_other_end_begins_the_count_anew(pauses: Pauses, clock: Clock) -> None:
    for _ in range(3):
        assert seconds(pauses, clock, report(Ending.OUTAGE)) == 2.0
        assert seconds(pauses, clock, report(Ending.CRASHED)) is None


def test_what_the_service_says_goes_before(pauses: Pauses, clock: Clock) -> None:
    assert seconds(pauses, clock, report(Ending.RATE_LIMITED, retry_after_seconds=90.0)) == 90.0
    resets = NOW + timedelta(hours=2)
    assert seconds(pauses, clock, report(Ending.USAGE_LIMITED, resets_at=resets)) == 7200.0
    past = NOW - timedelta(hours=2)
    assert seconds(pauses, clock, report(Ending.USAGE_LIMITED, resets_at=past)) == 2.0


def test_an_agent_rests_alone_and_until_its_time(pauses: Pauses, clock: Clock) -> None:
    pauses.note("claude", report(Ending.OUTAGE), NOW)
    assert pauses.of("claude") is not None
    assert pauses.of("codex") is None
    clock.now += 2.0
    assert pauses.of("claude") is None


def test_a_longer_rest_is_not_cut_by_a_shorter_one(pauses: Pauses) -> None:
    pauses.note("claude", report(Ending.USAGE_LIMITED), NOW)
    pauses.note("claude", report(Ending.OUTAGE), NOW)
    pause = pauses.of("claude")
    assert pause is not None
    assert pause.until == math.inf


def test_only_a_short_rest_is_worth_waiting_for(pauses: Pauses, clock: Clock) -> None:
    short = pauses.note("claude", report(Ending.OUTAGE), NOW)
    long = pauses.note("codex", report(Ending.USAGE_LIMITED, detail="limit"), NOW)
    assert short is not None
    assert long is not None
    assert (short.is_short(clock.now), long.is_short(clock.now)) == (True, False)
    assert (short.in_words(clock.now), long.in_words(clock.now)) == ("for 2 s", "for the rest of this run")


def test_chance_spreads_pauses_by_half_and_never_past_the_longest(clock: Clock) -> None:
    late = Pauses(clock, lambda below: below - 1)
    waits = [seconds(late, clock, report(Ending.RATE_LIMITED)) or 0 for _ in range(4)]
    assert all(low < wait <= 1.5 * low for wait, low in zip(waits, (2, 4, 8, 16), strict=True))
    assert max(waits) < LONGEST_PAUSE_SECONDS
