"""Tasks that are ready and yet have to wait: for a person who is still editing, or for an agent that rests."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from gitticks.agents.base import AgentReport
from gitticks.git.repository import Repository
from gitticks.model.event import EventType
from gitticks.model.settings import Settings
from gitticks.model.status import Status
from gitticks.model.task import Ending, Usage
from gitticks.runner import start_delays
from gitticks.runner.context import RunContext
from gitticks.runner.outcome import RunExit
from gitticks.runner.run_record import Resting, read_resting, write_resting
from gitticks.runner.start_delays import LONGEST_PAUSE_SECONDS, Patience
from gitticks.world import World
from tests.support.agents import DATA, write_program
from tests.support.runs import DONE, NO_REVIEW, TO_REVIEW, RunProject, project
from tests.support.waiting import until

__all__ = ["project"]

REST = 900.0
NOW = datetime(2026, 3, 4, 5, 6, 7, tzinfo=UTC)


class TestService:
    @pytest.fixture(autouse=True)
    def short(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Makes the pauses short."""
        monkeypatch.setattr(start_delays, "FIRST_PAUSE_SECONDS", 0.05)

    def client(self, project: RunProject, name: str) -> None:
        """Makes the agent a client that prints a recorded stream, which never resets at the present hour."""
        top, resets = project.path.parent, datetime.now(UTC) + timedelta(hours=5)
        (top / "said").write_text((DATA / name).read_text().replace("3pm", f"{resets:%-I%p}".lower()))
        project.agent(f'echo >> "{top}/calls"; cat > /dev/null; cat "{top}/said"; exit 1')
        project.ok("config", "agents.mine.type", name.partition("-")[0])

    def calls(self, project: RunProject) -> int:
        return len((project.path.parent / "calls").read_text().splitlines())

    def test_three_outages_in_a_row_let_the_agent_rest(self, project: RunProject) -> None:
        self.client(project, "codex-disconnected.jsonl")
        project.make()
        ran = project.run()
        assert ran.code == RunExit.LIMIT
        assert "`mine` rests for 15 min" in ran.err
        assert self.calls(project) == 3
        task = project.task("k7f2")
        assert (task.status, task.crash_count) == (Status.WORKING, 0)

    def test_a_run_says_at_its_end_of_a_rest_without_a_named_time_that_the_next_one_tries_again(
        self, project: RunProject
    ) -> None:
        self.client(project, "codex-disconnected.jsonl")
        project.make()
        ran = project.run()
        assert "`mine` gets no more work in this run: " in ran.out
        assert "rests" not in ran.out
        assert "`gt run` tries again" in ran.err
        assert "resting" not in project.ok("status")
        project.run()
        assert self.calls(project) == 6

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
    begun = project.task(task_id).updated
    assert begun is not None
    ran = project.gt("run", "--debounce", "2s")
    assert ran.code == RunExit.WAITS
    started = next(e for e in project.events(task_id) if e.type is EventType.SESSION_STARTED)
    assert started.at - begun >= timedelta(seconds=2)


def test_an_edit_from_the_future_is_not_waited_for(project: RunProject) -> None:
    project.settings(NO_REVIEW)
    task_id = project.create("Later", now=World().now() + timedelta(days=3650))
    assert project.gt("run", "--debounce", "10m").code == RunExit.WAITS
    assert project.stands(task_id)[0] is Status.REVIEWING


class Clock(World):
    """Surroundings whose clock a test sets; the time of day goes on while the machine sleeps."""

    def __init__(self) -> None:
        super().__init__({})
        self.at = 100.0
        self.slept = 0.0
        self.chance: Callable[[int], int] = lambda _: 0

    def monotonic_seconds(self) -> float:
        return self.at

    def now(self) -> datetime:
        return NOW + timedelta(seconds=self.at - 100.0 + self.slept)

    def random_number(self, below: int) -> int:
        return self.chance(below)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def pauses(clock: Clock, tmp_path: Path) -> Patience:
    return Patience(
        RunContext(
            Repository(str(tmp_path), str(tmp_path), None, None, is_bare=True),
            Settings(),
            clock,
            lambda _: None,
        )
    )


