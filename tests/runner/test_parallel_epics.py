"""Epics side by side in one run, each in a workspace of its own: one is added, stopped, killed or merged alone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from gitticks.model.status import Awaiting, Status
from tests.support.repositories import commit_file, git
from tests.support.runs import DONE, NO_PERSON, NO_REVIEW, RunProject, project
from tests.support.tasks import task_ids
from tests.support.waiting import LONGEST_SECONDS, until

__all__ = ["project"]

EPICS = ("aaaa", "bbbb", "cccc")
WAIT = 'touch "{folder}/up-$GITTICKS_TASK"; until [ -e "{folder}/go-$GITTICKS_TASK" ]; do sleep 0.05; done\n'


def make_epics(project: RunProject, *epics: str) -> None:
    """Makes epics of one task each, `<epic>1`, whose agents wait to be let go."""
    project.agent(WAIT.format(folder=project.path.parent) + DONE)
    for epic in epics:
        project.make(epic, type="epic")
        project.make(f"{epic[:3]}2", parent=epic)


def is_up(project: RunProject, task_id: str) -> bool:
    """True once a task's agent is at work."""
    return (project.path.parent / f"up-{task_id}").exists()


def let_go(project: RunProject, *task_ids: str) -> None:
    """Lets agents go on."""
    for task_id in task_ids:
        (project.path.parent / f"go-{task_id}").touch()


def test_three_epics_work_side_by_side_and_each_is_merged_as_one(project: RunProject) -> None:
    project.settings(NO_PERSON)
    make_epics(project, *EPICS)
    with project.running(*EPICS, "--worktree", "--parallel", "3") as process:
        until(lambda: all(is_up(project, one) for one in ("aaa2", "bbb2", "ccc2")), "three agents at once")
        assert sorted(path.name for path in project.path.glob(".gitticks-work/????")) == [*EPICS]
        let_go(project, "aaa2", "bbb2", "ccc2")
        out, _ = process.communicate(timeout=LONGEST_SECONDS)
    assert process.returncode == 0, out
    assert {project.task(one).status for one in EPICS} == {Status.DONE}
    assert sorted(project.merges()) == sorted(EPICS)


def test_an_epic_is_added_to_the_run_that_is_alive(project: RunProject) -> None:
    project.settings(NO_PERSON)
    make_epics(project, "aaaa", "bbbb")
    with project.running("aaaa", "--worktree", "--parallel", "2") as process:
        until(lambda: is_up(project, "aaa2"), "the first epic")
        assert "added to the run" in project.ok("run", "--add", "bbbb")
        until(lambda: is_up(project, "bbb2"), "the added epic")
        let_go(project, "aaa2", "bbb2")
        out, _ = process.communicate(timeout=LONGEST_SECONDS)
    assert "added to the run: bbbb" in out
    assert [project.task(one).status for one in ("aaaa", "bbbb")] == [Status.DONE, Status.DONE]


def test_one_epic_is_stopped_and_the_other_goes_on(project: RunProject) -> None:
    project.settings(NO_PERSON)
    make_epics(project, "aaaa", "bbbb")
    with project.running("aaaa", "bbbb", "--worktree", "--parallel", "2") as process:
        until(lambda: is_up(project, "aaa2") and is_up(project, "bbb2"), "both")
        stopped = project.gt("stop", "aaaa").seen
        assert "aaa2 is being stopped" in stopped
        assert "`gt run --add aaaa` resumes it" in stopped
        let_go(project, "bbb2")
        out, _ = process.communicate(timeout=LONGEST_SECONDS)
    assert project.task("bbbb").status is Status.DONE, out
    assert project.task("aaa2").status is Status.WORKING
    project.agent(DONE)
    assert project.run("aaaa", "--worktree").code == 0
    assert project.task("aaaa").status is Status.DONE


def test_one_epic_ends_after_its_iteration(project: RunProject) -> None:
    project.settings(f"{NO_REVIEW}human: always\n")
    make_epics(project, "aaaa", "bbbb")
    project.make("aaa3", parent="aaaa")
    with project.running("aaaa", "bbbb", "--worktree", "--parallel", "2") as process:
        until(lambda: is_up(project, "aaa2") and is_up(project, "bbb2"), "both")
        assert "aaa2 ends after this iteration" in project.ok("stop", "aaaa", "--after-iteration")
        let_go(project, "aaa2", "bbb2")
        out, _ = process.communicate(timeout=LONGEST_SECONDS)
    assert project.task("aaa2").status is Status.REVIEWING, out
    assert project.task("aaa3").status is Status.PENDING
    assert "aaa2.txt" in git("ls-tree", "--name-only", "gitticks/work/aaaa", at=project.path)


