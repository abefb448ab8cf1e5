"""A clock that is a day behind, ten years ahead, and set back during work: history goes by order, and no time is negative."""

from __future__ import annotations

import itertools
import json
import os
import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from gitticks.model.event import EventType
from gitticks.model.status import Status
from gitticks.runner.outcome import RunExit
from tests.cli.support import Ran, gt_process
from tests.faults.writers import IS_FULL
from tests.support.clocks import Clock
from tests.support.figures import record
from tests.support.repositories import fsck_problems
from tests.support.runs import DONE, NO_REVIEW, RunProject, project
from tests.support.tasks import task_ids
from tests.support.waiting import LONGEST_SECONDS, until

__all__ = ["project"]

pytestmark = [pytest.mark.debian("faketime"), pytest.mark.timeout(900)]

NOW, YESTERDAY, TEN_YEARS_ON = "+0", "-1d", "+10y"
CLOCKS = (NOW, YESTERDAY, TEN_YEARS_ON)
OFFSETS = {NOW: timedelta(), YESTERDAY: timedelta(days=-1), TEN_YEARS_ON: timedelta(days=3650)}
NEGATIVE = re.compile(r"(?<![\w-])-\d")
LONGEST_RUN_SECONDS = 600
READING: tuple[tuple[str, ...], ...] = (
    ("list", "--all"),
    ("list", "--awaiting"),
    ("tree",),
    ("show", "k7f2"),
    ("log", "k7f2"),
    ("status",),
    ("current",),
    ("health",),
    ("show", "k7f2", "--json"),
    ("list", "--all", "--json"),
)


class Times:
    """A project whose commands go by a clock that the test sets."""

    def __init__(self, project: RunProject, clock: Clock) -> None:
        self.project = project
        self.clock = clock
        self.environment = clock.environment(os.environ)

    def gt(self, at: str, *words: str) -> Ran:
        """Sets the clock and runs a command."""
        self.clock.set(at)
        return gt_process(*words, at=self.project.path, environment=self.environment)

    def ok(self, at: str, *words: str) -> str:
        """Sets the clock and runs a command that must succeed; returns what it printed."""
        ran = self.gt(at, *words)
        assert ran.code == 0, ran.seen
        return ran.out

    def assert_no_negative_time(self, at: str, task_id: str = "k7f2", *, is_real: bool = IS_FULL) -> None:
        """Fails if a reading command shows or tells a time that is less than nothing.

        Where that is enough the commands run in this process, with a clock that stands, which takes less time.
        """
        for asked in READING:
            words = [task_id if word == "k7f2" else word for word in asked]
            now = datetime.now(UTC).replace(microsecond=0) + OFFSETS[at]
            ran = self.gt(at, *words) if is_real else self.project.gt(*words, now=now)
            assert ran.code == 0, ran.seen
            assert not NEGATIVE.search(ran.out), ran.seen
            if "--json" in words:
                assert_nothing_negative(json.loads(ran.out))


