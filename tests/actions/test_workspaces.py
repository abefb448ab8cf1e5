"""`gt worktree`: which workspaces there are, and which go."""

from __future__ import annotations

import json
from typing import Any

import pytest

from gitticks.model.event import EventType
from gitticks.model.status import Awaiting, Status
from gitticks.runner.outcome import RunExit
from tests.cli.support import gt_process
from tests.support.projects import make_working
from tests.support.repositories import commit_file, git
from tests.support.runs import RunProject, project
from tests.support.waiting import LONGEST_SECONDS, until

__all__ = ["project"]


def cleaned(project: RunProject, *arguments: str) -> tuple[int, dict[str, dict[str, str | None]]]:
    """Cleans, and returns the exit code and what became of each workspace."""
    ran = project.gt("worktree", "clean", "--json", *arguments)
    return ran.code, {one["name"]: one for one in json.loads(ran.out)["workspaces"]}


def test_workspaces_are_listed_with_their_tasks(project: RunProject) -> None:
    assert project.ok("worktree", "list") == ""
    make_working(project)
    listed = json.loads(project.ok("worktree", "list", "--json"))["workspaces"]
    assert listed == [
        {
            "name": "k7f2",
            "path": str(project.workspace()),
            "branch": "gitticks/work/k7f2",
            "head": git("rev-parse", "gitticks/work/k7f2", at=project.path),
            "live": False,
            "status": "working",
        }
    ]
    assert "working" in project.ok("worktree", "list")


def test_only_those_of_closed_tasks_go(project: RunProject) -> None:
    make_working(project, "aaaa")
    make_working(project, "bbbb")
    project.change("bbbb", status=Status.CANCELLED)
    code, gone = cleaned(project)
    assert (code, list(gone)) == (0, ["bbbb"])
    assert project.workspace("aaaa").exists()
    assert not project.workspace("bbbb").exists()
    assert git("branch", "--list", "gitticks/work/bbbb", at=project.path) != ""


def test_one_that_is_named_goes_though_its_task_is_open(project: RunProject) -> None:
    make_working(project)
    assert cleaned(project, "k7f2")[0] == 0
    assert not project.workspace().exists()
    assert project.gt("worktree", "clean", "k7f2").code == 1


def test_uncommitted_work_stays_or_is_kept_under_a_ref(project: RunProject) -> None:
    make_working(project)
    (project.workspace() / "draft.txt").write_text("mine\n")
    code, left = cleaned(project, "k7f2")
    assert code == 1
    assert "draft.txt" in (left["k7f2"]["problem"] or "")
    assert (project.workspace() / "draft.txt").read_text() == "mine\n"
    code, gone = cleaned(project, "k7f2", "--force")
    assert (code, gone["k7f2"]["rescued"]) == (0, "refs/gitticks/rescued/k7f2")
    assert git("show", "refs/gitticks/rescued/k7f2:draft.txt", at=project.path) == "mine"


def test_one_that_an_agent_works_in_is_never_removed(project: RunProject) -> None:
    up = project.path.parent / "up"
    project.agent(f'touch "{up}"; sleep 600')
    project.make()
    with project.running() as process:
        until(up.exists)
        assert "live" in project.ok("worktree", "list")
        code, left = cleaned(project, "k7f2", "--force")
        assert (code, left["k7f2"]["problem"]) == (1, "an agent is working in it: `gt stop k7f2`")
        project.ok("stop", "k7f2")
        process.wait(LONGEST_SECONDS)
    assert project.workspace().exists()


def test_an_agent_cannot_remove_workspaces(project: RunProject) -> None:
    make_working(project)
    assert project.gt("worktree", "clean", "k7f2", environment={"GITTICKS_AGENT": "1"}).code == 3


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
    project.ok("approve", "k7f2")
    assert project.merges() == ["k7f2"]
    assert project.task("k7f2").claim is None


def test_work_by_hand_in_the_persons_own_checkout_is_handed_off_with_its_commits(project: RunProject) -> None:
    project.settings("review: none\nisolation: none\n")
    project.make()
    project.ok("start", "k7f2")
    mine = commit_file(project.path, "mine.txt", "x\n")
    project.ok("handoff", "k7f2", "it")
    project.ok("complete", "k7f2")
    assert project.task("k7f2").end_sha == mine
    assert "1 file, +1" in project.ok("review", "k7f2", "--stat")
    commit_file(project.path, "other.txt", "x\n")
    project.ok("approve", "k7f2")
    assert (project.stands(), project.task("k7f2").end_sha) == ((Status.DONE, None), mine)


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


@pytest.mark.parametrize("way", ["answered", "rejected", "failed"])
def test_what_comes_back_is_its_persons_until_they_leave_it_to_agents(project: RunProject, way: str) -> None:
    project.settings("review: agent\n" if way == "failed" else "review: none\n")
    project.make()
    project.ok("start", "k7f2")
    workspace = project.workspace()
    if way == "answered":
        project.ok("ask", "Which tone?", at=workspace)
        back = project.ok("respond", "k7f2", "friendly")
    else:
        commit_file(workspace, "hers.txt", "x\n")
        project.ok("handoff", "--done", "it", at=workspace)
        project.ok("complete", at=workspace)
        back = project.ok("reject", "k7f2", "no") if way == "rejected" else "back to Ada"
    assert "back to Ada" in back
    if way == "failed":
        project.agent("gt review FAIL")
        assert project.run().code == RunExit.DONE
    project.agent("git add -A; git commit -qm work; gt handoff --done it")
    (workspace / "wip.txt").write_text("x\n")
    assert project.run().code == RunExit.DONE
    assert project.stands() == (Status.WORKING, None)
    assert "by hand" in project.ok("current")
    assert "wip.txt" not in project.files("gitticks/work/k7f2")
    assert project.ok("update", "k7f2", "--awaiting=null") == "k7f2  left to agents\n"
    project.run()
    assert "wip.txt" in project.files("gitticks/work/k7f2")


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
    assert (ran.code, ran.err) == (0, f"\nhint: this folder was removed: `cd {project.path}`\n")
    assert not workspace.exists()
    assert git("branch", "--list", "gitticks/work/*", at=project.path) == ""
    assert project.merges() == ["k7f2"]
