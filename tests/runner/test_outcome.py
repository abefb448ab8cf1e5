"""The exit codes of a run: each, and which goes first."""

from __future__ import annotations

import json
import re
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from gitticks.actions.run import only_run
from gitticks.git.repository import discover
from gitticks.model.spending import Spent
from gitticks.model.status import Awaiting, Status, TaskType
from gitticks.model.task import Task
from gitticks.runner.liveness import is_run_alive_at
from gitticks.runner.outcome import RunExit, judge, summarise
from tests.support.agents import DATA
from tests.support.decisions import make_merging, make_task
from tests.support.runs import DONE, NO_REVIEW, RunProject, project
from tests.support.waiting import LONGEST_SECONDS, until

STUCK = make_task(Status.STUCK)
WORK = make_task(Status.WORKING, awaiting=Awaiting.WORK)
WAITS = make_task(Status.REVIEWING)
DONE_TASK = make_task(Status.DONE)
CANCELLED = make_task(Status.CANCELLED)
PENDING = make_task(Status.PENDING)

__all__ = ["project"]
HELD_BACK = f"{NO_REVIEW}limits: {{in_review: 1}}\n"


@pytest.mark.parametrize(
    ("tasks", "code"),
    [
        ([], RunExit.DONE),
        ([DONE_TASK, CANCELLED], RunExit.DONE),
        ([PENDING, DONE_TASK], RunExit.DONE),
        ([WAITS, DONE_TASK], RunExit.WAITS),
        ([make_merging()], RunExit.WAITS),
        ([WAITS, WORK], RunExit.WORK),
        ([WAITS, WORK, STUCK], RunExit.STUCK),
    ],
)
def test_the_first_code_that_applies(tasks: list[Task], code: RunExit) -> None:
    assert judge(tasks, interrupted=False, is_cut_short=False) is code


def test_a_run_that_was_cut_short_or_interrupted_says_that_first() -> None:
    assert judge([STUCK], interrupted=False, is_cut_short=True) is RunExit.LIMIT
    assert judge([STUCK], interrupted=True, is_cut_short=True) is RunExit.INTERRUPTED


def test_the_summary_counts() -> None:
    ended = summarise(
        [STUCK, WORK, WAITS, DONE_TASK, DONE_TASK, CANCELLED],
        "over",
        RunExit.STUCK,
        Spent(7, 100, 0.12345),
    )
    assert (ended.waiting, ended.stuck, ended.done) == (3, 1, 2)
    assert summarise([DONE_TASK], "over", RunExit.DONE, Spent(), done_before={DONE_TASK.id}).done == 0
    assert (ended.reason, ended.exit_code, ended.iterations, ended.cost) == ("over", 4, 7, 0.1235)


def test_ready_tasks_behind_full_reviews_are_said_with_what_lets_them_go_on(project: RunProject) -> None:
    project.settings(HELD_BACK)
    for name in ("aaaa", "bbbb", "cccc"):
        project.make(name)
    ran = project.run("--parallel", "1")
    assert ran.code == RunExit.WAITS
    held = "2 ready tasks wait: 1 task in review, and `limits.in_review` is 1"
    assert f"1 task is waiting for you, {held}" in " ".join(ran.out.split())
    assert "nothing else is ready" not in ran.out
    limit = re.search(r"`gt (config limits\.in_review \d+)`", ran.err)
    assert limit is not None
    project.ok(*limit[1].split())
    project.run()
    assert project.stands("cccc")[0] is Status.REVIEWING


def test_a_limit_goes_before_full_reviews(project: RunProject) -> None:
    project.settings(HELD_BACK)
    for name in ("aaaa", "bbbb"):
        project.make(name)
    ran = project.run("--max-iterations", "1", "--parallel", "1")
    assert ran.code == RunExit.LIMIT
    assert "the limit of 1 iteration is reached" in ran.out
    assert "`gt run` continues" in ran.err