def report(ending: Ending, **fields: object) -> AgentReport:
    return AgentReport(ending, **fields)  # type: ignore[arg-type]


def seconds(pauses: Patience, clock: Clock, said: AgentReport) -> float | None:
    """Returns how long an agent rests after a report."""
    pause = pauses.rest("claude", said)
    return None if pause is None else pause.until - clock.at


@pytest.mark.parametrize(
    ("ending", "expected"),
    [
        (Ending.OUTAGE, [2.0, 4.0, REST]),
        (Ending.RATE_LIMITED, [2.0, 4.0, 8.0, 16.0, REST]),
        (Ending.USAGE_LIMITED, [REST]),
        (Ending.START_FAILED, [2.0, REST]),
    ],
)
def test_pauses_grow_and_end_in_a_rest(
    pauses: Patience, clock: Clock, ending: Ending, expected: list[float]
) -> None:
    assert [seconds(pauses, clock, report(ending)) for _ in expected] == expected


def test_what_ends_sessions_side_by_side_counts_once(pauses: Patience, clock: Clock) -> None:
    side_by_side = report(Ending.OUTAGE, usage=Usage(seconds=60.0))
    assert [seconds(pauses, clock, side_by_side)] * 3 == [2.0, 2.0, 2.0]
    clock.at += 61.0
    assert [seconds(pauses, clock, side_by_side) for _ in range(3)] == [4.0, 4.0, 4.0]


def test_a_resting_agent_is_tried_again(pauses: Patience, clock: Clock) -> None:
    assert seconds(pauses, clock, report(Ending.USAGE_LIMITED)) == 900.0
    clock.at += 900.0
    assert pauses.resting == frozenset()
    assert seconds(pauses, clock, report(Ending.USAGE_LIMITED)) == 900.0


def test_any_other_end_begins_the_count_again(pauses: Patience, clock: Clock) -> None:
    for _ in range(3):
        assert seconds(pauses, clock, report(Ending.OUTAGE)) == 2.0
        assert seconds(pauses, clock, report(Ending.CRASHED)) is None
        assert seconds(pauses, clock, report(Ending.SANDBOX_FAILED)) is None


def test_what_the_service_says_goes_before(pauses: Patience, clock: Clock) -> None:
    assert seconds(pauses, clock, report(Ending.RATE_LIMITED, retry_after_seconds=90.0)) == 90.0
    resets = NOW + timedelta(hours=2)
    assert seconds(pauses, clock, report(Ending.USAGE_LIMITED, resets_at=resets)) == 7200.0


def test_a_rate_limit_whose_word_is_kept_and_that_goes_on_ends_in_a_rest(
    pauses: Patience, clock: Clock
) -> None:
    soon = report(Ending.RATE_LIMITED, retry_after_seconds=5.0, resets_at=NOW + timedelta(seconds=5))
    assert [seconds(pauses, clock, soon) for _ in range(5)] == [5.0, 5.0, 5.0, 5.0, REST]
    pause = pauses.of("claude")
    assert pause is not None
    assert pause.resets_at is None


def test_a_usage_limit_whose_reset_brings_nothing_ends_in_a_rest(pauses: Patience, clock: Clock) -> None:
    said = report(Ending.USAGE_LIMITED, retry_after_seconds=8.0, resets_at=NOW + timedelta(seconds=8))
    assert [seconds(pauses, clock, said) for _ in range(5)] == [8.0, 8.0, 8.0, 8.0, REST]


def test_a_reset_that_is_past_is_tried_ever_later_and_ends_in_a_rest(pauses: Patience, clock: Clock) -> None:
    past = NOW - timedelta(hours=2)
    waits = [seconds(pauses, clock, report(Ending.USAGE_LIMITED, resets_at=past)) for _ in range(7)]
    assert waits == [2.0, 4.0, 8.0, 16.0, REST, REST, REST]


def test_a_named_reset_counts_also_while_the_machine_slept(pauses: Patience, clock: Clock) -> None:
    resets = NOW + timedelta(hours=2)
    pauses.rest("claude", report(Ending.USAGE_LIMITED, resets_at=resets))
    clock.at += 10
    clock.slept = 7180
    assert pauses.resting == {"claude"}
    clock.slept = 7190
    assert pauses.resting == frozenset()


