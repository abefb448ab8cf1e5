"""What a run waits for: an agent whose service failed it, and a person who is still editing."""

from __future__ import annotations

from datetime import timedelta

import pytest

from gitticks.model.event import EventType
from gitticks.model.status import Status
from gitticks.runner import pauses
from gitticks.runner.outcome import RunExit
from gitticks.world import World
from tests.support.agents import DATA
from tests.support.runs import NO_REVIEW, RunProject, project

__all__ = ["project"]


class TestService:
    @pytest.fixture(autouse=True)
    def short(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Makes the pauses short."""
        monkeypatch.setattr(pauses, "FIRST_PAUSE_SECONDS", 0.05)

    def client(self, project: RunProject, name: str) -> None:
        """Makes the agent a client that prints a recorded stream."""
        project.agent(f'echo >> "{project.path.parent}/calls"; cat > /dev/null; cat "{DATA / name}"; exit 1')
        project.ok("config", "agents.mine.type", name.partition("-")[0])

    def calls(self, project: RunProject) -> int:
        return len((project.path.parent / "calls").read_text().splitlines())

    def test_three_outages_in_a_row_let_the_agent_rest(self, project: RunProject) -> None:
        self.client(project, "codex-disconnected.jsonl")
        project.make()
        ran = project.run()
        assert ran.code == RunExit.LIMIT
        assert "`mine` rests for the rest of this run" in ran.err
        assert self.calls(project) == 3
        task = project.task("k7f2")
        assert (task.status, task.crash_count) == (Status.WORKING, 0)

    def test_five_rate_limits_in_a_row_do(self, project: RunProject) -> None:
        self.client(project, "claude-429.jsonl")
        project.make()
        assert project.run().code == RunExit.LIMIT
        assert self.calls(project) == 5

    def test_a_usage_limit_does_at_once(self, project: RunProject) -> None:
        self.client(project, "claude-usage-limit.jsonl")
        project.make("aaaa")
        project.make("bbbb")
        assert project.run("--parallel", "1").code == RunExit.LIMIT
        assert self.calls(project) == 1
        assert project.stands("bbbb") == (Status.PENDING, None)

    def test_two_failed_starts_are_stuck(self, project: RunProject) -> None:
        project.agent_file.unlink()
        project.make()
        assert project.run().code == RunExit.STUCK
        assert "cannot start" in (project.last(EventType.START_FAILED).reason or "")


def test_a_task_that_is_being_edited_waits(project: RunProject) -> None:
    project.settings(NO_REVIEW)
    task_id = project.create()
    begun = World().now()
    ran = project.gt("run", "--debounce", "2s")
    assert ran.code == RunExit.WAITS
    started = next(e for e in project.events(task_id) if e.type is EventType.SESSION_STARTED)
    assert started.at - begun >= timedelta(seconds=1)


def test_an_edit_from_the_future_is_not_waited_for(project: RunProject) -> None:
    project.settings(NO_REVIEW)
    task_id = project.create("Later", now=World().now() + timedelta(days=3650))
    assert project.gt("run", "--debounce", "10m").code == RunExit.WAITS
    assert project.stands(task_id)[0] is Status.REVIEWING
