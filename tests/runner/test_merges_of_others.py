"""Work that came to the base with another task's work: that is no verdict on it."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitticks.model.event import EventType
from gitticks.model.status import ActorKind, Awaiting, Status
from tests.runner.merges import approve, head, merge
from tests.support.projects import make_reviewing
from tests.support.repositories import commit_file, git
from tests.support.runs import RunProject, project

__all__ = ["project"]

OTHER = "m3q8"
AGENT = ("-c", "user.name=w (gitticks agent)", "-c", "user.email=w@gitticks.localhost")
STRATEGIES = ["merge", "squash", "rebase"]


def take_in(how: str, workspace: Path, work: str) -> None:
    """Lets the agent of another task bring work to its own branch, or claim that it did, and perhaps undo it."""
    git("reset", "-q", "--hard", "main", at=workspace)
    message = "work"
    match how.removesuffix(", undone"):
        case "merge":
            commit_file(workspace, "before.txt", "before\n")
            git(*AGENT, "merge", "-q", "--no-edit", work, at=workspace)
        case "pick":
            git(*AGENT, "cherry-pick", work, at=workspace)
        case "claim":
            message = f"work\n\nTask: k7f2\nHead: {work}"
        case "claim above scissors":
            message = f"work\n\nTask: k7f2\nHead: {work}\n\n# {'-' * 24} >8 {'-' * 24}\nmore"
    if how.endswith("undone"):
        git("rm", "-q", "login.txt", at=workspace)
        git(*AGENT, "commit", "-q", "-m", "no login", at=workspace)
    (workspace / "other.txt").write_text("other\n")
    git("add", "-A", at=workspace)
    git(*AGENT, "commit", "-q", "--cleanup=verbatim", "-m", message, at=workspace)


def make_both(project: RunProject, how: str, strategy: str = "merge") -> str:
    """Makes a task that awaits a person, and another one with its work in it; returns the head of the first."""
    make_reviewing(project, requires="approval", awaiting=Awaiting.APPROVAL)
    work = head(project, "gitticks/work/k7f2")
    project.settings(f"merge: {{strategy: {strategy}}}\n")
    workspace = make_reviewing(project, OTHER)
    take_in(how, workspace, work)
    project.change(OTHER, end_sha=git("rev-parse", "HEAD", at=workspace))
    return work


def assert_asked(project: RunProject, words: str) -> None:
    task = project.task("k7f2")
    assert (task.status, task.awaiting) == (Status.REVIEWING, Awaiting.ESCALATION)
    assert words in " ".join(project.ok("inbox").split())
    assert project.last(EventType.MERGED).actor.kind is ActorKind.ENGINE
    assert project.workspace().is_dir()
    assert "`k7f2` is left over" not in project.gt("doctor").seen


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("how", ["claim", "claim above scissors"])
def test_a_claim_of_another_tasks_agent_is_nothing(project: RunProject, how: str, strategy: str) -> None:
    make_both(project, how, strategy)
    approve(project, OTHER)
    merge(project, OTHER)
    assert project.stands(OTHER) == (Status.DONE, None)
    project.ok("list")
    assert project.stands() == (Status.REVIEWING, Awaiting.APPROVAL)


@pytest.mark.parametrize(
    ("how", "strategy"),
    [
        ("merge", "merge"),
        ("merge", "rebase"),
        ("merge, undone", "merge"),
        ("pick", "merge"),
        ("pick", "rebase"),
        ("pick, undone", "merge"),
        ("pick, undone", "rebase"),
    ],
)
def test_what_came_in_with_another_task_is_asked_about(project: RunProject, how: str, strategy: str) -> None:
    make_both(project, how, strategy)
    approve(project, OTHER)
    merge(project, OTHER)
    project.ok("list")
    assert_asked(project, f"with `{OTHER}`{' and was undone since' if 'undone' in how else ''}")


@pytest.mark.parametrize("how", ["merge", "pick, undone"])
def test_what_was_squashed_with_another_task_stays(project: RunProject, how: str) -> None:
    make_both(project, how, "squash")
    approve(project, OTHER)
    merge(project, OTHER)
    project.ok("list")
    assert project.stands() == (Status.REVIEWING, Awaiting.APPROVAL)


@pytest.mark.parametrize("how", ["merge", "merge, undone", "pick, undone"])
def test_approved_work_that_came_in_with_another_task_is_not_lost(project: RunProject, how: str) -> None:
    make_both(project, how)
    approve(project, OTHER)
    approve(project, "k7f2")
    merge(project, OTHER)
    project.ok("list")
    merge(project)
    if how == "pick, undone":
        assert project.stands() == (Status.DONE, None)
        assert "login.txt" in project.files()
    else:
        assert_asked(project, f"with `{OTHER}`")


def test_a_person_who_was_asked_about_it_can_approve_it(project: RunProject) -> None:
    make_both(project, "merge")
    approve(project, OTHER)
    merge(project, OTHER)
    project.ok("list")
    project.change("k7f2", awaiting=Awaiting.APPROVAL)
    approve(project, "k7f2")
    merge(project)
    assert project.stands() == (Status.DONE, None)


@pytest.mark.parametrize("how", ["merge", "fast-forward", "one by one"])
def test_a_person_who_merges_another_task_gives_no_verdict_on_this_one(project: RunProject, how: str) -> None:
    make_both(project, "pick" if how == "one by one" else "merge")
    branch = f"gitticks/work/{OTHER}"
    if how == "one by one":
        commit_file(project.path, "between.txt", "between\n")
        git("cherry-pick", f"main..{branch}", at=project.path)
    else:
        git("merge", "-q", "--no-edit", *(["--no-ff"] if how == "merge" else []), branch, at=project.path)
    project.ok("list")
    assert project.stands(OTHER) == (Status.DONE, None)
    assert_asked(project, "by w (gitticks agent)" if how == "fast-forward" else f"with `{OTHER}`")


def test_work_that_a_person_merged_and_undid_is_asked_about(project: RunProject) -> None:
    make_reviewing(project)
    git("merge", "-q", "--no-ff", "--no-edit", "gitticks/work/k7f2", at=project.path)
    git("revert", "--no-edit", "-m1", "HEAD", at=project.path)
    project.ok("list")
    assert_asked(project, "and was undone since")


def test_a_fast_forward_is_of_whoever_made_it(project: RunProject) -> None:
    make_reviewing(project)
    git("-c", "user.name=Grace", "merge", "-q", "gitticks/work/k7f2", at=project.path)
    project.ok("list")
    assert project.stands() == (Status.DONE, None)
    assert project.last(EventType.MERGED).actor.name == "Grace"


def test_a_fast_forward_of_which_nothing_says_whose_it_was_is_asked_about(project: RunProject) -> None:
    make_reviewing(project)
    git("reset", "-q", "--hard", "gitticks/work/k7f2", at=project.path)
    project.ok("list")
    assert_asked(project, "though it was reviewing")


def test_of_two_tasks_with_the_same_change_the_one_whose_branch_is_merged_is_done(
    project: RunProject,
) -> None:
    work = make_both(project, "claim")
    workspace = project.workspace(OTHER)
    git("reset", "-q", "--hard", "main", at=workspace)
    git("cherry-pick", work, at=workspace)
    git("commit", "-q", "--amend", "-m", "the same", at=workspace)
    project.change(OTHER, end_sha=head(project, f"gitticks/work/{OTHER}"))
    git("merge", "-q", "--no-ff", "--no-edit", f"gitticks/work/{OTHER}", at=project.path)
    project.ok("list")
    assert project.stands(OTHER) == (Status.DONE, None)
    assert_asked(project, f"with `{OTHER}`")


def test_each_branch_that_a_person_merges_counts_for_its_own_task(project: RunProject) -> None:
    make_both(project, "merge")
    for branch in ("k7f2", OTHER):
        git("merge", "-q", "--no-ff", "--no-edit", f"gitticks/work/{branch}", at=project.path)
    project.ok("list")
    assert (project.stands(), project.stands(OTHER)) == ((Status.DONE, None), (Status.DONE, None))


def test_a_branch_on_which_a_person_gathered_several_counts_for_each(project: RunProject) -> None:
    make_reviewing(project)
    workspace = make_reviewing(project, OTHER)
    git("reset", "-q", "--hard", "main", at=workspace)
    project.change(OTHER, end_sha=commit_file(workspace, "other.txt", "other\n"))
    git("checkout", "-qb", "gathered", at=project.path)
    git("merge", "-q", "--no-ff", "--no-edit", "gitticks/work/k7f2", at=project.path)
    git("merge", "-q", "--no-ff", "--no-edit", f"gitticks/work/{OTHER}", at=project.path)
    git("checkout", "-q", "main", at=project.path)
    git("merge", "-q", "--no-ff", "--no-edit", "gathered", at=project.path)
    project.ok("list")
    assert (project.stands(), project.stands(OTHER)) == ((Status.DONE, None), (Status.DONE, None))
