"""`gt pause` and `gt unpause` from another terminal."""

from __future__ import annotations

import json

from gitticks.model.status import Status
from tests.support.runs import DONE, NO_PERSON, RunProject, project
from tests.support.waiting import LONGEST_SECONDS, until

__all__ = ["project"]


def test_a_paused_run_lets_its_agent_end_and_begins_nothing_new(project: RunProject) -> None:
    folder = project.path.parent
    project.settings(NO_PERSON)
    project.agent(f'touch "{folder}/up"; while [ ! -e "{folder}/go" ]; do sleep 0.05; done; {DONE}')
    project.make("k7f2", priority=0)
    project.make("m3xq")
    with project.running("--parallel", "1") as process:
        until((folder / "up").exists, "the agent")
        assert "start nothing new" in project.ok("pause")
        assert json.loads(project.ok("status", "--json"))["paused"] is True
        assert "until `gt unpause`" in project.ok("status")
        (folder / "go").touch()
        until(lambda: project.task("k7f2").is_merging, "the end of the session")
        assert process.poll() is None
        assert project.task("m3xq").status is Status.PENDING
        assert project.merges() == []
        assert process.stdout is not None
        assert any("paused: nothing new starts until `gt unpause`" in line for line in process.stdout)
        assert "continue" in project.ok("unpause")
        process.communicate(timeout=LONGEST_SECONDS)
    assert [project.task(one).status for one in ("k7f2", "m3xq")] == [Status.DONE, Status.DONE]
    assert "were not paused" in project.ok("unpause")


def test_a_paused_run_with_nothing_to_do_ends(project: RunProject) -> None:
    project.ok("pause")
    project.ok("run")


def test_status_hints_at_no_run_that_would_only_wait(project: RunProject) -> None:
    project.make()
    assert "hint: `gt run`" in project.gt("status").err
    project.ok("pause")
    assert "hint: `gt unpause`, then `gt run`" in project.gt("status").err


def test_a_session_pauses_nothing(project: RunProject) -> None:
    for words in ("pause", "unpause"):
        assert project.gt(words, environment={"GITTICKS_AGENT": "1"}).code != 0
    assert json.loads(project.ok("status", "--json"))["paused"] is False
