"""`gt run`: its exit codes, its events, who may start it and what it refuses."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from gitticks.actions.context import Context
from gitticks.actions.run import execute, only_run, prepare_run, run_context
from gitticks.errors import GitticksError, RefusedError
from gitticks.git.repository import discover
from gitticks.model.event import EventType
from gitticks.model.status import Awaiting, Status
from gitticks.runner.events import RunEnded, RunEvent
from gitticks.runner.liveness import Holds, is_run_alive_at
from gitticks.runner.options import RunOptions
from gitticks.runner.outcome import RunExit
from gitticks.store.branch import Store
from tests.support.agents import write_program
from tests.support.repositories import git
from tests.support.runs import DONE, NO_PERSON, NO_REVIEW, TO_REVIEW, RunProject, project
from tests.support.stores import change_task
from tests.support.waiting import LONGEST_SECONDS, until

__all__ = ["project"]

KINDS = {
    "session.began",
    "session.spent",
    "checkpoint.made",
    "budget.reached",
    "agent.said",
    "checks.ended",
    "task.moved",
    "task.merged",
    "merge.waits",
    "warning",
    "run.ended",
}


def test_0_when_all_is_done(project: RunProject) -> None:
    project.settings(NO_PERSON)
    project.make()
    assert project.run().code == 0
    assert project.stands() == (Status.DONE, None)
    assert project.merges() == ["k7f2"]
    assert not project.workspace().exists()
    assert git("branch", "--list", "gitticks/work/*", at=project.path) == ""


def test_0_when_there_is_nothing_to_do(project: RunProject) -> None:
    assert project.run().code == 0


def test_1_at_the_limit_of_iterations(project: RunProject) -> None:
    project.agent("echo on my way")
    project.make()
    ran = project.run("--max-iterations", "2")
    assert ran.code == 1
    assert "the limit of 2 iterations is reached" in ran.out
    assert project.task("k7f2").usage.iterations == 2


def test_a_limit_that_is_reached_with_the_last_work_is_none(project: RunProject) -> None:
    project.settings(NO_PERSON)
    project.make()
    assert project.run("--max-iterations", "1").code == RunExit.DONE
    assert project.merges() == ["k7f2"]


def test_a_limit_of_iterations_bounds_agents_side_by_side(project: RunProject) -> None:
    for name in ("aaaa", "bbbb", "cccc"):
        project.make(name)
    assert project.run("--max-iterations", "2", "--parallel", "3").code == RunExit.LIMIT
    assert sum(project.task(name).usage.iterations > 0 for name in ("aaaa", "bbbb", "cccc")) == 2


def test_1_at_the_limit_of_time(project: RunProject) -> None:
    project.agent("sleep 0.3")
    project.make()
    ran = project.run("--timeout", "1s")
    assert ran.code == 1
    assert "the limit of 1 s is reached" in ran.out


def test_2_when_a_person_must_do_work(project: RunProject) -> None:
    project.agent("echo '<promise>EJECT: needs the production password</promise>'")
    project.make("aaaa")
    project.make("bbbb", status=Status.CLARIFICATION, awaiting=Awaiting.INPUT)
    assert project.run().code == 2
    assert project.stands("aaaa") == (Status.WORKING, Awaiting.WORK)


def test_3_when_what_is_left_awaits_a_person(project: RunProject) -> None:
    project.settings(NO_REVIEW)
    project.make()
    ran = project.run()
    assert ran.code == 3
    assert "1 task is waiting for you" in ran.out


def test_4_when_a_task_is_stuck(project: RunProject) -> None:
    project.agent("exit 1")
    project.make("aaaa")
    project.make("bbbb", awaiting=Awaiting.WORK)
    assert project.run().code == 4


@pytest.mark.parametrize(
    "arguments", [["nope"], ["--parallel", "0"], ["--agent", "nobody"], ["--timeout", "soon"]]
)
def test_64_for_wrong_usage(project: RunProject, arguments: list[str]) -> None:
    project.make()
    assert project.run(*arguments).code == 64
    assert project.stands() == (Status.PENDING, None)


def test_64_outside_of_a_repository(project: RunProject, tmp_path: Path) -> None:
    assert project.gt("run", at=tmp_path).code == 64


@pytest.mark.parametrize("preset", ["strict", "permissive"])
def test_64_for_a_sandbox_that_cannot_be_enforced(
    project: RunProject, preset: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_program(
        tmp_path / "broken" / "bwrap", "echo 'bwrap: setting up uid map: Permission denied' >&2; exit 1\n"
    )
    monkeypatch.setenv("PATH", f"{tmp_path / 'broken'}:{os.environ['PATH']}")
    ran = project.run("--sandbox", preset)
    assert ran.code == 64
    assert f"the sandbox `{preset}` does not work here: bwrap: setting up uid map" in ran.err
    assert "`none` turns it off where it was chosen: by `--sandbox`" in ran.err


def test_64_while_another_run_is_alive(project: RunProject) -> None:
    with only_run(discover(project.path)):
        assert is_run_alive_at(discover(project.path).own_place)
        ran = project.run()
    assert ran.code == 64
    assert "a run is already active in this clone" in ran.err
    assert not is_run_alive_at(discover(project.path).own_place)


def test_an_agent_cannot_start_a_run(project: RunProject, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GITTICKS_AGENT", "1")
    with pytest.raises(RefusedError):
        prepare_run(Context(directory=project.path), RunOptions(), print)
    assert project.run().code == 3


def test_without_any_agent_a_run_says_so_and_changes_nothing(
    project: RunProject, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "bin").mkdir()
    for name in ("git", "sh"):
        (tmp_path / "bin" / name).symlink_to(f"/usr/bin/{name}")
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    project.ok("config", "agent", "null")
    project.make()
    tip = project.tip()
    ran = project.run()
    assert ran.code == 64
    assert "no agent was found on PATH" in ran.err
    assert "install claude" in ran.err
    assert project.tip() == tip


def test_a_task_without_a_script_is_left_alone_beside_one_that_has_one(project: RunProject) -> None:
    project.ok("config", "agent", "script")
    project.settings(NO_REVIEW)
    project.make("aaaa")
    project.make("bbbb", body=f"Do it.\n\n## Script\n\n```sh\n{DONE}```\n")
    ran = project.run()
    assert ran.code == RunExit.LIMIT
    assert "aaaa: skipped in this run: the agent is `script`" in ran.err
    assert project.stands("aaaa") == (Status.PENDING, None)
    assert EventType.SESSION_STARTED not in project.kinds("aaaa")
    assert project.stands("bbbb") == (Status.REVIEWING, Awaiting.REVIEW)


def test_a_default_agent_that_is_not_installed_costs_no_task_its_turn(project: RunProject) -> None:
    project.ok("config", "agent", "claude")
    project.make()
    ran = project.run()
    assert (ran.code, ran.out) == (64, "")
    assert "the agent `claude` is not on PATH" in ran.err
    assert project.stands() == (Status.PENDING, None)


def test_json_is_one_event_of_a_documented_kind_a_line(project: RunProject) -> None:
    project.settings(f"{NO_PERSON}verify: {{test: 'true'}}\n")
    project.agent(f"echo hello\n{DONE}")
    project.make()
    code, events = project.events_of_run()
    assert code == 0
    assert {event["schema"] for event in events} == {1}
    assert {event["event"] for event in events} <= KINDS
    assert events[0] == {
        "schema": 1,
        "event": "session.began",
        "task": "k7f2",
        "title": "Login loses the return URL",
        "agent": "mine",
        "role": "worker",
        "workspace": ".gitticks-work/k7f2",
        "base": "main",
        "origin": "main",
        "start_sha": git("rev-parse", "main~1", at=project.path),
    }
    said = [event for event in events if event["event"] == "agent.said"]
    assert {"task": "k7f2", "line": "hello"}.items() <= said[0].items()
    assert events[-1]["event"] == "run.ended"
    assert (events[-1]["exit_code"], events[-1]["done"], events[-1]["iterations"]) == (0, 1, 1), events
    moved = [event for event in events if event["event"] == "task.moved"]
    assert [(event["source"], event["target"]) for event in moved] == [
        ("working", "reviewing"),
        ("reviewing", "done"),
    ]


def test_an_agent_is_told_where_it_is(project: RunProject, tmp_path: Path) -> None:
    project.agent(f'env > "{tmp_path}/seen"; pwd >> "{tmp_path}/seen"')
    project.make(body="Do it.\n")
    project.run("--max-iterations", "1")
    seen = (tmp_path / "seen").read_text().splitlines()
    assert "GITTICKS_TASK=k7f2" in seen
    assert "GITTICKS_ROLE=worker" in seen
    assert "GITTICKS_ROUND=1" in seen
    assert "GITTICKS_ITERATION=1" in seen
    assert f"GITTICKS_MAILBOX={project.workspace()}/.gt" in seen
    assert "GITTICKS_AGENT=1" in seen
    assert seen[-1] == str(project.workspace())


def test_a_run_from_python_tells_its_listener(project: RunProject) -> None:
    project.settings(NO_PERSON)
    project.make()
    told: list[RunEvent] = []
    context = Context(directory=project.path)
    assert execute(context, prepare_run(context, RunOptions(debounce=0.0), told.append)) is RunExit.DONE
    assert isinstance(told[-1], RunEnded)
    assert run_context(context, told.append).options == RunOptions()


def test_an_unknown_agent_is_refused_before_anything_starts(project: RunProject) -> None:
    with pytest.raises(GitticksError, match="no agent `clod`"):
        prepare_run(Context(directory=project.path), RunOptions(agent="clod"), print)


def test_a_board_that_a_killed_command_left_behind_is_brought_in_step(project: RunProject) -> None:
    project.make(status=Status.DONE)
    change_task(Store(discover(project.path)), "k7f2", priority=0)
    assert project.board_status() != ""
    assert project.run().code == 0
    assert project.board_status() == ""


def test_a_quiet_clone_is_healthy(project: RunProject) -> None:
    assert project.ok("health") == "no sessions are running, and none are dead\n"
    assert json.loads(project.ok("health", "--json")) == {
        "schema": 1,
        "run": False,
        "live": [],
        "finished": [],
        "left": [],
    }


def test_a_run_that_is_alive_is_reported(project: RunProject) -> None:
    with only_run(discover(project.path)):
        assert json.loads(project.ok("health", "--json"))["run"] is True


def test_a_live_session_is_shown_and_left_alone(project: RunProject) -> None:
    up = project.path.parent / "up"
    project.agent(f'touch "{up}"; sleep 600')
    project.make()
    with project.running() as process:
        until(up.exists)
        (live,) = json.loads(project.ok("health", "--json"))["live"]
        assert (live["task"], live["role"], live["agent"]) == ("k7f2", "worker", "mine")
        assert project.ok("health").startswith("k7f2  mine  worker, started ")
        project.ok("stop", "k7f2")
        process.wait(LONGEST_SECONDS)


def test_an_agent_cannot_finish_sessions(project: RunProject) -> None:
    assert project.gt("health", environment={"GITTICKS_AGENT": "1"}).code == 3


def test_a_tasks_agent_is_stopped_and_the_task_held_until_it_is_run_again(project: RunProject) -> None:
    project.settings(NO_REVIEW)
    up = project.path.parent / "up"
    project.agent(f'echo half > half.txt; touch "{up}"; sleep 600')
    project.make()
    with project.running() as process:
        until(up.exists)
        assert "its agent is being stopped" in project.ok("stop", "k7f2")
        assert process.wait(LONGEST_SECONDS) == RunExit.WAITS
    assert project.stands() == (Status.WORKING, None)
    assert project.last(EventType.SESSION_ENDED).data["ending"] == "stopped"
    assert EventType.CRASHED not in project.kinds()
    project.agent(DONE)
    assert project.run().code == RunExit.WAITS
    assert project.stands() == (Status.WORKING, None)
    project.run("k7f2")
    assert project.stands() == TO_REVIEW
    assert "half.txt" in project.files("gitticks/work/k7f2")


def test_checks_that_are_stopped_have_failed_nothing(project: RunProject) -> None:
    up = project.shared / "up"
    project.settings(f"{NO_REVIEW}verify: {{test: 'touch {up}; sleep 600'}}\n")
    project.agent(DONE)
    project.make()
    with project.running() as process:
        until(up.exists)
        project.ok("stop", "k7f2")
        said, _ = process.communicate(timeout=LONGEST_SECONDS)
    assert project.last(EventType.SESSION_ENDED).data["ending"] == "stopped"
    assert "checks failed" not in said
    assert "without a hand-off" not in said


def test_a_held_task_goes_back_to_the_run_that_is_alive(project: RunProject) -> None:
    project.settings(NO_REVIEW)
    project.make()
    assert "will not be started" in project.ok("stop", "k7f2")
    with project.running("--auto", "--all") as process:
        until(lambda: is_run_alive_at(discover(project.path).own_place))
        assert project.run("k7f2").code == 64
        until(lambda: project.stands() == TO_REVIEW)
        project.interrupt(process)
        assert process.wait(LONGEST_SECONDS) == RunExit.INTERRUPTED


def test_a_refused_run_says_what_it_gave_back(project: RunProject) -> None:
    project.make()
    project.ok("stop", "k7f2")
    with only_run(discover(project.path)):
        ran = project.run("k7f2")
    assert ran.code == 64
    assert "a run is already active in this clone; it resumes `k7f2`" in ran.err
    assert Holds(project.path / ".git/gitticks").held() == frozenset()


def test_a_run_ends_after_its_iterations(project: RunProject) -> None:
    project.settings(NO_REVIEW)
    here = project.path.parent
    project.agent(f'touch "{here}/up"; while [ ! -e "{here}/go" ]; do sleep 0.05; done\n{DONE}')
    project.make("aaaa")
    project.make("bbbb")
    with project.running("--parallel", "1") as process:
        until((here / "up").exists)
        project.ok("stop")
        (here / "go").touch()
        assert process.wait(LONGEST_SECONDS) == RunExit.INTERRUPTED
    assert project.stands("aaaa") == TO_REVIEW
    assert project.stands("bbbb") == (Status.PENDING, None)
    assert project.run().code == RunExit.WAITS


def test_without_a_run_there_is_nothing_to_stop(project: RunProject) -> None:
    ran = project.gt("stop")
    assert (ran.code, "no run is active" in ran.err) == (1, True)
    assert project.gt("stop", "nope").code == 1


def test_an_agent_cannot_stop_anything(project: RunProject) -> None:
    project.make()
    assert project.gt("stop", "k7f2", environment={"GITTICKS_AGENT": "1"}).code == 3
    assert Holds(project.path / ".git/gitticks").held() == frozenset()
