"""Checkpoints as a person meets them: made by runs, listed, compared, dropped, and gone back to."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from gitticks.model.event import EventType
from gitticks.model.status import Awaiting, Requires, Status, TaskType
from gitticks.model.task import Usage
from gitticks.runner.liveness import is_run_alive_at
from tests.cli.support import command
from tests.support.agents import processes_with
from tests.support.projects import Project
from tests.support.repositories import commit_file, git
from tests.support.runs import NO_PERSON, NO_REVIEW, TO_REVIEW, RunProject, project
from tests.support.waiting import LONGEST_SECONDS, until

__all__ = ["project"]

STEP = """n=$GITTICKS_ITERATION
echo "line $n" >> "$GITTICKS_TASK.txt"; git add -A; git commit -qm "step $n"
echo "draft $n" > draft.txt
echo "learned $n" > "$GITTICKS_MAILBOX/learnings.md"
"""
TIDY = "rm -f draft.txt; git add -A; git commit -qm tidy\n"
HAND_OVER = "printf '\\n## Handoff\\n\\n- DONE: it\\n' >> \"$GITTICKS_MAILBOX/TASK.md\"\n"


def steps(last: int) -> str:
    """Returns an agent that commits a line a session, leaves a draft, and hands over in the session `last`."""
    return f"{STEP}if [ $n -ge {last} ]; then {TIDY}{HAND_OVER}echo '<promise>COMPLETE</promise>'; fi\n"


@pytest.fixture
def begun(project: RunProject) -> RunProject:
    """Gives a project in which an agent made six sessions on `k7f2`, which is stuck, with a checkpoint every two."""
    project.settings(f"{NO_REVIEW}iterations: 6\ncheckpoint_every: 2\n")
    project.agent(steps(99))
    project.make("k7f2", title="Do it")
    assert project.run().code == 4
    assert project.stands() == (Status.STUCK, Awaiting.ESCALATION)
    return project


def listed(project: RunProject, *arguments: str) -> list[dict[str, Any]]:
    found = json.loads(project.ok("checkpoints", "list", *arguments, "--json"))["checkpoints"]
    assert isinstance(found, list)
    return found


def refs(project: RunProject, folder: str = "checkpoints") -> dict[str, str]:
    asked = git(
        "for-each-ref", "--format=%(refname) %(objectname)", f"refs/gitticks/{folder}", at=project.path
    )
    return dict(line.split(" ", 1) for line in asked.splitlines())


def tip(project: RunProject, name: str = "k7f2") -> str:
    return git("rev-parse", f"gitticks/work/{name}", at=project.path)


def lines(project: RunProject, name: str = "k7f2") -> list[str]:
    return (project.workspace(name) / f"{name}.txt").read_text().splitlines()


def scratchpad(project: RunProject, name: str = "k7f2") -> str:
    found = project.store.read(f"tasks/{name[-2:]}/{name}/scratchpad.md")
    return (found or b"").decode()


def test_a_run_makes_one_every_so_many_iterations_with_what_is_uncommitted(begun: RunProject) -> None:
    found = listed(begun)
    assert [(one["id"], one["iteration"], one["has_code"]) for one in found] == [
        ("k7f2-2", 2, True),
        ("k7f2-4", 4, True),
        ("k7f2-6", 6, True),
    ]
    assert refs(begun) == {
        f"refs/gitticks/checkpoints/k7f2/{one['iteration']}": one["git_commit"] for one in found
    }
    assert git("show", f"{found[1]['git_commit']}:draft.txt", at=begun.path) == "draft 4"
    assert git("rev-parse", f"{found[1]['git_commit']}^", at=begun.path) == found[1]["head"]
    assert found[2]["head"] == tip(begun)  # the branch itself was left alone
    assert git("status", "--porcelain", at=begun.workspace()) == " M draft.txt"
    stored = json.loads(begun.store.read("tasks/f2/k7f2/checkpoints/0004.json") or b"")
    assert stored["scratchpad"].count("learned") == 4
    told = begun.ok("checkpoints")
    assert "k7f2-4" in told
    assert "uncommitted work" in told
    named = [line.split()[0] for line in told.splitlines()]
    assert [line.split()[0] for line in begun.ok("checkpoints", "k7f2").splitlines()] == named
    # Each is part of the commit that its session ended with.
    subjects = git("log", "--format=%s", "gitticks/state", "--", "tasks/f2/k7f2/checkpoints", at=begun.path)
    assert "checkpoint" not in subjects
    assert len(subjects.splitlines()) == 3


def test_an_agent_that_only_meets_limits_leaves_none(project: RunProject) -> None:
    project.settings("checkpoint_every: 1\n")
    project.agent("""echo '{"gitticks": "rate-limit", "retry_after": 0}'; exit 75""")
    project.make()
    with project.running() as process:
        until(lambda: project.kinds().count(EventType.SESSION_ENDED) > 1, "two sessions")
        project.interrupt(process)
        project.interrupt(process)
        process.wait(LONGEST_SECONDS)
    assert not listed(project)


def test_resume_restores_code_scratchpad_and_counters_and_goes_on(begun: RunProject) -> None:
    before = tip(begun)
    refused = begun.gt("resume", "k7f2-4")
    assert refused.code == 1
    assert "uncommitted work: `draft.txt`" in refused.err
    assert "`gt resume k7f2-4 --force`" in refused.err
    assert (tip(begun), begun.stands()) == (before, (Status.STUCK, Awaiting.ESCALATION))

    (begun.workspace() / "mine.txt").write_text("a person's\n")
    said = begun.ok("resume", "k7f2-4", "--force", "--no-run")
    assert "2 commits and 2 uncommitted files after it: kept as refs/gitticks/rescued/k7f2" in said
    assert "step 6" in said
    assert begun.stands() == (Status.WORKING, None)
    assert begun.task("k7f2").usage.iterations == 4
    assert lines(begun) == ["line 1", "line 2", "line 3", "line 4"]
    assert (begun.workspace() / "draft.txt").read_text() == "draft 4\n"
    assert not (begun.workspace() / "mine.txt").exists()
    assert git("symbolic-ref", "HEAD", at=begun.workspace()) == "refs/heads/gitticks/work/k7f2"
    assert git("status", "--porcelain", at=begun.workspace()) == " M draft.txt"
    assert "learned 4" in scratchpad(begun)
    assert "learned 5" not in scratchpad(begun)
    rescued = refs(begun, "rescued")["refs/gitticks/rescued/k7f2"]
    assert git("show", f"{rescued}:mine.txt", at=begun.path) == "a person's"
    assert git("show", f"{rescued}:draft.txt", at=begun.path) == "draft 6"
    assert git("merge-base", "--is-ancestor", before, rescued, at=begun.path) == ""

    begun.agent(steps(5))
    assert begun.run("k7f2").code == 3
    assert lines(begun) == ["line 1", "line 2", "line 3", "line 4", "line 5"]
    # The numbers of what came after are not given out again.
    begun.ok("approve", "k7f2")
    assert [one["id"] for one in listed(begun)] == ["k7f2-2", "k7f2-4", "k7f2-6", "k7f2-7"]
    assert begun.ok("doctor", "--json")


def test_resume_starts_a_run_and_is_repeatable(begun: RunProject) -> None:
    begun.ok("resume", "k7f2-2", "--force", "--no-run")
    again = begun.ok("resume", "k7f2-2", "--no-run", "--json")
    told = json.loads(again)["resumed"]
    assert (told["rescued"], told["uncommitted"], told["iteration"]) == (None, ["draft.txt"], 2)
    begun.agent(steps(3))
    ran = begun.gt("resume", "k7f2-2")
    assert ran.code == 3, ran.seen
    assert begun.stands() == TO_REVIEW
    assert [
        event.data["checkpoint"] for event in begun.events("k7f2") if event.type is EventType.RESUMED
    ] == ["k7f2-2"] * 3


def test_a_name_that_is_none_says_which_is_meant(begun: RunProject) -> None:
    for name, words in {
        "k7f2-5": "the nearest is `k7f2-4`",
        "k7f2": "one of `k7f2-2`, `k7f2-4`, `k7f2-6`",
        "zzzz-2": "`gt list` shows the tasks",
        f"k7f2-{'9' * 5000}": "there is no task",
        "": "",
    }.items():
        ran = begun.gt("resume", name)
        assert ran.code == 1
        assert words in ran.err
    assert "k7f2-4" in begun.ok("checkpoints", "diff", "k7f-4", "--stat")


def test_a_task_whose_id_ends_as_a_checkpoint_is_that_task(project: RunProject) -> None:
    project.settings(f"{NO_REVIEW}iterations: 2\ncheckpoint_every: 1\n")
    project.agent(steps(99))
    project.make("back-7", title="Do it")
    project.run()
    said = project.gt("resume", "back-7").err
    assert (
        said
        == "error: `back-7` is a task: name one of its checkpoints\n\nhint: one of `back-7-1`, `back-7-2`\n"
    )
    assert project.stands("back-7") == (Status.STUCK, Awaiting.ESCALATION)
    project.make("back-7-1", title="Do a part of it")
    project.run()
    two = "error: `back-7-1` is a task, and checkpoint 1 of `back-7`\n\nhint: `back-7-01` is the checkpoint; "
    for words in (("resume",), ("checkpoints", "diff"), ("checkpoints", "prune")):
        assert project.gt(*words, "back-7-1").err.startswith(two), words
    project.ok("checkpoints", "prune", "back-7-01")
    assert [one["id"] for one in listed(project)] == ["back-7-2", "back-7-1-1", "back-7-1-2"]
    project.ok("checkpoints", "prune", "back-7-1", "--keep", "1")
    assert [one["id"] for one in listed(project)] == ["back-7-2", "back-7-1-2"]


def test_diff_shows_what_came_after(begun: RunProject) -> None:
    commit_file(begun.workspace(), "Makefile", "all:\n\ttrue\n")
    patch = begun.ok("checkpoints", "diff", "k7f2-4")
    assert "+line 6" in patch
    assert "+\ttrue\n" in patch
    assert "-draft 4\n+draft 6" in patch
    between = json.loads(begun.ok("checkpoints", "diff", "k7f2-2", "k7f2-4", "--json"))["diff"]
    assert between["changes"]["paths"] == ["draft.txt", "k7f2.txt"]
    assert "+draft 4" in between["patch"]


def test_prune_drops_files_and_refs_and_names_what_is_nowhere_else(begun: RunProject) -> None:
    assert begun.gt("checkpoints", "prune").err.strip() == "nothing to drop"  # the task is open
    commit = listed(begun)[0]["git_commit"]
    shown = begun.ok("checkpoints", "prune", "k7f2-2", "--dry-run")
    assert len(refs(begun)) == 3
    assert f"`git branch keep-k7f2-2 {commit[:10]}` keeps it" in shown
    begun.ok("checkpoints", "prune", "k7f2-2")
    assert [one["id"] for one in listed(begun)] == ["k7f2-4", "k7f2-6"]
    assert [name[-1] for name in refs(begun)] == ["4", "6"]
    begun.ok("checkpoints", "prune", "--keep", "1")
    assert [one["id"] for one in listed(begun)] == ["k7f2-6"]
    begun.ok("cancel", "k7f2")
    begun.ok("checkpoints", "prune")
    assert (listed(begun), refs(begun)) == ([], {})
    # What another clone dropped leaves its ref here.
    git("update-ref", "refs/gitticks/checkpoints/k7f2/2", commit, at=begun.path)
    assert "belongs to no checkpoint" in begun.ok("doctor")
    begun.ok("checkpoints", "prune")
    assert refs(begun) == {}


def test_code_that_is_gone_is_said_and_found(begun: RunProject) -> None:
    git("update-ref", "-d", "refs/gitticks/checkpoints/k7f2/4", at=begun.path)
    git("reflog", "expire", "--expire=now", "--all", at=begun.path)
    git("gc", "--quiet", "--prune=now", at=begun.path)
    ran = begun.gt("resume", "k7f2-4", "--force")
    assert ran.code == 1
    assert "the code of `k7f2-4` is not in this clone" in ran.err
    assert [one["has_code"] for one in listed(begun)] == [True, False, True]
    assert "the code of checkpoint `k7f2-4` is gone" in begun.ok("doctor")
    assert begun.stands() == (Status.STUCK, Awaiting.ESCALATION)


def test_a_checkpoint_that_cannot_be_read_is_named_and_can_be_dropped(begun: RunProject) -> None:
    place = begun.path / ".gitticks/tasks/f2/k7f2/checkpoints/0004.json"
    place.write_text("{")
    git("commit", "--no-verify", "-qam", "break it", at=begun.path / ".gitticks")
    ran = begun.gt("checkpoints")
    assert ran.code == 0
    assert "0004.json` cannot be read" in ran.err
    assert begun.gt("resume", "k7f2-4").code == 1
    begun.ok("checkpoints", "prune", "k7f2-4")
    assert [one["id"] for one in listed(begun)] == ["k7f2-2", "k7f2-6"]


def test_a_live_session_is_not_resumed_under_its_feet(project: RunProject) -> None:
    project.settings(f"{NO_REVIEW}checkpoint_every: 1\n")
    top = project.shared
    project.agent(f"if [ $GITTICKS_ITERATION -ge 2 ]; then touch {top}/busy; sleep 600; fi\n{STEP}")
    project.make("k7f2")
    with project.running() as run:
        until((top / "busy").exists)
        ran = project.gt("resume", "k7f2-1", "--force")
        assert (ran.code, "`gt stop k7f2` ends it" in ran.err) == (3, True)
        project.ok("stop", "k7f2")
        run.wait(LONGEST_SECONDS)
    project.ok("resume", "k7f2-1", "--force", "--no-run")
    assert project.stands() == (Status.WORKING, None)
    assert project.ok("next").split()[0] == "k7f2"  # and is held no more


def test_a_merge_has_one_before_it_also_where_the_runner_is_killed_in_between(project: RunProject) -> None:
    top = project.shared
    # The tests hang where the merge is tried out, and not in the workspace.
    hangs = f"case $PWD in *-work*) ;; *) if test -e {top}/slow; then touch {top}/busy; sleep 600; fi ;; esac"
    project.settings(f'{NO_PERSON}merge: {{strategy: squash}}\nverify: {{test: "{hangs}"}}\n')
    (top / "slow").touch()
    project.make("k7f2")
    with project.running() as run:
        until((top / "busy").exists)
        os.kill(run.pid, signal.SIGKILL)
        run.wait(LONGEST_SECONDS)
    assert [name[-6:] for name in refs(project)] == ["k7f2/1"]
    (top / "slow").unlink()
    [made] = listed(project)
    assert (made["id"], made["cause"]) == ("k7f2-1", "merge")
    assert project.stands() == (Status.REVIEWING, None)
    assert project.run().code == 0
    assert project.stands() == (Status.DONE, None)
    [made] = listed(project)
    # The branch is gone and the merge is a squash: the ref alone keeps it.
    assert git("branch", "--list", "gitticks/work/k7f2", at=project.path) == ""
    assert refs(project) == {"refs/gitticks/checkpoints/k7f2/1": made["git_commit"]}
    ran = project.gt("resume", "k7f2-1")
    assert ran.code == 3
    assert "`gt reopen k7f2`, then `gt resume k7f2-1`" in ran.err
    project.ok("reopen", "k7f2")
    project.ok("resume", "k7f2-1", "--no-run")
    assert tip(project) == made["head"]
    assert project.task("k7f2").usage.iterations == 1


def test_what_was_spent_counts_since_the_resume(begun: RunProject) -> None:
    begun.settings("budget: {task: {iterations: 2}}\n")
    begun.ok("resume", "k7f2-4", "--force", "--no-run")
    assert begun.task("k7f2").usage == begun.task("k7f2").usage._replace(iterations=4)
    assert begun.run("k7f2").code == 4
    assert begun.task("k7f2").usage.iterations == 6
    ended = [event for event in begun.events("k7f2") if event.type is EventType.SESSION_ENDED]
    assert len(ended) == 8  # the history forgets nothing


def test_tasks_of_an_epic_go_back_together(project: RunProject) -> None:
    project.settings(f"{NO_PERSON}isolation: epic\ncheckpoint_every: 1\niterations: 2\n")
    project.make("ep1c", title="All", type=TaskType.EPIC)
    project.make("aaaa", parent="ep1c", priority=0)
    project.make("bbbb", parent="ep1c", blocked_by=("aaaa",))
    finish = f"{TIDY}{HAND_OVER}echo '<promise>COMPLETE</promise>'"
    project.agent(f"{STEP}if [ $GITTICKS_TASK = aaaa ]; then {finish}; fi\n")
    assert project.run().code == 4
    found = listed(project, "ep1c")
    assert [(one["id"], one["task"], one["completed_tasks"]) for one in found] == [
        ("ep1c-1", "aaaa", ["aaaa"]),
        ("ep1c-2", "bbbb", ["aaaa"]),
        ("ep1c-3", "bbbb", ["aaaa"]),
    ]
    assert listed(project, "bbbb") == found
    assert "`bbbb` shares the workspace of `ep1c`" in project.gt("resume", "bbbb-1").err
    project.ok("resume", "ep1c-2", "--force", "--no-run")
    assert project.stands("bbbb") == (Status.WORKING, None)
    assert (project.task("aaaa").status, project.task("bbbb").usage.iterations) == (Status.DONE, 1)
    assert lines_of(project, "ep1c", "bbbb") == ["line 1"]

    # One that was begun later begins anew.
    ran = project.gt("resume", "ep1c-1", "--force", "--no-run")
    assert ran.code == 0, ran.seen
    assert project.task("bbbb").usage == Usage()
    assert project.stands("bbbb") == (Status.WORKING, None)
    start = project.task("bbbb").start_sha
    assert start == git("rev-parse", "gitticks/work/ep1c", at=project.path)


def lines_of(project: RunProject, workspace: str, task: str) -> list[str]:
    return (project.workspace(workspace) / f"{task}.txt").read_text().splitlines()


def test_a_done_task_of_an_epic_keeps_its_code(project: RunProject) -> None:
    project.settings(f"{NO_PERSON}isolation: epic\ncheckpoint_every: 1\n")
    project.make("ep1c", title="All", type=TaskType.EPIC, requires=Requires.APPROVAL)
    project.make("aaaa", parent="ep1c", priority=0)
    project.make("bbbb", parent="ep1c", blocked_by=("aaaa",))
    project.make("cccc", parent="ep1c", blocked_by=("bbbb",), awaiting=Awaiting.WORK)
    assert project.run().code in (2, 3)
    ran = project.gt("resume", "ep1c-1")
    assert ran.code == 3, ran.seen
    assert "`bbbb` was closed after ep1c-1" in ran.err
    assert "`gt reopen bbbb` first" in ran.err
    project.ok("reopen", "bbbb")
    project.ok("resume", "ep1c-1", "--no-run")
    assert not (project.workspace("ep1c") / "bbbb.txt").exists()


@pytest.mark.without_sandbox("none works in your own checkout")
def test_your_own_checkout_is_left_alone(project: RunProject) -> None:
    project.settings(f"{NO_REVIEW}isolation: none\ncheckpoint_every: 1\niterations: 2\n")
    project.agent(f"{STEP}rm draft.txt\n")
    project.make("k7f2")
    project.run()
    before = git("rev-parse", "HEAD", at=project.path)
    ran = project.gt("resume", "k7f2-1")
    assert (ran.code, "your own checkout, which gitticks does not reset" in ran.err) == (3, True)
    assert git("rev-parse", "HEAD", at=project.path) == before


def test_an_ignored_file_in_the_way_is_not_overwritten(begun: RunProject) -> None:
    work = begun.workspace()
    git("rm", "-q", "k7f2.txt", at=work)
    commit_file(work, ".gitignore", "k7f2.txt\ndraft.txt\n")
    (work / "k7f2.txt").write_text("precious\n")
    ran = begun.gt("resume", "k7f2-4", "--force")
    assert ran.code == 1, ran.seen
    assert (work / "k7f2.txt").read_text() == "precious\n"


def test_an_agent_may_not(begun: RunProject) -> None:
    in_session = {"GITTICKS_AGENT": "1", "GITTICKS_TASK": "k7f2", "GITTICKS_ROLE": "worker"}
    for words in (("resume", "k7f2-4"), ("checkpoints", "prune", "k7f2")):
        ran = begun.gt(*words, environment=in_session)
        assert (ran.code, "only a person can" in ran.err) == (3, True)


def test_a_run_that_is_alive_takes_it_up(begun: RunProject) -> None:
    begun.agent(steps(5))
    with begun.running("--auto", "--all") as run:
        assert run.stdout is not None
        until(lambda: is_run_alive_at(str(begun.path / ".git/gitticks")))
        assert "a run is already active" in begun.gt("run").err
        said = begun.gt("resume", "k7f2-4", "--force")
        assert (said.code, said.err) == (0, "")
        until(lambda: begun.stands() == TO_REVIEW)
        assert begun.task("k7f2").usage.iterations == 5
        begun.ok("stop")
        run.wait(LONGEST_SECONDS)


def test_a_run_that_is_for_other_tasks_takes_it_up_though_its_epic_was_stopped(begun: RunProject) -> None:
    top = begun.shared
    begun.make("ep1c", type=TaskType.EPIC)
    begun.make("m3xq")
    begun.ok("update", "k7f2", "--parent", "ep1c")
    begun.ok("stop", "ep1c")
    begun.agent(f"[ $GITTICKS_TASK = m3xq ] && {{ touch {top}/busy; sleep 600; }}\n{steps(5)}")
    with begun.running("m3xq", "--parallel", "2") as run:
        until((top / "busy").exists)
        said = begun.gt("resume", "k7f2-4", "--force", "--no-run").err
        assert "`gt run --add k7f2` goes on" in said
        begun.ok("resume", "k7f2-4")
        until(lambda: begun.stands() == TO_REVIEW)
        begun.ok("stop", "m3xq")
        run.wait(LONGEST_SECONDS)


@pytest.mark.parametrize("instant", range(8))
def test_a_resume_that_is_killed_is_finished_by_the_next(begun: RunProject, instant: int) -> None:
    before = tip(begun)
    with subprocess.Popen(
        command("resume", "k7f2-2", "--force", "--no-run"),
        cwd=begun.path,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.15 * (instant + 1))
        process.kill()
    until(lambda: not processes_with(begun.mark), "the end of its git commands")
    begun.ok("resume", "k7f2-2", "--force", "--no-run")
    assert (lines(begun), begun.task("k7f2").usage.iterations) == (["line 1", "line 2"], 2)
    assert (begun.workspace() / "draft.txt").read_text() == "draft 2\n"
    rescued = refs(begun, "rescued")["refs/gitticks/rescued/k7f2"]
    git("merge-base", "--is-ancestor", before, rescued, at=begun.path)
    kept = git("log", "--full-history", "--format=%H", rescued, "--", "draft.txt", at=begun.path).split()
    assert "draft 6" in [git("show", f"{one}:draft.txt", at=begun.path) for one in kept]


def test_another_clone_knows_the_checkpoint_and_says_where_its_code_is(
    begun: RunProject, tmp_path: Path
) -> None:
    git("clone", "--quiet", "--bare", f"file://{begun.path}", str(tmp_path / "remote.git"), at=tmp_path)
    git("remote", "add", "origin", str(tmp_path / "remote.git"), at=begun.path)
    begun.ok("sync")
    git("clone", "--quiet", f"file://{tmp_path}/remote.git", str(tmp_path / "other"), at=tmp_path)
    other = Project(tmp_path / "other")
    other.ok("init")
    assert [one["has_code"] for one in json.loads(other.ok("checkpoints", "--json"))["checkpoints"]] == [
        False
    ] * 3
    ran = other.gt("resume", "k7f2-4", "--no-run")
    assert ran.code == 1
    ref = "refs/gitticks/checkpoints/k7f2/4"
    assert (
        f"`git push origin {ref}` in the clone that made it, then `git fetch origin {ref}:{ref}` here"
        in ran.err
    )
    assert other.gt("doctor").code == 0
    git("push", "--quiet", "origin", ref, at=begun.path)
    git("fetch", "--quiet", "origin", f"{ref}:{ref}", at=other.path)
    other.ok("resume", "k7f2-4", "--no-run")
    assert (other.path / ".gitticks-work/k7f2/draft.txt").read_text() == "draft 4\n"