def test_an_outage_after_a_sleep_past_the_reset_lets_the_agent_rest(pauses: Patience, clock: Clock) -> None:
    resets = NOW + timedelta(hours=5)
    pauses.rest("claude", report(Ending.USAGE_LIMITED, resets_at=resets))
    clock.slept = 5 * 3600 + 1
    assert pauses.resting == frozenset()
    pauses.rest("claude", report(Ending.OUTAGE))
    assert pauses.resting == {"claude"}


def test_a_rest_of_an_earlier_run_goes_on_to_its_known_end(
    pauses: Patience, clock: Clock, tmp_path: Path
) -> None:
    write_resting(tmp_path / "gitticks", [Resting("claude", NOW + timedelta(hours=1), "usage limit")])
    pauses.take_over()
    pause = pauses.of("claude")
    assert pause is not None
    assert (pause.reason, pause.in_words(clock.at)) == ("usage limit", "for 1 h")
    clock.at += 3600
    assert pauses.of("claude") is None


def test_a_rest_whose_end_no_service_named_is_no_other_runs(tmp_path: Path) -> None:
    guessed = Resting("claude", NOW + timedelta(hours=1), "no login", is_named=False)
    named = Resting("codex", NOW + timedelta(hours=1), "usage limit")
    write_resting(tmp_path, [guessed, named])
    assert read_resting(str(tmp_path), NOW, is_run_alive=True) == (guessed, named)
    assert read_resting(str(tmp_path), NOW, is_run_alive=False) == (named,)


def test_a_login_that_is_refused_lets_the_agent_rest_before_all_tasks_are_stuck(project: RunProject) -> None:
    project.settings("limits: {rest: 1h}\n")
    project.agent('echo \'{"gitticks": "login", "message": "401 please log in"}\'; exit 75')
    for name in ("aaaa", "bbbb", "cccc"):
        project.make(name)
    with project.running("--auto", "--all", "--parallel", "1") as process:
        until(lambda: "resting" in project.ok("status"), "the rest")
        project.interrupt(process)
        process.wait()
    assert "401 please log in" in (project.last(EventType.START_FAILED, "aaaa").reason or "")
    assert project.stands("aaaa")[0] is Status.STUCK
    assert [project.stands(name) for name in ("bbbb", "cccc")] == [(Status.PENDING, None)] * 2


LIMIT = 'date +%s.%N >> "{top}/calls"\n[ -e "{top}/free" ] || {{ echo \'{said}\'; exit 75; }}\n'


def limited(project: RunProject, seconds: float) -> None:
    """Makes the agent one whose service gives it no more for some time; a file `free` ends that."""
    said = json.dumps({"gitticks": "usage-limit", "retry_after": seconds, "message": "5 hours are spent"})
    project.agent(LIMIT.format(top=project.path.parent, said=said) + DONE)


def endings(project: RunProject) -> list[object]:
    return [event.data["ending"] for event in project.events("k7f2") if event.type is EventType.SESSION_ENDED]


def calls(project: RunProject) -> list[float]:
    path = project.path.parent / "calls"
    return [float(line) for line in path.read_text().split()] if path.exists() else []


def test_a_usage_limit_is_waited_for_over_restarts_and_work_goes_on_after_it(project: RunProject) -> None:
    project.settings(NO_REVIEW)
    limited(project, 8)
    project.make()
    with project.running("--auto", "--all", "--poll", "10m") as process:
        until(lambda: "usage-limited" in endings(project), "the limit")
        project.interrupt(process)
        process.wait()
    (project.path.parent / "free").touch()
    with project.running("--auto", "--all", "--poll", "10m") as process:
        until(lambda: project.stands() == TO_REVIEW, "the work after the reset")
        project.interrupt(process)
        process.wait()
    first, *_, last = calls(project)
    assert last - first >= 7


def test_what_a_service_says_of_its_limit_cannot_steer_the_terminal(project: RunProject) -> None:
    said = json.dumps({"gitticks": "usage-limit", "retry_after": 7800, "message": "A\x1b[31mB\x9b\x07"})
    project.agent(f"cat << 'END'\n{said}\nEND\nexit 75\n")
    project.make()
    first, later = project.run(), project.run()
    assert "`mine` rests for 2 h: A\\x1b[31mB\\x9b\\x07" in first.out
    assert not any(char in ran.out + ran.err for ran in (first, later) for char in "\x1b\x9b\x07")


