"""`gt merge`: in the foreground what a run would merge."""

from __future__ import annotations

import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from gitticks.actions.context import Context
from gitticks.actions.run import merge_each, merge_task, merged_words, only_run, try_out
from gitticks.git.locks import hold_lock
from gitticks.git.repository import discover
from gitticks.model.ids import TaskId
from gitticks.model.status import Awaiting, Status
from gitticks.runner.events import MergeWaits, RunEvent, TaskMerged
from gitticks.runner.liveness import Holds, is_run_alive_at
from gitticks.runner.shared_base import MERGE_LOCK
from tests.support.projects import make_reviewing
from tests.support.repositories import commit_file, git
from tests.support.runs import RunProject, project
from tests.support.waiting import until

__all__ = ["project"]


def approved(project: RunProject, task_id: str = "k7f2", name: str = "") -> None:
    """Makes a task that is approved and not merged."""
    workspace = make_reviewing(project, task_id)
    if name:
        git("mv", "login.txt", name, at=workspace)
        git("commit", "--quiet", "--amend", "-m", "work", at=workspace)
    project.change(task_id, end_sha=git("rev-parse", "HEAD", at=workspace))
    project.ok("approve", task_id, "--no-wait")


def test_nothing_to_merge_is_no_error(project: RunProject) -> None:
    ran = project.gt("merge")
    assert (ran.code, ran.out) == (0, "")
    assert "no approved task is waiting" in ran.err


def test_all_that_is_approved_is_merged(project: RunProject) -> None:
    approved(project, "aaaa", "a.txt")
    approved(project, "bbbb", "b.txt")
    assert project.gt("merge").code == 0
    assert project.merges() == ["bbbb", "aaaa"]


def test_one_that_is_named_is_merged(project: RunProject) -> None:
    approved(project, "aaaa", "a.txt")
    approved(project, "bbbb", "b.txt")
    said = json.loads(project.ok("merge", "bbbb", "--json"))["merges"]
    sha = git("rev-parse", "main", at=project.path)
    assert said == [{"id": "bbbb", "done": True, "sha": sha, "waits": None, "pr": None}]
    assert project.task("aaaa").is_merging


def test_what_conflicts_goes_back(project: RunProject) -> None:
    approved(project)
    commit_file(project.path, "login.txt", "mine\n")
    ran = project.gt("merge", "k7f2")
    assert ran.code == 1
    assert "conflicts with main in login.txt" in ran.out
    assert project.stands() == (Status.WORKING, None)


def test_a_merge_that_waits_is_reported(project: RunProject) -> None:
    approved(project)
    (project.path / "login.txt").write_text("mine\n")
    ran = project.gt("merge")
    assert ran.code == 1
    assert "merge waits: your uncommitted changes" in ran.out
    context = Context(directory=project.path)
    ((task_id, result),) = merge_each(context, [], lambda _: None).items()
    assert (task_id, result.sha) == ("k7f2", None)


def test_one_that_cannot_be_merged_does_not_keep_the_next_from_it(project: RunProject) -> None:
    approved(project, "aaaa", "a.txt")
    approved(project, "bbbb", "b.txt")
    project.change("aaaa", base="gone")
    for words in ((), ("aaaa", "bbbb")):
        ran = project.gt("merge", *words)
        assert ran.code == 1
        assert "aaaa  merge waits: " in ran.out
    assert project.merges() == ["bbbb"]
    assert "aaaa  merge waits: the base branch `gone`" in project.gt("inbox").out


def test_a_dry_run_says_what_would_conflict_and_changes_nothing(project: RunProject) -> None:
    project.make()
    assert project.gt("merge", "--dry-run").err == "no approved task is waiting to be merged\n"
    approved(project)
    tip = project.tip()
    assert "k7f2  merges cleanly" in project.ok("merge", "--dry-run")
    commit_file(project.path, "login.txt", "mine\n")
    ran = project.gt("merge", "--dry-run", "k7f2")
    assert (ran.code, ran.out) == (1, "k7f2  conflicts in login.txt\n")
    assert project.tip() == tip
    assert try_out(Context(directory=project.path), [TaskId("k7f2")]) == {"k7f2": ("login.txt",)}


def test_a_dry_run_of_what_is_merged_with_its_epic_says_so(project: RunProject) -> None:
    project.make("ep1c", type="epic")
    make_reviewing(project, parent="ep1c", branch="gitticks/work/ep1c")
    refused = project.gt("merge", "--dry-run", "k7f2")
    assert refused.code == 3
    assert "its work is on the branch of the epic `ep1c`" in refused.err


