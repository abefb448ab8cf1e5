"""`gt health`: what lives, and what died and is finished."""

from __future__ import annotations

import json

from gitticks.actions.run import only_run
from gitticks.git.repository import discover
from tests.support.runs import RunProject, project
from tests.support.waiting import LONGEST_SECONDS, until

__all__ = ["project"]


def test_a_quiet_clone_is_healthy(project: RunProject) -> None:
    assert project.ok("health") == "no session is alive, and none is dead\n"
    assert json.loads(project.ok("health", "--json")) == {
        "schema": 1,
        "run": False,
        "live": [],
        "finished": [],
    }


def test_a_run_that_is_alive_is_told(project: RunProject) -> None:
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
