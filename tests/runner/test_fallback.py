"""Agents that take over from one that refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitticks.model.event import EventType
from gitticks.model.status import Status
from tests.support.agents import write_program
from tests.support.runs import DONE, NO_PERSON, RunProject, project

__all__ = ["project"]

LIMITED = 'echo \'{"gitticks": "usage-limit", "message": "no more this week"}\'; exit 75\n'
REFUSES = 'echo \'{"gitticks": "refusal", "message": "I will not"}\'; exit 75\n'


def offer(project: RunProject, fallback: str, **bodies: str) -> None:
    """Lets `mine` fall back on other agents, whose programs are the bodies."""
    folder: Path = project.path.parent
    project.settings(NO_PERSON)
    project.ok("config", "agents.mine.fallback", fallback)
    for name, body in bodies.items():
        program = write_program(folder / f"{name}.sh", body)
        project.ok("config", f"agents.{name}.type", "command")
        project.ok("config", f"agents.{name}.argv", f'["{program}"]')


def started(project: RunProject) -> list[str]:
    return [one.actor.name for one in project.events("k7f2") if one.type is EventType.SESSION_STARTED]


def test_the_next_of_the_chain_takes_over_at_once(project: RunProject) -> None:
    project.agent(REFUSES)
    offer(project, "[second, third]", second=REFUSES, third=DONE)
    project.make()
    ran = project.run()
    assert project.task("k7f2").status is Status.DONE, ran.seen
    assert started(project) == ["mine", "second", "third"]


@pytest.mark.parametrize("preset", ["none", "permissive"])
def test_a_program_that_is_not_there_is_replaced(project: RunProject, preset: str) -> None:
    offer(project, "[second]", second=DONE)
    project.ok("config", "sandbox.preset", preset)
    project.ok("config", "agents.mine.argv", "[no-such-program]")
    project.make()
    ran = project.run()
    assert project.task("k7f2").status is Status.DONE, ran.seen
    assert started(project) == ["mine", "second"]
    assert "`mine` could not take the task: `second` replaces it" in ran.err


def test_a_task_that_all_refuse_is_stuck_and_begins_with_the_first_after_a_persons_word(
    project: RunProject,
) -> None:
    project.agent(REFUSES)
    offer(project, "[second]", second=REFUSES)
    project.make()
    assert project.run().code == 4
    assert project.task("k7f2").status is Status.STUCK
    assert started(project) == ["mine", "second"]
    project.agent(DONE)
    project.ok("approve", "k7f2")
    project.run()
    assert started(project) == ["mine", "second", "mine"]
    assert project.task("k7f2").status is Status.DONE


def test_without_a_fallback_the_same_agent_is_asked_twice(project: RunProject) -> None:
    project.settings(NO_PERSON)
    project.agent(REFUSES)
    project.make()
    assert project.run().code == 4
    assert started(project) == ["mine", "mine"]


def test_a_fallback_that_does_not_exist_or_is_incomplete_is_named_and_left_out(project: RunProject) -> None:
    offer(project, "[nobody, half, second]", second=DONE)
    project.ok("config", "agents.half.model", "x")
    project.agent(REFUSES)
    project.make()
    project.make("qz8r")
    ran = project.run()
    assert ran.err.count("`agents.mine.fallback`: there is no agent `nobody`") == 1
    assert ran.err.count("`agents.mine.fallback`: the agent `half` has neither") == 1
    assert started(project) == ["mine", "second"]
    assert project.task("qz8r").status is Status.DONE, ran.seen


def test_another_stands_in_for_an_agent_that_rests(project: RunProject) -> None:
    project.agent(LIMITED)
    offer(project, "[second]", second=DONE)
    project.make()
    ran = project.run()
    assert project.task("k7f2").status is Status.DONE, ran.seen
    assert started(project) == ["mine", "second"]
    assert "`mine` rests: `second` replaces it" in ran.err
    endings = [one for one in project.events("k7f2") if one.type is EventType.SESSION_ENDED]
    assert (endings[0].data["ending"], endings[0].reason) == ("usage-limited", "no more this week")


def test_where_all_rest_the_first_is_waited_for(project: RunProject) -> None:
    project.agent(LIMITED)
    offer(project, "[second]", second=LIMITED)
    project.make()
    ran = project.run()
    assert (ran.code, project.task("k7f2").status) == (1, Status.WORKING)
    assert started(project) == ["mine", "second"]
    assert "`mine` rests for 15 min: no more this week" in ran.err


def test_another_stands_in_for_an_agent_that_is_not_installed(project: RunProject) -> None:
    offer(project, "[]", second=DONE)
    project.ok("config", "agents.amp.fallback", "[second]")
    project.ok("config", "agent", "amp")
    project.make()
    ran = project.run()
    assert project.task("k7f2").status is Status.DONE, ran.seen
    assert started(project) == ["second"]
    assert "`amp` is not on PATH: `second` replaces it" in ran.err
