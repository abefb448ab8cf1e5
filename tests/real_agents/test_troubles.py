"""A real agent's service refuses it, limits it, is down or says nothing; a person presses Ctrl-C."""

from __future__ import annotations

import pytest

from gitticks.model.event import EventType
from gitticks.model.task import Ending
from tests.real_agents.support import TASK, RealProject
from tests.support.agents import processes_with
from tests.support.model_services import Fail, Stall
from tests.support.runs import NO_PERSON
from tests.support.waiting import until
from tests.support.wire_formats import Shell


def endings(project: RealProject) -> list[str]:
    return [
        str(event.data.get("ending"))
        for event in project.events(TASK)
        if event.type is EventType.SESSION_ENDED
    ]


@pytest.mark.parametrize(
    ("fail", "ending"),
    [
        (Fail(401, "invalid x-api-key"), Ending.START_FAILED),
        (Fail(429, "rate limit exceeded", {"retry-after": "1"}), Ending.RATE_LIMITED),
        (Fail(529, "Overloaded"), Ending.OUTAGE),
    ],
    ids=["401", "429", "529"],
)
def test_an_error_of_the_service_is_distinguished(project: RealProject, fail: Fail, ending: Ending) -> None:
    project.settings(f"{NO_PERSON}limits: {{idle: 2m, rest: 1h}}\n")  # opencode retries in silence
    project.make(TASK, title="Say hello")
    project.services.play(fail)
    with project.running(TASK) as process:
        until(lambda: endings(project) or process.poll() is not None, "the end of a session")
        seen = endings(project)
        project.interrupt(process)
        project.interrupt(process)
        out, _ = process.communicate(timeout=60)
    assert seen
    assert seen[0] == ending, out + project.said()


def test_a_service_that_says_nothing_is_an_outage_once_it_was_idle_for_too_long(project: RealProject) -> None:
    project.settings(f"{NO_PERSON}limits: {{idle: 20s, rest: 1h}}\n")
    project.make(TASK, title="Say hello")
    project.services.play(Stall(), Stall(), Stall())
    with project.running(TASK) as process:
        until(lambda: endings(project) or process.poll() is not None, "the end of a session")
        seen = endings(project)
        project.interrupt(process)
        project.interrupt(process)
        out, _ = process.communicate(timeout=60)
    assert seen
    assert seen[0] == Ending.OUTAGE, out + project.said()


@pytest.mark.debian("bubblewrap", program="bwrap")
@pytest.mark.parametrize("preset", ["none", "permissive"])
def test_ctrl_c_twice_ends_it_and_leaves_no_process(project: RealProject, preset: str) -> None:
    project.settings(f"{NO_PERSON}sandbox: {{preset: {preset}}}\n")
    project.make(TASK, title="Say hello")
    project.services.play(Shell("git add -A"), Stall(), Stall())
    with project.running(TASK) as process:
        until(lambda: len(project.services.turns) > 1, "the second turn")
        assert processes_with(project.mark)
        project.interrupt(process)
        assert process.stdout
        next(line for line in process.stdout if "Ctrl-C again" in line)  # two signals at once would be one
        project.interrupt(process)
        process.communicate(timeout=60)
    until(lambda: not processes_with(project.mark), "the end of every process")
    assert endings(project) == [Ending.STOPPED]
