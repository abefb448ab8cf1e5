"""Agents that take over from one that refuses."""

from __future__ import annotations

from pathlib import Path

from gitticks.model.event import EventType
from gitticks.model.status import Status
from tests.support.agents import write_program
from tests.support.runs import DONE, NO_PERSON, RunProject, project

__all__ = ["project"]

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


def test_a_fallback_that_does_not_exist_is_named(project: RunProject) -> None:
    offer(project, "[nobody]")
    project.make()
    assert "nobody" in project.run().seen
    assert started(project) == []
