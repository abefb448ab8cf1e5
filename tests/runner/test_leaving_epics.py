"""Tasks that leave an epic with one workspace, or outlive it: their code is merged once, and never left without a word."""

from __future__ import annotations

import pytest

from gitticks.model.ids import TaskId
from gitticks.model.status import Awaiting, Status
from gitticks.runner.records import Sessions
from tests.runner.test_parallel_epics import WAIT, is_up, let_go, make_epics
from tests.support.records import make_record
from tests.support.repositories import commit_file, git
from tests.support.runs import DONE, NO_PERSON, NO_REVIEW, RunProject, project
from tests.support.waiting import LONGEST_SECONDS, until

__all__ = ["project"]

_FIRST_ASKS = f"""\
if [ "$GITTICKS_TASK" = aaa3 ] && ! grep -q go "$GITTICKS_MAILBOX/TASK.md"; then
  echo '<promise>INPUT_NEEDED: Which?</promise>'
  exit
fi
ls > "{{folder}}/ls-$GITTICKS_TASK"
cat "$GITTICKS_MAILBOX/prompt.md" > "{{folder}}/prompt-$GITTICKS_TASK"
{DONE}"""


def make_two_children(project: RunProject) -> None:
    """Runs an epic with one workspace, which waits for approval, until one task of it is done and one has asked."""
    project.settings(f"{NO_REVIEW}human: when-required\nisolation: epic\n")
    project.agent(_FIRST_ASKS.replace("{folder}", str(project.path.parent)))
    project.make("aaaa", type="epic", requires="approval")
    project.make("aaa2", parent="aaaa", priority=1)
    project.make("aaa3", parent="aaaa")
    assert project.run().code == 3
    assert project.task("aaa3").branch == "gitticks/work/aaaa"
    assert (project.task("aaa2").carrier, project.task("aaa3").awaiting) == ("aaaa", Awaiting.INPUT)


def test_who_leaves_an_epic_starts_over_and_takes_none_of_its_work_along(project: RunProject) -> None:
    make_two_children(project)
    project.ok("update", "aaa3", "--parent", "null")
    project.ok("respond", "aaa3", "go")
    project.run()
    assert project.task("aaa3").branch == "gitticks/work/aaa3"
    assert project.stands("aaa3") == (Status.DONE, None)
    assert project.stands("aaaa") == (Status.REVIEWING, Awaiting.APPROVAL)
    assert project.merges() == ["aaa3"]
    assert "aaa2.txt" not in project.files("main")
    prompt = (project.path.parent / "prompt-aaa3").read_text()
    assert (
        "work on it began on `gitticks/work/aaaa`, the branch of an epic that it is no longer part of"
        in prompt
    )


def test_who_moves_to_another_epic_is_merged_with_that(project: RunProject) -> None:
    make_two_children(project)
    project.make("bbbb", type="epic", requires="approval")
    project.ok("update", "aaa3", "--parent", "bbbb")
    project.ok("respond", "aaa3", "go")
    project.run()
    assert (project.task("aaa3").branch, project.task("aaa3").carrier) == ("gitticks/work/bbbb", "bbbb")
    project.ok("approve", "bbbb")
    assert "aaa3.txt" in project.files("main")
    assert "aaa2.txt" not in project.files("main")
    project.ok("approve", "aaaa")
    assert sorted(project.merges()) == ["aaaa", "bbbb"]


def test_what_is_handed_off_on_the_branch_of_an_epic_stays_part_of_it(project: RunProject) -> None:
    make_two_children(project)
    project.ok("config", "human", "always")
    project.ok("respond", "aaa3", "go")
    project.run()
    assert project.stands("aaa3") == (Status.REVIEWING, Awaiting.REVIEW)
    refused = project.gt("update", "aaa3", "--parent", "null")
    assert refused.code == 3
    assert "the work of `aaa3` is handed off on the branch of `aaaa`, with which it is merged" in refused.err
    project.ok("reject", "aaa3", "by itself")
    project.ok("update", "aaa3", "--parent", "null")
    project.run()
    project.ok("approve", "aaa3")
    assert project.merges() == ["aaa3"]
    assert "aaa2.txt" not in project.files("main")


