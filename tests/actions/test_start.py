"""`gt start`: work that nobody's runner began."""

from __future__ import annotations

from typing import Any

import pytest

from gitticks.model.event import EventType
from gitticks.model.status import Awaiting, Status
from gitticks.runner.outcome import RunExit
from tests.cli.support import gt_process
from tests.support.repositories import commit_file, git
from tests.support.runs import RunProject, project

__all__ = ["project"]


def test_it_prints_a_workspace_with_the_task_in_it(project: RunProject) -> None:
    project.make()
    assert project.ok("start", "k7f2") == f"{project.workspace()}\n"
    assert project.stands() == (Status.WORKING, None)
    task = project.task("k7f2")
    assert task.claim is not None
    assert task.claim.runner == "hand:Ada Lovelace"
    assert task.start_sha == git("rev-parse", "main", at=project.path)
    assert (project.workspace() / ".gt/TASK.md").exists()
    assert (project.workspace() / ".gt/prompt.md").exists()
    assert git("status", "--porcelain", at=project.workspace()) == ""


def test_work_by_hand_goes_the_same_way_as_an_agents(project: RunProject) -> None:
    project.settings("review: none\n")
    project.make()
    workspace = project.workspace()
    project.ok("start", "k7f2")
    commit_file(workspace, "mine.txt", "x\n")
    project.ok("handoff", "--done", "it", "--remaining", "nothing", at=workspace)
    project.ok("complete", at=workspace)
    assert project.stands() == (Status.REVIEWING, Awaiting.REVIEW)
    assert project.task("k7f2").claim is None
    project.ok("approve", "k7f2")
    assert project.merges() == ["k7f2"]


def test_starting_again_prints_the_same_place(project: RunProject) -> None:
    project.make()
    first = project.ok("start", "k7f2")
    (project.workspace() / "half.txt").write_text("x\n")
    tip = project.tip()
    assert project.ok("start", "k7f2") == first
    assert project.tip() == tip
    assert project.kinds().count(EventType.SESSION_STARTED) == 1
    assert (project.workspace() / "half.txt").exists()
    assert project.kinds().count(EventType.MOVED) == 1


def test_a_run_leaves_it_alone_until_it_is_handed_over(project: RunProject) -> None:
    project.make()
    project.ok("start", "k7f2")
    assert project.run().code == RunExit.DONE
    assert project.stands() == (Status.WORKING, None)


@pytest.mark.parametrize(
    "fields",
    [
        {"status": Status.DONE},
        {"awaiting": Awaiting.APPROVAL},
        {"status": Status.STUCK, "awaiting": Awaiting.ESCALATION},
        {"blocked_by": ("aaaa",)},
    ],
)
def test_what_is_nobodys_turn_is_refused_and_makes_nothing(
    project: RunProject, fields: dict[str, Any]
) -> None:
    project.make("aaaa")
    project.make(**fields)
    tip = project.tip()
    assert project.gt("start", "k7f2").code == 3
    assert project.tip() == tip
    assert not project.workspace().exists()


def test_a_person_begins_what_awaits_their_work(project: RunProject) -> None:
    project.make(awaiting=Awaiting.WORK)
    assert project.gt("start", "k7f2", environment={"GITTICKS_AGENT": "1"}).code == 3
    workspace = project.workspace()
    assert project.ok("start", "k7f2") == f"{workspace}\n"
    assert project.stands() == (Status.WORKING, Awaiting.WORK)
    assert project.run().code == RunExit.WORK
    assert project.stands() == (Status.WORKING, Awaiting.WORK)
    commit_file(workspace, "mine.txt", "x\n")
    project.ok("close", "k7f2")
    assert project.merges() == ["k7f2"]
    assert project.gt("doctor", "--range", "gitticks/state").code == 0


def test_a_set_up_that_fails_leaves_the_task_pending(project: RunProject) -> None:
    project.settings("setup: {run: 'exit 4'}\n")
    project.make()
    assert project.gt("start", "k7f2").code == 1
    assert project.stands() == (Status.PENDING, None)


def test_an_agent_begins_a_task_under_its_own_name(project: RunProject) -> None:
    project.make()
    project.ok("start", "k7f2", environment={"GITTICKS_AGENT": "1"})
    claim = project.task("k7f2").claim
    assert claim is not None
    assert claim.runner == "hand:agent"


@pytest.mark.parametrize("word", ["close", "approve"])
def test_a_verdict_from_inside_the_workspace_removes_it_with_its_branch(
    project: RunProject, word: str
) -> None:
    project.settings("review: none\n")
    project.make(requires="review" if word == "approve" else None)
    project.ok("start", "k7f2")
    workspace = project.workspace()
    commit_file(workspace, "mine.txt", "x\n")
    if word == "approve":
        project.ok("handoff", "--done", "it", at=workspace)
        project.ok("complete", at=workspace)
    ran = gt_process(word, "k7f2", at=workspace)
    assert (ran.code, ran.err) == (0, "")
    assert not workspace.exists()
    assert git("branch", "--list", "gitticks/work/*", at=project.path) == ""
    assert project.merges() == ["k7f2"]