def test_a_path_that_conflicts_steers_no_terminal(project: RunProject) -> None:
    approved(project, name="\x1b[31mred.txt")
    commit_file(project.path, "\x1b[31mred.txt", "mine\n")
    ran = project.gt("merge", "--dry-run", "k7f2")
    assert (ran.code, ran.out) == (1, "k7f2  conflicts in \\x1b[31mred.txt\n")


def test_what_is_not_approved_is_refused(project: RunProject) -> None:
    make_reviewing(project)
    assert project.gt("merge", "k7f2").code == 3
    assert project.stands() == (Status.REVIEWING, Awaiting.REVIEW)


def test_an_agent_cannot_merge(project: RunProject) -> None:
    approved(project)
    assert project.gt("merge", environment={"GITTICKS_AGENT": "1"}).code == 3
    assert project.task("k7f2").is_merging


def test_a_run_that_is_alive_merges_by_itself(project: RunProject) -> None:
    context = Context(directory=project.path)
    assert not is_run_alive_at(context.repository.own_place)
    with only_run(discover(project.path)):
        assert is_run_alive_at(context.repository.own_place)
        make_reviewing(project)
        assert "approved; merging" in project.ok("approve", "k7f2")
    assert project.task("k7f2").is_merging
    project.run()
    assert project.stands() == (Status.DONE, None)


@pytest.mark.parametrize("end", [Holds.ask_run_to_stop, partial(Holds.note_ending, is_ending=True)])
def test_what_is_approved_while_a_run_ends_is_merged_at_once(
    project: RunProject, end: Callable[[Holds], None]
) -> None:
    repository = discover(project.path)
    with only_run(repository):
        make_reviewing(project)
        end(Holds(repository.own_dir))
        assert "merged into main" in project.ok("approve", "k7f2")
        refused = project.gt("run", "k7f2")
        assert "a run is ending in this clone, and takes nothing more" in refused.err
    assert project.stands() == (Status.DONE, None)


def test_a_merge_that_follows_another_one_says_so(project: RunProject) -> None:
    approved(project)
    told: list[RunEvent] = []
    context = Context(directory=project.path)
    with ThreadPoolExecutor() as pool:
        with hold_lock(project.path / ".git/gitticks" / MERGE_LOCK):
            merged = pool.submit(merge_task, context, TaskId("k7f2"), told.append)
            until(lambda: bool(told), "the word that it waits")
        assert merged.result().is_done
    assert told[0] == MergeWaits(TaskId("k7f2"), "another merge is under way, and this one follows it")


def test_a_merge_that_another_command_made_meanwhile_is_no_error(project: RunProject) -> None:
    approved(project)
    told: list[RunEvent] = []
    context = Context(directory=project.path)
    merge_task(context, TaskId("k7f2"))
    again = merge_task(context, TaskId("k7f2"), told.append)
    sha = project.task("k7f2").merged_sha
    assert (again.is_done, again.sha) == (True, sha)
    assert told == [TaskMerged(TaskId("k7f2"), "main", str(sha), "")]
    assert f"k7f2  merged into main as {str(sha)[:7]}" in project.ok("merge", "k7f2")


def test_what_is_approved_is_not_stopped_but_taken_back(project: RunProject) -> None:
    approved(project)
    ran = project.gt("stop", "k7f2")
    assert ran.code == 3
    assert "hint: `gt update k7f2 --awaiting review` takes the approval back" in ran.err
    project.ok("update", "k7f2", "--awaiting", "review")
    assert project.stands() == (Status.REVIEWING, Awaiting.REVIEW)
    assert project.gt("merge", "k7f2").code == 3


def test_a_merge_does_not_wait_for_the_index(project: RunProject) -> None:
    approved(project)
    context = Context(directory=project.path)
    with context.index as index:
        assert index.task(TaskId("k7f2")).is_merging
    assert project.gt("merge", "k7f2").code == 0


def test_what_is_said_of_a_merge() -> None:
    sha = "91bd02e" + "0" * 33
    assert merged_words("main", sha, "") == "merged into main as 91bd02e"
    assert merged_words("main", sha, "tests pass (212 in 9 s)") == (
        "merged into main as 91bd02e, tests pass on the merge (212 in 9 s)"
    )
    assert merged_words("main", sha, "tests pass (2 s); build passes (1 s)") == (
        "merged into main as 91bd02e, tests pass on the merge (2 s); build passes (1 s)"
    )