def test_what_was_begun_in_an_epic_that_is_cancelled_is_merged_by_itself(project: RunProject) -> None:
    make_two_children(project)
    cancelled = project.gt("cancel", "aaaa")
    assert "warning: the code of `aaa2` is on `gitticks/work/aaaa` alone" in cancelled.err
    assert "`git merge gitticks/work/aaaa` brings it into main" in cancelled.err
    project.ok("respond", "aaa3", "go")
    project.run("aaa3")
    assert project.stands("aaa3") == (Status.DONE, None)
    assert project.merges() == ["aaa3"]
    assert "aaa2.txt" not in project.files("main")


def test_a_merge_by_hand_closes_no_epic_with_open_children(project: RunProject) -> None:
    make_two_children(project)
    project.ok("update", "aaaa", "--awaiting", "work")
    git("merge", "--quiet", "--no-ff", "--no-edit", "gitticks/work/aaaa", at=project.path)
    project.ok("status")
    assert project.stands("aaaa") == (Status.WORKING, Awaiting.ESCALATION)
    assert "though it has open children: `aaa3`" in project.ok("log", "aaaa")
    refused = project.gt("close", "aaaa")
    assert (refused.code, "close them first: `gt close aaa3`" in refused.err) == (3, True), refused.seen
    project.ok("respond", "aaaa", "go on")
    project.ok("respond", "aaa3", "go")
    project.run()
    project.ok("approve", "aaaa")
    assert project.stands("aaaa") == (Status.DONE, None)
    assert {"aaa2.txt", "aaa3.txt"} <= set(project.files("main"))


def test_what_waits_for_code_of_a_cancelled_epic_does_not_start_without_it(project: RunProject) -> None:
    make_two_children(project)
    project.make("bbbb", blocked_by=("aaa2",))
    project.ok("update", "aaaa", "--awaiting", "escalation")
    rejected = project.gt("reject", "aaaa", "not like this")
    assert project.stands("aaaa") == (Status.CANCELLED, None)
    assert "warning: the code of `aaa2` is on `gitticks/work/aaaa` alone" in rejected.err
    refused = project.run("bbbb")
    assert project.stands("bbbb") == (Status.PENDING, None)
    waits = "`bbbb` waits for the code of `aaa2`: it is on `gitticks/work/aaaa` alone, whose epic `aaaa` is cancelled"
    assert waits in refused.seen
    git("merge", "--quiet", "--no-edit", "gitticks/work/aaaa", at=project.path)
    project.run("bbbb")
    assert project.stands("bbbb") == (Status.DONE, None)
    assert {"aaa2.txt", "bbbb.txt"} <= set(project.files("main"))


def test_an_epic_is_merged_with_what_its_cancelled_task_committed(project: RunProject) -> None:
    make_two_children(project)
    commit_file(project.path / ".gitticks-work/aaaa", "half.txt", "half\n")
    cancelled = project.gt("cancel", "aaa3")
    assert "warning: its commits stay on the branch of `aaaa` and are merged with it" in cancelled.err
    assert project.stands("aaaa") == (Status.REVIEWING, Awaiting.APPROVAL)
    assert "2 files, +2" in project.ok("review", "aaaa", "--stat")
    project.run()
    project.ok("approve", "aaaa")
    assert project.merges() == ["aaaa"]
    assert {"aaa2.txt", "half.txt"} <= set(project.files("main"))


@pytest.mark.parametrize("mode", ["queue", "manual"])
def test_an_epic_is_merged_with_what_a_cancelled_task_alone_committed(project: RunProject, mode: str) -> None:
    project.settings(f"{NO_REVIEW}isolation: epic\nmerge: {{mode: {mode}}}\n")
    make_epics(project, "aaaa")
    project.ok("start", "aaa2")
    commit_file(project.path / ".gitticks-work/aaaa", "half.txt", "half\n")
    project.ok("cancel", "aaa2")
    assert "1 file, +1" in project.ok("review", "aaaa", "--stat")
    project.ok("approve", "aaaa")
    if mode == "manual":
        git("merge", "--quiet", "--no-ff", "--no-edit", "gitticks/work/aaaa", at=project.path)
        project.ok("status")
    assert project.stands("aaaa") == (Status.DONE, None)
    assert "half.txt" in project.files("main")