def test_a_rest_is_known_though_another_session_of_the_agent_ends_well(project: RunProject) -> None:
    project.settings(NO_REVIEW)
    said = json.dumps({"gitticks": "usage-limit", "retry_after": 7200, "message": "5 hours are spent"})
    slow = f'until grep -q mine "{project.path}/.git/gitticks/resting.json"; do sleep 0.05; done'
    project.agent(f"if [ \"$GITTICKS_TASK\" = aaaa ]; then {slow}\nelse echo '{said}'; exit 75; fi\n{DONE}")
    project.make("aaaa")
    project.make("bbbb")
    assert project.run("--parallel", "2").code == RunExit.LIMIT
    assert project.stands("aaaa") == TO_REVIEW
    assert "mine  until" in project.ok("status")


def test_a_long_limit_keeps_the_agent_from_the_next_run_unless_that_is_told_otherwise(
    project: RunProject,
) -> None:
    project.settings(NO_REVIEW)
    limited(project, 864_600)
    project.make()
    ran = project.run()
    assert (ran.code, len(calls(project))) == (RunExit.LIMIT, 1)
    assert "`mine` rests for 10 days: " in ran.err
    ran = project.run()
    assert (ran.code, len(calls(project))) == (RunExit.LIMIT, 1)
    assert "`mine` rests for" in ran.out
    assert "5 hours are spent" in ran.out
    assert "`gt run --no-rest` tries again" in ran.err
    (project.path.parent / "free").touch()
    assert project.run("--no-rest").code == RunExit.WAITS
    assert (project.stands(), len(calls(project))) == (TO_REVIEW, 2)


def test_others_go_on_while_one_agent_rests(project: RunProject) -> None:
    project.settings(NO_REVIEW)
    limited(project, 7200)
    other = write_program(project.path.parent / "other.sh", DONE)
    project.ok("config", "agents.other.argv", json.dumps([str(other)]))
    project.make("aaaa")
    project.make("bbbb", agent="other")
    project.run()
    project.make("cccc", agent="other")
    assert project.run().code == RunExit.LIMIT
    assert [project.stands(name)[0] for name in ("bbbb", "cccc")] == [Status.REVIEWING] * 2
    assert len(calls(project)) == 1


def test_an_agent_rests_alone_and_until_its_time(pauses: Patience, clock: Clock) -> None:
    pauses.rest("claude", report(Ending.OUTAGE))
    assert pauses.of("claude") is not None
    assert pauses.of("codex") is None
    clock.at += 2.0
    assert pauses.of("claude") is None


def test_a_longer_rest_is_not_cut_by_a_shorter_one(pauses: Patience, clock: Clock) -> None:
    pauses.rest("claude", report(Ending.USAGE_LIMITED))
    pauses.rest("claude", report(Ending.OUTAGE))
    pause = pauses.of("claude")
    assert pause is not None
    assert pause.until - clock.at == REST


def test_only_a_short_rest_is_worth_waiting_for(pauses: Patience, clock: Clock) -> None:
    short = pauses.rest("claude", report(Ending.OUTAGE))
    long = pauses.rest("codex", report(Ending.USAGE_LIMITED, detail="limit"))
    assert short is not None
    assert long is not None
    assert (short.is_short(clock.at), long.is_short(clock.at)) == (True, False)
    assert (short.in_words(clock.at), long.in_words(clock.at)) == ("for 2 s", "for 15 min")


def test_chance_spreads_pauses_by_half_and_never_past_the_longest(pauses: Patience, clock: Clock) -> None:
    clock.chance = lambda below: below - 1
    waits = [seconds(pauses, clock, report(Ending.RATE_LIMITED)) or 0 for _ in range(4)]
    assert all(low < wait <= 1.5 * low for wait, low in zip(waits, (2, 4, 8, 16), strict=True))
    assert max(waits) < LONGEST_PAUSE_SECONDS