def test_what_is_added_wants_a_run_and_an_id(project: RunProject) -> None:
    project.make()
    ran = project.gt("run", "--add", "k7f2")
    assert ran.code == 64
    assert "no run is active in this clone" in ran.err
    assert "`gt run k7f2` starts one" in ran.err
    assert "`--add` needs an ID" in project.gt("run", "--add").err
    assert (
        "`--add` cannot be used with `--parallel`"
        in project.gt("run", "--add", "k7f2", "--parallel", "2").err
    )


def test_an_epic_that_a_flag_gave_a_branch_is_merged_by_who_approves_it_later(project: RunProject) -> None:
    project.settings(f"{NO_REVIEW}human: when-required\n")
    project.agent(DONE)
    project.make("aaaa", type="epic", requires="approval")
    project.make("aaa2", parent="aaaa")
    project.make("aaa3", parent="aaaa")
    assert project.run("aaaa", "--worktree").code == 3
    assert project.task("aaaa").branch == project.task("aaa2").branch == "gitticks/work/aaaa"
    assert project.merges() == []
    commit_file(project.path, "aaa2.txt", "mine\n")
    assert "conflicts with main in aaa2.txt" in project.gt("approve", "aaaa").out
    (rework,) = [one for one in task_ids(project.store) if one not in ("aaaa", "aaa2", "aaa3")]
    assert project.task(rework).title == "Rework: Login loses the return URL"
    assert "aaa2.txt" in project.file(rework).summary
    project.agent(
        f"git merge -q main || {{ git checkout -q --theirs .; git add -A; git commit -qm both; }}\n{DONE}"
    )
    assert project.run("aaaa").code == 3
    assert project.task(rework).branch == "gitticks/work/aaaa"
    project.ok("approve", "aaaa")
    assert project.stands("aaaa") == (Status.DONE, None)
    assert project.merges() == ["aaaa"]
    assert {"aaa3.txt", f"{rework}.txt"} <= set(project.files())


def test_work_that_was_begun_in_one_way_is_merged_in_it_whatever_the_settings_say_later(
    project: RunProject,
) -> None:
    project.settings(f"{NO_REVIEW}human: always\n")
    project.agent(DONE)
    project.make("aaaa", type="epic")
    project.make("aaa2", parent="aaaa")
    assert project.run("aaaa").code == 3
    project.ok("config", "isolation", "epic")
    project.ok("approve", "aaa2")
    assert project.merges() == ["aaa2"]
    project.make("bbbb", type="epic")
    project.make("bbb2", parent="bbbb")
    assert project.run("bbbb").code == 3
    project.ok("config", "isolation", "none")
    project.ok("approve", "bbb2")
    assert project.stands("bbb2") == (Status.DONE, None)
    assert project.stands("bbbb")[0] is Status.REVIEWING
    project.ok("approve", "bbbb")
    assert project.merges()[0] == "bbbb"


def test_an_epic_is_merged_whichever_of_its_tasks_is_approved_last(project: RunProject) -> None:
    project.settings(f"{NO_REVIEW}human: always\n")
    project.agent(DONE)
    project.make("aaaa", type="epic")
    project.make("aaa2", parent="aaaa")
    project.make("aaa3", parent="aaaa")
    assert project.run("aaaa", "--worktree").code == 3
    tip = git("rev-parse", "gitticks/work/aaaa", at=project.path)
    newest = next(one for one in ("aaa2", "aaa3") if project.task(one).end_sha == tip)
    (older,) = {"aaa2", "aaa3"} - {newest}
    project.ok("approve", newest)
    later = datetime.now(UTC) + timedelta(seconds=5)
    assert project.gt("approve", older, now=later).code == 0
    assert project.task("aaaa").end_sha == tip
    project.ok("approve", "aaaa")
    assert project.stands("aaaa") == (Status.DONE, None)
    assert {"aaa2.txt", "aaa3.txt"} <= set(project.files())


