"""Epics side by side in one run, each in a workspace of its own: one is added, stopped, killed or merged alone."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

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
    for flag, value in {"--parallel": "2", "--max-duration": "2h"}.items():
        refused = project.gt("run", "--add", "k7f2", flag, value).err
        assert f"`--add` cannot be used with `{flag}`" in refused


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


def test_the_review_of_an_epic_is_waived_where_nobody_can_review(project: RunProject) -> None:
    project.ok("config", "agent", "script")
    project.ok("config", "human", "when-required")
    project.make("aaaa", type="epic", requires="approval")
    project.make("aaa2", parent="aaaa", body=f"Do it.\n\n## Script\n\n```sh\n{DONE}```\n")
    assert project.run("--worktree").code == 3
    assert project.stands("aaaa") == (Status.REVIEWING, Awaiting.APPROVAL)
    waived = [
        [event.reason for event in project.events(one) if event.data.get("gate") == "review"]
        for one in ("aaaa", "aaa2")
    ]
    assert waived == [["the script agent has no `sh reviewer` block in this task"]] * 2
    project.ok("approve", "aaaa")
    assert "aaa2.txt" in project.files()
