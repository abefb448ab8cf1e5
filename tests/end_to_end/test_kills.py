"""The runner is killed at instants spread over a whole run; started again, it loses nothing and does nothing twice."""

from __future__ import annotations

import functools
import os
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

from gitticks.model.event import EventType
from gitticks.model.status import Status
from gitticks.runner.outcome import RunExit
from tests.cli.support import command
from tests.support.agents import processes_with
from tests.support.repositories import fsck_problems, git
from tests.support.runs import DONE, NO_REVIEW, PASS, RunProject, make_run_project, project
from tests.support.waiting import LONGEST_SECONDS, until

__all__ = ["project"]

DOSE = 100 if os.environ.get("GITTICKS_DOSE") == "full" else 6
TASKS = ("aaaa", "bbbb", "cccc")
SLOW = f"sleep 0.1\nif [ $GITTICKS_ROLE = reviewer ]; then {PASS}else {DONE}fi\nsleep 0.1\n"
CONFIG = "human: when-required\nverify: {test: 'sleep 0.1'}\n"


def start(project: RunProject, *arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        command(*arguments),
        cwd=project.path,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def run_until(project: RunProject, seconds: float, *arguments: str) -> bool:
    """Starts a command and kills it after `seconds`; returns whether it had ended before."""
    with start(project, *arguments) as process:
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            return False
        return True


def filled(project: RunProject) -> RunProject:
    project.settings(CONFIG)
    project.agent(SLOW)
    for name in TASKS:
        project.make(name)
    return project


@functools.cache
def whole_seconds() -> float:
    """Returns how long a run takes that nobody kills; to be asked within a test, whose environment it needs."""
    with tempfile.TemporaryDirectory() as folder:
        whole = filled(make_run_project(Path(folder) / "repo", "unmarked"))
        begun = time.monotonic()
        assert run_until(whole, LONGEST_SECONDS, "run", "--parallel", "2", "--debounce", "0")
        seconds = time.monotonic() - begun
        assert_done_once(whole)
        return seconds


def assert_done_once(project: RunProject, names: tuple[str, ...] = TASKS) -> None:
    for name in names:
        assert project.stands(name) == (Status.DONE, None)
        assert project.kinds(name).count(EventType.MERGED) == 1
        assert project.task(name).crash_count == 0
        assert f"{name}.txt" in project.files()
    assert sorted(project.merges()) == sorted(names)
    assert git("status", "--porcelain", at=project.path) == ""
    assert project.board_status() == ""


@pytest.mark.parametrize("instant", range(DOSE))
def test_a_killed_run_is_taken_up(project: RunProject, instant: int) -> None:
    filled(project)
    run_until(project, whole_seconds() * (instant + 0.5) / DOSE, "run", "--parallel", "2", "--debounce", "0")
    until(lambda: not processes_with(project.mark), "the end of every process")
    # Git itself, killed while it adds a worktree, leaves one without a commit; the next run clears it away.
    problems = fsck_problems(project.path).splitlines()
    assert [line for line in problems if not line.startswith("error: worktrees/")] == []
    assert project.run("--parallel", "2").code == RunExit.DONE
    assert_done_once(project)


def test_a_run_that_is_killed_again_and_again_comes_to_its_end(project: RunProject) -> None:
    filled(project)
    for tries in range(1, 40):
        if run_until(
            project, whole_seconds() * (0.2 + 0.04 * tries), "run", "--parallel", "3", "--debounce", "0"
        ):
            break
    assert project.run().code == RunExit.DONE
    assert_done_once(project)


@pytest.mark.parametrize("instant", range(DOSE))
def test_a_killed_approval_stands_or_does_not_and_is_merged_once(project: RunProject, instant: int) -> None:
    project.settings(f"{NO_REVIEW}verify: {{test: 'sleep 0.1'}}\n")
    project.make()
    project.run()
    run_until(project, 0.25 + 0.9 * instant / DOSE, "approve", "k7f2")
    until(lambda: not processes_with(project.mark), "the end of its tests")
    assert fsck_problems(project.path) == ""
    assert project.gt("approve", "k7f2").code == 0
    project.run()
    assert_done_once(project, ("k7f2",))


def test_a_dead_session_is_finished_by_health(project: RunProject) -> None:
    project.settings(NO_REVIEW)
    here = project.shared
    project.agent(f'{DONE}touch "{here}/up"; sleep 600')
    project.make()
    with start(project, "run", "--debounce", "0") as process:
        until((here / "up").exists)
        assert "is alive" not in project.ok("health")
        assert "k7f2  mine  worker" in project.ok("health")
        process.kill()
    until(lambda: "k7f2  its dead session was processed" in project.ok("health"))
    assert project.stands()[0] is Status.REVIEWING
    assert project.last(EventType.SESSION_ENDED).data["ending"] == "interrupted"
    assert "no sessions are running, and none are dead" in project.ok("health")


def test_a_session_that_was_cut_off_in_the_middle_is_no_crash(project: RunProject) -> None:
    here = project.shared
    project.agent(f'echo half > half.txt; touch "{here}/up"; sleep 600')
    project.make()
    with start(project, "run", "--debounce", "0") as process:
        until((here / "up").exists)
        process.kill()
    project.agent(f"test -e half.txt && {{ {DONE}}}")
    project.settings(NO_REVIEW)
    project.run()
    assert project.stands()[0] is Status.REVIEWING
    assert EventType.CRASHED not in project.kinds()
    assert "half.txt" in project.files("gitticks/work/k7f2")


@pytest.mark.without_sandbox("in a sandbox its supervisor is out of reach")
def test_a_killed_supervisor_is_a_crash_and_leaves_nothing(project: RunProject) -> None:
    project.agent("kill -9 $PPID; sleep 600")
    project.make()
    assert project.run().code == RunExit.STUCK
    assert project.kinds().count(EventType.CRASHED) == 2