def test_a_limit_that_left_nothing_out_is_none(project: RunProject) -> None:
    project.settings(NO_REVIEW)
    project.make()
    ran = project.run("--max-iterations", "1")
    assert (ran.code, "nothing else is ready" in ran.out) == (RunExit.WAITS, True)


@pytest.mark.parametrize("limit", [("--timeout", "1s"), ("--max-iterations", "1")])
def test_a_limit_ends_a_run_that_would_go_on_for_ever(project: RunProject, limit: tuple[str, str]) -> None:
    project.settings(NO_REVIEW)
    project.make()
    ran = project.run("--auto", "--all", *limit)
    assert ran.code == RunExit.LIMIT
    assert "is reached" in ran.out


def test_a_task_that_a_person_stopped_awaits_that_person(project: RunProject) -> None:
    project.settings(NO_REVIEW)
    project.agent(f'touch "{project.path.parent}/up"; sleep 600')
    project.make()
    with project.running() as process:
        until((project.path.parent / "up").exists)
        project.ok("stop", "k7f2")
        assert process.wait(LONGEST_SECONDS) == RunExit.WAITS
        assert process.stdout is not None
        said = process.stdout.read()
    assert "`k7f2` is held by `gt stop`" in said
    assert "`gt run k7f2` resumes what is held" in said
    ran = project.run()
    assert (ran.code, "`k7f2` is held by `gt stop`" in ran.out) == (RunExit.WAITS, True)
    assert "held" in project.ok("list")
    project.ok("cancel", "k7f2")
    project.ok("reopen", "k7f2")
    assert "stopped" not in project.ok("list")
    project.agent(DONE)
    project.run("k7f2")
    assert project.stands()[0] is Status.REVIEWING


def test_a_task_of_a_stopped_epic_is_shown_and_resumed_alone(project: RunProject) -> None:
    project.settings(NO_REVIEW)
    project.make("e4b2", type=TaskType.EPIC)
    project.make("k7f2", parent="e4b2")
    project.make("m3xq", parent="e4b2")
    project.agent(DONE)
    project.ok("stop", "e4b2")
    project.make("b9h4", parent="e4b2")
    assert "stopped  `gt run k7f2`" in project.ok("status")
    assert json.loads(project.ok("ready", "--json"))["tasks"] == []
    project.run("k7f2")
    assert project.stands("k7f2")[0] is Status.REVIEWING
    project.run()
    for name in ("m3xq", "b9h4"):
        assert project.stands(name)[0] is Status.PENDING
        assert f"stopped  `gt run {name}`" in project.ok("status")
    project.run("e4b2")
    assert project.stands("b9h4")[0] is Status.REVIEWING


def test_while_a_run_is_active_no_second_one_is_proposed(project: RunProject) -> None:
    project.make()
    with only_run(discover(project.path)):
        assert "gt run" not in project.gt("status").seen
        assert "`gt run --add k7f2` resumes it" in project.gt("stop", "k7f2").err
        assert "stopped  `gt run --add k7f2`" in project.ok("status")
    assert "stopped  `gt run k7f2`" in project.ok("status")


@pytest.mark.parametrize("status", [Status.DONE, Status.CANCELLED])
def test_a_closed_task_that_was_asked_for_is_said(project: RunProject, status: Status) -> None:
    project.make(status=status)
    ran = project.run("k7f2")
    assert ran.code == RunExit.DONE
    assert f"k7f2: it is already {status}; `gt reopen k7f2` resumes it" in ran.err


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"blocked_by": ("aaaa",)}, "waits for `aaaa`"),
        ({"defer_until": date(2199, 1, 1)}, "is deferred until 2199-01-01: `gt defer k7f2 null`"),
        ({"parent": "epic"}, "waits like its epic `epic`, which awaits approval"),
        ({"type": TaskType.EPIC}, 'is an epic without tasks: `gt create "…" --parent k7f2`'),
    ],
)
def test_why_a_task_that_was_asked_for_cannot_be_started_is_said(
    project: RunProject, fields: dict[str, Any], why: str
) -> None:
    project.make("aaaa")
    project.make("epic", type=TaskType.EPIC, awaiting=Awaiting.APPROVAL)
    project.make(**fields)
    ran = project.run("k7f2")
    assert ran.code == RunExit.LIMIT
    assert f"k7f2: {why}" in " ".join(ran.err.split()).replace("it ", ""), ran.seen