def test_what_a_flag_put_into_ones_own_checkout_is_merged_nowhere(project: RunProject) -> None:
    project.settings(f"{NO_REVIEW}human: always\nbase: main\n")
    project.make()
    base = git("rev-parse", "main", at=project.path)
    git("checkout", "-q", "-b", "topic", at=project.path)
    assert project.run("--isolation", "none", "--sandbox", "none").code == 3
    project.ok("approve", "k7f2")
    assert project.stands() == (Status.DONE, None)
    assert git("rev-parse", "main", at=project.path) == base
    assert "k7f2.txt" in project.files("topic")


def test_an_epic_with_nothing_to_do_ends_the_run_and_keeps_others_going(project: RunProject) -> None:
    project.settings(NO_PERSON)
    project.make("aaaa", type="epic")
    project.make("bbbb", type="epic")
    project.make("bbb2", parent="bbbb")
    ran = project.run("aaaa", "bbbb", "--worktree", "--parallel", "2")
    assert "Traceback" not in ran.seen
    assert project.task("bbbb").status is Status.DONE, ran.seen
    assert project.task("aaaa").status is Status.PENDING
    assert "Traceback" not in project.run("aaaa").seen


def test_what_is_outside_of_an_epic_waits_for_its_merge_where_a_blocker_is_on_its_branch(
    project: RunProject,
) -> None:
    project.settings(f"{NO_PERSON}isolation: epic\n")
    project.agent(DONE)
    project.make("aaaa", type="epic", requires="approval")
    project.make("aaa2", parent="aaaa")
    project.make("aaa3", parent="aaaa", blocked_by=["aaa2"])
    project.make("bbbb", blocked_by=["aaa2"])
    assert project.run().code == 3
    assert [project.task(one).status for one in ("aaa2", "aaa3")] == [Status.DONE] * 2
    assert project.task("bbbb").status is Status.PENDING
    assert "bbbb" not in project.gt("ready", "--json").out + project.gt("next", "--json").out
    for words in ("list", "list --blocked", "list --all", "show bbbb"):
        assert "after aaaa" in project.ok(*words.split()), words
    why = "`aaaa` (its branch has the code of `aaa2`)"
    assert f"error: `bbbb` waits for {why}" in project.gt("start", "bbbb").err
    assert f"bbbb: it waits for {why}: `gt show aaaa`" in project.run("bbbb").err
    project.ok("approve", "aaaa")
    assert project.run().code == 0
    assert {"aaa2.txt", "bbbb.txt"} <= set(project.files("main"))
    assert "aaa2.txt" in project.files(project.task("bbbb").start_sha or "")


def test_what_comes_back_below_an_epic_that_is_merged_reaches_the_base_by_itself(project: RunProject) -> None:
    project.settings(f"{NO_PERSON}isolation: epic\n")
    project.agent(DONE)
    project.make("aaaa", type="epic")
    project.make("aaa2", parent="aaaa")
    project.run()
    assert project.task("aaaa").status is Status.DONE
    refused = project.gt("reopen", "aaaa")
    assert refused.code == 3
    assert "all tasks of `aaaa` are closed, so it would be closed again at once" in refused.err
    assert '`gt reopen aaa2` or `gt create "…" --parent aaaa` first, then `gt reopen aaaa`' in refused.err
    project.ok("reopen", "aaa2")
    project.make("aaa3", parent="aaaa")
    project.run()
    assert [project.task(one).branch for one in ("aaa2", "aaa3")] == [
        "gitticks/work/aaa2",
        "gitticks/work/aaa3",
    ]
    assert sorted(project.merges()) == ["aaa2", "aaa3", "aaaa"]
    assert "aaa3.txt" in project.files("main")


def test_a_task_that_a_person_does_in_the_workspace_of_its_epic_is_the_one_meant_there(
    project: RunProject,
) -> None:
    project.settings(f"{NO_PERSON}isolation: epic\n")
    project.make("aaaa", type="epic")
    project.make("aaa2", parent="aaaa")
    project.make("aaa3", parent="aaaa")
    workspace = project.path / ".gitticks-work/aaaa"
    project.ok("start", "aaa2")
    assert "\naaa2  by hand " in project.ok("current", at=workspace)
    commit_file(workspace, "hello.txt", "hello\n")
    project.ok("handoff", "--done", "it", at=workspace)
    project.ok("complete", at=workspace)
    assert [project.task(one).status for one in ("aaa2", "aaaa")] == [Status.DONE, Status.WORKING]
    assert "aaaa" in project.ok("show", at=workspace)  # nobody works there now
    assert (
        "`aaaa` cannot go from working to agent-review: it has open children: `aaa3`"
        in project.gt("complete", at=workspace).err
    )


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