def test_what_is_handed_off_when_its_epic_is_cancelled_is_named(project: RunProject) -> None:
    make_two_children(project)
    project.ok("config", "human", "always")
    project.ok("respond", "aaa3", "go")
    project.run()
    cancelled = project.gt("cancel", "aaaa")
    assert "warning: `aaa3` is handed off on `gitticks/work/aaaa`, which is merged no more" in cancelled.err
    for verb in ("approve", "close"):
        refused = project.gt(verb, "aaa3")
        assert refused.code == 3
        assert "is on the branch of the epic `aaaa`, with which it is merged no more" in refused.err
    project.ok("reject", "aaa3", "by itself")
    project.run("aaa3")
    project.ok("approve", "aaa3")
    assert project.merges() == ["aaa3"]
    assert "aaa2.txt" not in project.files("main")


@pytest.mark.parametrize("leaving", [("cancel", "aaaa"), ("edit",)])
def test_what_is_handed_off_after_it_left_its_epic_starts_over(
    project: RunProject, leaving: tuple[str, ...]
) -> None:
    project.settings(f"isolation: epic\n{NO_PERSON}")
    make_epics(project, "aaaa")
    with project.running("aaa2") as process:
        until(lambda: is_up(project, "aaa2"), "the agent")
        refused = project.gt("update", "aaa2", "--parent", "null")
        assert "`gt stop aaa2` stops it first" in refused.err
        if leaving == ("edit",):
            file = project.path / project.task("aaa2").file
            file.write_text(file.read_text().replace("parent: aaaa\n", ""))
        project.ok(*(("watch", "--once") if leaving == ("edit",) else leaving))
        let_go(project, "aaa2")
        out, _ = process.communicate(timeout=LONGEST_SECONDS)
    assert project.stands("aaa2") == (Status.DONE, None), out
    assert (project.task("aaa2").branch, project.merges()) == ("gitticks/work/aaa2", ["aaa2"])
    assert "it was on the branch of aaaa, with which it is merged no more" in project.ok("log", "aaa2")


def test_a_workspace_that_is_there_gets_the_code_of_blockers(project: RunProject) -> None:
    make_two_children(project)
    project.make("x2xx")
    project.make("aaa4", parent="aaaa", blocked_by=("x2xx",))
    project.ok("block", "aaa3", "x2xx")
    project.ok("respond", "aaa3", "go")
    project.run()
    for task_id in ("aaa3", "aaa4"):
        assert "x2xx.txt" in (project.path.parent / f"ls-{task_id}").read_text().split()
    project.ok("approve", "aaaa")
    assert {"aaa2.txt", "aaa3.txt", "aaa4.txt", "x2xx.txt"} <= set(project.files("main"))


def test_a_reopened_epic_goes_on_and_its_old_merge_is_no_merge_by_hand(project: RunProject) -> None:
    project.settings(f"isolation: epic\n{NO_PERSON}")
    project.agent(DONE)
    project.make("aaaa", type="epic", requires="approval")
    project.make("aaa2", parent="aaaa")
    project.run()
    project.ok("approve", "aaaa")
    project.ok("reopen", "aaaa")
    assert "merged by hand" not in project.ok("status")
    project.make("aaa3", parent="aaaa")
    ran = project.run()
    assert "has been merged" not in ran.seen
    assert project.task("aaaa").awaiting is Awaiting.APPROVAL, ran.seen
    assert "merged into main" in project.ok("approve", "aaaa")
    assert "aaa3.txt" in git("ls-tree", "--name-only", "main", at=project.path)