def test_a_task_that_was_started_by_hand_is_not_said_to_be_done(project: RunProject) -> None:
    project.make()
    project.ok("start", "k7f2")
    ran = project.run("k7f2")
    assert ran.code == RunExit.LIMIT
    assert " is working on it by hand: `gt complete k7f2` hands it off" in ran.err


def test_an_agent_that_rests_is_named_by_the_run_and_by_status(project: RunProject) -> None:
    resets = datetime.now(UTC) + timedelta(hours=5)
    data = project.path.parent / "limit.jsonl"
    said_by_service = (DATA / "claude-usage-limit.jsonl").read_text()
    data.write_text(said_by_service.replace("3pm", f"{resets:%I%p}".lower().lstrip("0")))
    project.agent(f'cat > /dev/null; cat "{data}"; exit 1')
    project.ok("config", "agents.mine.type", "claude")
    project.make()
    ran = project.run()
    assert ran.code == RunExit.LIMIT
    assert "`mine` rests for" in ran.out
    assert "nothing else is ready" not in ran.out
    said = project.ok("status")
    assert re.search(
        r"^resting\n  mine  until \d{4}-\d\d-\d\d \d\d:\d\d UTC \(for \d+ h\): ", said, re.MULTILINE
    )


def test_a_limit_of_time_says_what_it_waits_for(project: RunProject) -> None:
    here = project.path.parent
    project.settings(NO_REVIEW)
    project.agent(f'touch "{here}/up"; while [ ! -e "{here}/go" ]; do sleep 0.05; done\n{DONE}')
    project.make("aaaa")
    project.make("bbbb")
    with project.running("--parallel", "1") as process:
        assert process.stdout is not None
        until((here / "up").exists)
        project.ok("config", "budget.run.duration", "1s")
        line = next(line for line in process.stdout if "the limit of 1 s is reached" in line)
        assert "`aaaa`" in line
        assert "Ctrl-C twice stops it" in line
        (here / "go").touch()
        assert process.wait(LONGEST_SECONDS) == RunExit.LIMIT
    assert project.stands("aaaa")[0] is Status.REVIEWING


def test_an_auto_run_of_a_task_says_that_it_waits_for_that_alone_and_what_adds_others(
    project: RunProject,
) -> None:
    project.settings(NO_REVIEW)
    project.make("aaaa", blocked_by=("bbbb",))
    project.make("bbbb")
    with project.running("aaaa", "--auto", "--poll", "1s") as process:
        assert process.stdout is not None
        line = next(line for line in process.stdout if "Ctrl-C ends the run" in line)
        assert "nothing of this run is ready; `gt run --add ID` adds tasks to it" in line
        project.interrupt(process)
        assert process.wait(LONGEST_SECONDS) == RunExit.INTERRUPTED


def test_an_auto_run_waits_and_names_what_it_leaves_out_with_the_flag(project: RunProject) -> None:
    project.settings(NO_REVIEW)
    project.make("gone", type=TaskType.EPIC, status=Status.DONE)
    project.make("aaaa", parent="gone")
    project.make("bbbb")
    with project.running("--auto", "--poll", "1s") as process:
        assert process.stdout is not None
        said = ""
        while "waiting for tasks" not in said:
            line = process.stdout.readline()
            assert line, said
            said += line
        assert "(`--include-orphans` or `--all` includes them): `aaaa`" in said
        assert "(`--include-standalone` or `--all` includes them): `bbbb`" in said
        assert is_run_alive_at(discover(project.path).own_place)
        later = project.create("Later")
        assert later in next(line for line in process.stdout if "--include-standalone" in line)
        project.interrupt(process)
        assert process.wait(LONGEST_SECONDS) == RunExit.INTERRUPTED
