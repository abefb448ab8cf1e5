"""`gt worktree`: which workspaces there are, and which go."""

from __future__ import annotations

import json

from gitticks.model.status import Status
from tests.support.projects import make_working
from tests.support.repositories import git
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
        assert (code, left["k7f2"]["problem"]) == (1, "an agent works in it: `gt stop k7f2`")
        project.ok("stop", "k7f2")
        process.wait(LONGEST_SECONDS)
    assert project.workspace().exists()


def test_an_agent_cannot_remove_workspaces(project: RunProject) -> None:
    make_working(project)
    assert project.gt("worktree", "clean", "k7f2", environment={"GITTICKS_AGENT": "1"}).code == 3