def test_what_was_merged_with_an_epic_is_not_merged_again_when_that_is_reopened(project: RunProject) -> None:
    project.settings(f"isolation: epic\nmerge: {{strategy: squash}}\n{NO_PERSON}")
    project.agent(f'case $GITTICKS_TASK in aaa*) echo "$GITTICKS_TASK" > same.txt; esac\n{DONE}')
    project.make("aaaa", type="epic", requires="approval")
    project.make("aaa2", parent="aaaa")
    project.make("aaa3", parent="aaaa", blocked_by=("aaa2",))
    project.make("bbbb", blocked_by=("aaa2",))
    project.run()
    project.ok("approve", "aaaa")
    project.make("aaa4", parent="aaaa")
    project.change("aaaa", blocked_by=(TaskId("bbbb"),))
    merge = project.task("aaaa").merged_sha
    project.ok("reopen", "aaaa")
    assert {project.task(one).merged_sha for one in ("aaa2", "aaa3")} == {merge}
    assert "bbbb" in project.ok("ready")
    ran = project.run()
    assert project.stands("aaaa") == (Status.REVIEWING, Awaiting.APPROVAL), ran.seen
    assert "2 files, +2 -1" in project.ok("review", "aaaa", "--stat")
    assert "merged into main" in project.ok("approve", "aaaa")
    assert sorted(project.merges()) == ["aaaa", "aaaa", "bbbb"]
    assert git("show", "main:same.txt", at=project.path) == "aaa4"


def test_a_task_that_is_done_stays_in_the_epic_that_its_code_is_merged_with(project: RunProject) -> None:
    make_two_children(project)
    refused = project.gt("update", "aaa2", "--parent", "null")
    assert refused.code == 3
    assert "hint: move it once `aaaa` is merged" in refused.err
    file = (
        project.path / project.task("aaa2").file
    )  # as from another clone, which has not seen that it is done
    file.write_text(file.read_text().replace("parent: aaaa\n", ""))
    git("commit", "-qanm", "moved", at=project.path / ".gitticks")
    assert (project.task("aaa2").parent, project.task("aaa2").carrier) == (None, "aaaa")
    project.ok("cancel", "aaa3")
    project.ok("approve", "aaaa")
    assert project.merges() == ["aaaa"]
    assert "aaa2.txt" in project.files("main")


@pytest.mark.parametrize("leaving", [("cancel", "aaaa"), ("update", "aaa2", "--parent", "null")])
def test_work_by_hand_on_the_branch_of_an_epic_that_it_left_is_not_closed_unmerged(
    project: RunProject, leaving: tuple[str, ...]
) -> None:
    project.settings("isolation: epic\n")
    make_epics(project, "aaaa")
    project.make("aaa3", parent="aaaa")
    workspace = project.path / ".gitticks-work/aaaa"
    assert str(workspace) in project.ok("start", "aaa2")
    commit_file(workspace, "mine.txt", "mine\n")
    left = project.gt(*leaving)
    said = "`aaa2` was begun on" if leaving[0] == "cancel" else "its commits stay on the branch of `aaaa`"
    assert said in left.err
    refused = project.gt("close", "aaa2")
    assert refused.code == 3
    assert "`gt start aaa2` begins on a branch of its own" in refused.err
    project.ok("start", "aaa2")
    git("cherry-pick", "gitticks/work/aaaa", at=project.path / ".gitticks-work/aaa2")
    project.ok("close", "aaa2")
    assert "mine.txt" in project.files("main")


def test_the_commits_of_a_task_that_left_are_no_merge_of_its_epic(project: RunProject) -> None:
    project.settings(f"{NO_PERSON}isolation: epic\n")
    make_epics(project, "aaaa")
    project.make("aaa3", parent="aaaa")
    project.ok("start", "aaa2")
    commit_file(project.path / ".gitticks-work/aaaa", "mine.txt", "mine\n")
    project.ok("update", "aaa2", "--parent", "null")
    project.ok("start", "aaa2")
    git("cherry-pick", "gitticks/work/aaaa", at=project.path / ".gitticks-work/aaa2")
    project.ok("close", "aaa2")
    assert project.merges() == ["aaa2"]
    project.ok("list")
    assert project.stands("aaaa") == (Status.WORKING, None)


