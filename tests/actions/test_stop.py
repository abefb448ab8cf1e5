"""`gt stop`: one agent, or the run."""

from __future__ import annotations

from gitticks.actions.run import is_run_alive, only_run
from gitticks.git.repository import discover
from gitticks.model.event import EventType
from gitticks.model.status import Status
from gitticks.runner.outcome import RunExit
from gitticks.runner.stop_requests import Holds
from tests.support.runs import DONE, NO_REVIEW, TO_REVIEW, RunProject, project
from tests.support.waiting import LONGEST_SECONDS, until

__all__ = ["project"]


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


def test_a_held_task_goes_back_to_the_run_that_is_alive(project: RunProject) -> None:
    project.settings(NO_REVIEW)
    project.make()
    assert "is not started any more" in project.ok("stop", "k7f2")
    with project.running("--auto", "--all") as process:
        until(lambda: is_run_alive(discover(project.path)))
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
    assert "a run is alive in this clone already; it takes up `k7f2` again" in ran.err
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
    assert (ran.code, "no run is alive" in ran.err) == (1, True)
    assert project.gt("stop", "nope").code == 1


def test_an_agent_cannot_stop_anything(project: RunProject) -> None:
    project.make()
    assert project.gt("stop", "k7f2", environment={"GITTICKS_AGENT": "1"}).code == 3
    assert Holds(project.path / ".git/gitticks").held() == frozenset()
