"""People and agents whose tasks share the workspace of an epic: nobody takes it from under another."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from gitticks.model.ids import TaskId
from gitticks.model.status import Status
from gitticks.runner.outcome import RunExit
from gitticks.runner.records import Sessions
from tests.support.repositories import commit_file, git
from tests.support.runs import DONE, NO_PERSON, RunProject, project
from tests.support.waiting import LONGEST_SECONDS, until

__all__ = ["project"]


@pytest.fixture(autouse=True)
def epic(project: RunProject) -> None:
    """Makes an epic with two tasks in one workspace."""
    project.settings(f"{NO_PERSON}isolation: epic\n")
    project.agent(DONE)
    project.make("aaaa", type="epic")
    project.make("aaa2", parent="aaaa")
    project.make("aaa3", parent="aaaa")


@contextmanager
def working_on(project: RunProject, task_id: str) -> Iterator[None]:
    """Has an agent at work that has left something uncommitted, until the block is over."""
    here = project.shared
    project.agent(f'touch half "{here}/up"; until [ -e "{here}/go" ]; do sleep 0.05; done; rm half\n{DONE}')
    with project.running(task_id) as process:
        until((here / "up").exists, "the agent")
        yield
        (here / "go").touch()
        process.wait(LONGEST_SECONDS)


def test_a_person_does_not_start_where_an_agent_is_at_work(project: RunProject) -> None:
    with working_on(project, "aaa2"):
        refused = project.gt("start", "aaa3")
        assert (refused.code, "an agent is working on `aaa2` in the workspace of `aaa3`" in refused.err) == (
            3,
            True,
        ), refused
        assert "`gt stop aaa2` ends it" in refused.err
        assert (project.workspace("aaaa") / "half").exists()
    assert [project.task(one).status for one in ("aaa2", "aaa3")] == [Status.DONE, Status.PENDING]


def test_an_agent_does_not_start_where_a_person_works(project: RunProject) -> None:
    project.ok("start", "aaa3")
    mine = project.workspace("aaaa") / "mine"
    mine.write_text("hours\n")
    ran = project.run("aaa2")
    assert ran.code == RunExit.WAITS, ran
    assert "`aaa3` is worked on by hand in the workspace of `aaa2`" in ran.seen
    assert "`gt complete aaa3` hands it off" in ran.seen
    assert (mine.read_text(), project.task("aaa2").status) == ("hours\n", Status.PENDING)
    git("add", ".", at=mine.parent)
    git("commit", "-qm", "mine", at=mine.parent)
    project.ok("close", "aaa3")
    assert project.run("aaa2").code == RunExit.DONE
    assert project.task("aaa2").status is Status.DONE


def test_what_a_person_leaves_for_another_task_there_is_kept_and_not_forgotten(project: RunProject) -> None:
    project.ok("start", "aaa2")
    workspace = project.workspace("aaaa")
    commit_file(workspace, "two.txt", "two\n")
    (workspace / "wip").write_text("hours\n")
    started = project.gt("start", "aaa3")
    assert "what was not committed of `aaa2` was put aside: `gt start aaa2` brings it back" in started.err
    assert not (workspace / "wip").exists()
    assert "\naaa3  by hand " in project.ok("current", at=workspace)
    assert "\naaa2  by hand " in project.ok("current", at=workspace)
    project.ok("handoff", "--done", "three", at=workspace)
    assert project.file("aaa3").section("Handoff") is not None
    refused = project.gt("close", "aaa2")
    assert (refused.code, "was put aside" in refused.err) == (3, True), refused
    assert "`gt start aaa2` brings it back" in refused.err
    (workspace / "three.txt").write_text("not aaa2's\n")
    project.ok("update", "aaa3", "--awaiting", "null")
    project.gt("start", "aaa2")
    assert (workspace / "wip").read_text() == "hours\n"
    git("add", "wip", at=workspace)
    git("commit", "-qm", "wip", at=workspace)
    project.ok("close", "aaa2")
    assert project.task("aaa2").status is Status.DONE


def test_what_an_agent_has_uncommitted_there_keeps_no_other_task_from_being_closed(
    project: RunProject,
) -> None:
    project.ok("start", "aaa3")
    commit_file(project.workspace("aaaa"), "three.txt", "three\n")
    project.ok("update", "aaa3", "--awaiting", "null")
    with working_on(project, "aaa2"):
        project.ok("close", "aaa3")
        assert (project.workspace("aaaa") / "half").exists()
    assert [project.task(one).status for one in ("aaa2", "aaa3")] == [Status.DONE] * 2


@pytest.mark.parametrize("started", ["aaa2", "aaa3"])
def test_what_a_killed_run_left_is_taken_before_a_person_starts_there(
    project: RunProject, started: str
) -> None:
    here = project.shared
    project.agent(f'"$GT" note "half of it"; touch half "{here}/up"; exec sleep 600')
    with project.running("aaa2") as process:
        until((here / "up").exists, "the agent")
        process.kill()
        process.wait()
    until(lambda: "interrupted" in project.ok("status"), "the end of the agent")
    project.ok("start", started)
    assert "half of it" in str(project.file("aaa2").section("Notes"))
    assert project.file("aaa3").section("Notes") is None
    assert (project.workspace("aaaa") / "half").exists() is (started == "aaa2")


def test_a_task_is_not_handed_off_by_what_is_another_ones(project: RunProject) -> None:
    project.ok("config", "verify.test", "true")
    project.ok("start", "aaa2")
    workspace = project.workspace("aaaa")
    commit_file(workspace, "two.txt", "two\n")
    project.ok("handoff", "--done", "two", at=workspace)
    (workspace / "wip").write_text("hours\n")
    project.ok("start", "aaa3")
    refused = project.gt("complete", "aaa2")
    assert (refused.code, "was put aside" in refused.err) == (3, True), refused
    git("update-ref", "-d", "refs/gitticks/partial/aaa2", at=project.path)
    refused = project.gt("complete", "aaa2")
    assert (refused.code, "is at `aaa3` now" in refused.err) == (3, True), refused
    assert "`gt start aaa2` takes it up there again" in refused.err


def test_what_an_agent_left_with_its_question_keeps_nobody_from_closing_the_task(project: RunProject) -> None:
    project.agent('touch scratch; "$GT" ask "which?"')
    assert project.run("aaa2").code == RunExit.WAITS
    assert project.task("aaa2").status is Status.CLARIFICATION
    assert git("for-each-ref", "refs/gitticks/partial", at=project.path)
    project.ok("close", "aaa2", "not needed")
    assert project.task("aaa2").status is Status.DONE


def test_a_run_tries_again_what_was_being_started_by_hand(project: RunProject) -> None:
    with Sessions(project.path / ".git/gitticks").reserve([TaskId("aaa2")]):
        ran = project.run("aaa2")
        assert ran.code == RunExit.LIMIT, ran
        assert "another command is starting `aaa2` or a task that shares its workspace" in ran.seen
        refused = project.gt("start", "aaa2")
        assert (
            refused.code,
            "another command is starting `aaa2`" in refused.err,
        ) == (3, True), refused
    assert project.run("aaa2").code == RunExit.DONE