def test_an_epic_waits_for_an_agent_in_its_workspace_whose_task_left(project: RunProject) -> None:
    make_two_children(project)
    project.agent(WAIT.format(folder=project.path.parent) + DONE)
    project.ok("respond", "aaa3", "go")
    with project.running("aaa3") as process:
        until(lambda: is_up(project, "aaa3"), "the agent")
        file = project.path / project.task("aaa3").file
        file.write_text(file.read_text().replace("parent: aaaa\n", ""))
        project.ok("watch", "--once")
        project.ok("approve", "aaaa")
        until(lambda: "an agent is at work on `aaa3`" in project.ok("status"), "the merge that waits")
        assert (project.path / ".gitticks-work/aaaa").exists()
        let_go(project, "aaa3")
        out, _ = process.communicate(timeout=LONGEST_SECONDS)
    assert project.stands("aaa3") == (Status.DONE, None), out


def test_an_epic_waits_for_an_agent_whose_task_was_cancelled_under_it(project: RunProject) -> None:
    make_two_children(project)
    project.ok("update", "aaa3", "--status", "cancelled")
    with Sessions(project.path / ".git/gitticks").hold(make_record("aaa3")):
        assert "the merge waits: an agent is at work on `aaa3`" in project.gt("approve", "aaaa").out
    project.run()
    assert project.merges() == ["aaaa"]


def test_what_is_below_an_epic_that_is_closed_is_no_part_of_one_above(project: RunProject) -> None:
    make_two_children(project)
    project.make("bbbb", type="epic", parent="aaaa", blocked_by=("aaa2",))
    project.make("bbb2", parent="bbbb")
    project.make("bbb3", parent="bbbb", blocked_by=("aaa2",))
    project.ok("update", "aaa3", "--parent", "bbbb")
    project.ok("cancel", "bbbb")
    project.ok("respond", "aaa3", "go")
    project.run()
    assert sorted(project.merges()) == ["aaa3", "bbb2"]
    assert project.stands("aaaa") == (Status.REVIEWING, Awaiting.APPROVAL)
    assert "after aaaa" in project.ok("show", "bbb3")
    project.ok("approve", "aaaa")
    project.run()
    assert sorted(project.merges()) == ["aaa3", "aaaa", "bbb2", "bbb3"]


def test_a_task_of_an_epic_below_says_that_its_blocker_is_merged_with_the_epic_above(
    project: RunProject,
) -> None:
    make_two_children(project)
    project.make("bbbb", type="epic", parent="aaaa")
    project.make("bbb2", parent="bbbb", blocked_by=("aaa2",))
    refused = project.run("bbb2")
    assert "it is merged with `aaaa`, which waits for `bbb2`" in refused.seen
    assert "`gt update bbb2 --parent aaaa --isolation epic`" in refused.seen
    project.ok("update", "bbb2", "--parent", "aaaa", "--isolation", "epic")
    project.run("bbb2")
    assert project.stands("bbb2") == (Status.DONE, None)


@pytest.mark.parametrize("goes_on", [False, True])
def test_what_a_task_that_left_its_epic_did_not_commit_is_named(
    project: RunProject, *, goes_on: bool
) -> None:
    project.settings("isolation: epic\n")
    make_epics(project, "aaaa")
    project.make("aaa3", parent="aaaa")
    project.ok("start", "aaa2")
    workspace = project.path / ".gitticks-work/aaaa"
    (workspace / "half.txt").write_text("half\n")
    project.ok("update", "aaa2", "--parent", "null")
    if goes_on:
        project.ok("start", "aaa3")
    said = project.gt("start", "aaa2").err
    assert (f"what was not committed is in `{workspace}`" in said) is not goes_on
    assert ("earlier uncommitted work on it is kept at `refs/gitticks/partial/aaa2`" in said) is goes_on
    assert (workspace / "half.txt").exists() is not goes_on
