"""A real agent takes a task from its start to its merge, with each kind of walls and without."""

from __future__ import annotations

import pytest

from gitticks.model.status import Status
from tests.real_agents.support import TASK, RealProject
from tests.support.runs import NO_PERSON, TO_REVIEW
from tests.support.wire_formats import TOKENS_IN, TOKENS_OUT

WORK_TURNS = 5


def test_is_worked_on_reviewed_approved_and_merged(project: RealProject) -> None:
    project.make(TASK, title="Say hello")
    project.play_work()
    project.play_review()
    ran = project.run()
    assert project.stands() == TO_REVIEW, ran.seen + project.said()
    assert project.services.unplayed == 0
    project.ok("approve", TASK)
    assert project.stands() == (Status.DONE, None)
    assert "hello.txt" in project.files("main")


@pytest.mark.debian("bubblewrap", program="bwrap")
@pytest.mark.parametrize("preset", ["none", "permissive", "strict"])
def test_works_behind_walls(project: RealProject, preset: str) -> None:
    hosts = f", allowed_hosts: ['localhost:{project.services.port}']" if preset == "strict" else ""
    project.settings(f"{NO_PERSON}sandbox: {{preset: {preset}{hosts}}}\n")
    project.make(TASK, title="Say hello")
    project.play_work()
    ran = project.run()
    assert project.stands() == (Status.DONE, None), ran.seen + project.said()
    assert "hello.txt" in project.files("main")
    usage = project.task(TASK).usage
    assert (usage.tokens_in, usage.tokens_out) == (WORK_TURNS * TOKENS_IN, WORK_TURNS * TOKENS_OUT), ran.seen
    assert usage.cost > 0
    hooked = "never called its hook" not in ran.seen
    assert hooked or not project.client.is_asking, ran.seen + project.said()