def assert_nothing_negative(value: Any) -> None:
    """Fails if a number anywhere in a JSON value is less than nothing."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for one in value:
            assert_nothing_negative(one)
    elif isinstance(value, (int, float)):
        assert value >= 0


@pytest.fixture
def times(project: RunProject, tmp_path: Path) -> Times:
    return Times(project, Clock.make(tmp_path / "clock"))


def test_history_goes_by_order(times: Times) -> None:
    times.project.make("k7f2")
    rounds = 6 if IS_FULL else 1
    texts: list[str] = []
    for number, at in itertools.product(range(rounds), (NOW, YESTERDAY, TEN_YEARS_ON, NOW)):
        texts.append(f"note {len(texts)} of round {number}")
        times.ok(at, "note", "k7f2", texts[-1])
    times.ok(TEN_YEARS_ON, "update", "k7f2", "--awaiting", "review")
    assert times.project.notes("k7f2") == texts
    events = times.project.events("k7f2")
    assert [event.type for event in events[1:]] == [EventType.NOTED] * len(texts) + [EventType.AWAITING_SET]
    assert [event.at for event in events] != sorted(event.at for event in events)
    for at in CLOCKS:
        times.assert_no_negative_time(at, is_real=at == YESTERDAY or IS_FULL)
        shown = json.loads(times.ok(at, "show", "k7f2", "--json"))["task"]
        assert [note["text"] for note in shown["notes"]] == texts
        assert [event["type"] for event in shown["history"]] == [event.type.value for event in events]
        log = re.findall("created|note added|awaits", times.ok(at, "log", "k7f2"))
        assert log == ["created", *["note added"] * len(texts), "awaits"]
    assert "k7f2  done" in times.ok(NOW, "approve", "k7f2")
    assert fsck_problems(times.project.path) == ""


def test_ids_are_unique(times: Times) -> None:
    count = 60 if IS_FULL else 4
    made = [
        times.ok(at, "create", f"Task {number}").strip()
        for number, at in zip(range(count), itertools.cycle(CLOCKS), strict=False)
    ]
    assert len(set(made)) == count
    assert set(task_ids(times.project.store)) == set(made)


@pytest.mark.parametrize("at", [YESTERDAY, TEN_YEARS_ON])
def test_a_run_by_a_wrong_clock(times: Times, at: str) -> None:
    times.project.settings(NO_REVIEW)
    times.project.make("k7f2")
    assert_worked(times, times.gt(at, "run", "--headless", "--debounce", "0"))


def test_a_run_while_the_clock_jumps(times: Times) -> None:
    jumps = " ".join(itertools.islice(itertools.cycle((YESTERDAY, TEN_YEARS_ON, NOW)), 90 if IS_FULL else 6))
    jump = f"for t in {jumps}; do echo $t > '{times.clock.file}'; sleep 0.1; done\n"
    times.project.settings(f"{NO_REVIEW}verify: {{test: 'true'}}\n")
    times.project.agent(f"{jump}{DONE}echo {YESTERDAY} > '{times.clock.file}'\n")
    times.project.make("k7f2")
    assert_worked(times, times.gt(TEN_YEARS_ON, "run", "--headless", "--debounce", "0"))


def assert_worked(times: Times, ran: Ran) -> None:
    """Fails unless a run worked once, awaits its review, and tells only times that can be."""
    assert ran.code == RunExit.WAITS, ran.seen
    assert not NEGATIVE.search(ran.out), ran.seen
    project = times.project
    assert project.stands()[0] is Status.REVIEWING
    kinds = project.kinds()
    assert [kinds.count(kind) for kind in (EventType.SESSION_STARTED, EventType.SESSION_ENDED)] == [1, 1]
    assert EventType.CRASHED not in kinds
    usage = project.task("k7f2").usage
    assert 0 <= usage.seconds < LONGEST_RUN_SECONDS
    worklog = (project.store.read("tasks/f2/k7f2/worklog.md") or b"").decode()
    assert worklog.count("## 1 · ") == 1
    assert not NEGATIVE.search(worklog), worklog
    for at in CLOCKS:
        times.assert_no_negative_time(at)
    assert "k7f2  done" in times.ok(YESTERDAY, "approve", "k7f2")
    assert project.merges() == ["k7f2"]


def test_events_of_a_run_as_json_while_the_clock_is_set_back(times: Times) -> None:
    times.project.settings(NO_REVIEW)
    times.project.agent(f"echo {YESTERDAY} > '{times.clock.file}'\n{DONE}")
    times.project.make("k7f2")
    ran = times.gt(NOW, "run", "--json", "--debounce", "0")
    assert ran.code == RunExit.WAITS, ran.seen
    for line in ran.out.splitlines():
        assert_nothing_negative(json.loads(line))


def test_a_session_lives_on_when_the_clock_jumps(times: Times) -> None:
    project = times.project
    here = project.path.parent
    project.settings(NO_REVIEW)
    project.agent(f'touch "{here}/up"; while ! test -e "{here}/go"; do sleep 0.05; done\n{DONE}')
    project.make("k7f2")
    with _started(times) as process:
        until((here / "up").exists)
        for at in CLOCKS:
            assert "k7f2  mine  worker" in times.ok(at, "health")
            times.assert_no_negative_time(at)
        assert "an agent is working on `k7f2`" in times.gt(TEN_YEARS_ON, "start", "k7f2").err
        times.clock.set(YESTERDAY)
        (here / "go").touch()
        assert process.wait(LONGEST_SECONDS) == RunExit.WAITS
    assert project.kinds().count(EventType.SESSION_STARTED) == 1
    assert project.stands()[0] is Status.REVIEWING


@pytest.mark.parametrize("at", [YESTERDAY, TEN_YEARS_ON])
def test_a_session_that_died_before_the_clock_was_set_is_finished_once(times: Times, at: str) -> None:
    project = times.project
    here = project.path.parent
    project.agent(f'touch "{here}/up"; sleep 600')
    project.make("k7f2")
    with _started(times) as process:
        until((here / "up").exists)
        process.kill()
        process.wait()
    until(lambda: "k7f2  its dead session was processed" in times.ok(at, "health"))
    assert project.last(EventType.SESSION_ENDED).data["ending"] == "interrupted"
    assert "no sessions are running, and none are dead" in times.ok(NOW, "health")
    assert project.kinds().count(EventType.SESSION_ENDED) == 1


@contextmanager
def _started(times: Times) -> Iterator[subprocess.Popen[str]]:
    """Starts a run by the right clock, which goes by the test's clock from then on."""
    times.clock.set(NOW)
    with pytest.MonkeyPatch.context() as patch:
        for name, value in times.environment.items():
            patch.setenv(name, value)
        with times.project.running() as process:
            yield process


def test_what_is_put_off_and_begun_by_hand_goes_by_the_clock_of_the_day(times: Times) -> None:
    project = times.project
    project.make("k7f2")
    project.make("m3xq")
    times.ok(NOW, "defer", "k7f2", "+3d")
    times.ok(NOW, "start", "m3xq")

    def ready(at: str) -> set[str]:
        return {task["id"] for task in json.loads(times.ok(at, "ready", "--json"))["tasks"]}

    assert ready(NOW) == ready(YESTERDAY) == set()
    assert "k7f2" in ready(TEN_YEARS_ON)
    assert ready(NOW) == set()
    for at in CLOCKS:
        assert "m3xq" in times.ok(at, "current")
        times.assert_no_negative_time(at, "m3xq")


def test_what_a_person_did_in_the_future_holds_nobody_up(times: Times) -> None:
    project = times.project
    project.settings(NO_REVIEW)
    made = times.ok(TEN_YEARS_ON, "create", "From the future").strip()
    times.ok(TEN_YEARS_ON, "note", made, "written in ten years")
    ran = times.gt(NOW, "run", "--headless")
    assert ran.code == RunExit.WAITS, ran.seen
    assert project.stands(made)[0] is Status.REVIEWING
    times.ok(NOW, "approve", made)
    task = project.task(made)
    assert task.status is Status.DONE
    assert task.created is not None
    assert task.closed is not None
    assert task.created - task.closed > timedelta(days=3000)
    assert abs(task.closed - datetime.now(UTC)) < timedelta(days=1)
    times.assert_no_negative_time(NOW, made)
    record("a clock that jumps", events=len(project.events(made)))
