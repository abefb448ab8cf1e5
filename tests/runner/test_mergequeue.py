"""The merge queue: what reaches the base, what goes back, what waits, and what is known again after a kill."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gitticks.actions.context import Context
from gitticks.actions.run import run_context
from gitticks.errors import RefusedError
from gitticks.git.identity import Identity
from gitticks.model.event import EventType
from gitticks.model.ids import TaskId
from gitticks.model.status import Awaiting, Status
from gitticks.model.task import Task
from gitticks.runner import mergequeue
from gitticks.runner.events import RunEvent
from gitticks.runner.mergequeue import MergeQueue, MergeResult, in_order_of_approval
from gitticks.runner.outcome import RunExit
from tests.support.projects import make_reviewing
from tests.support.repositories import commit_file, git
from tests.support.runs import COMMIT, HANDOFF, NO_REVIEW, RunProject, project

__all__ = ["project"]

K7F2 = TaskId("k7f2")
TEST_FAILS_WITH_BOTH = "if [ -e login.txt ] && [ -e other.txt ]; then echo both; exit 1; fi"


class Killed(BaseException):
    """Stands for SIGKILL: nothing after it runs but what the system itself cleans up."""


def queue(project: RunProject, told: Callable[[RunEvent], None] = lambda _: None) -> MergeQueue:
    """Returns the queue of the clone, merging in Ada's name."""
    return MergeQueue(run_context(Context(directory=project.path), told), Identity("Ada", "ada@example.org"))


def approved(project: RunProject, task_id: str = "k7f2") -> Path:
    """Makes a task whose work is approved; returns its workspace."""
    workspace = make_reviewing(project, task_id)
    project.ok("config", "merge.mode", "queue")
    _approve(project, task_id)
    return workspace


def _approve(project: RunProject, task_id: str) -> None:
    from gitticks.actions.verdict import approve_task, look_at

    context = Context(directory=project.path)
    approve_task(context, TaskId(task_id), None, look_at(context, TaskId(task_id)))
    assert project.task(task_id).is_merging


def head(project: RunProject, ref: str = "main") -> str:
    return git("rev-parse", ref, at=project.path)


def merge(project: RunProject, task_id: str = "k7f2") -> MergeResult:
    return queue(project).merge(TaskId(task_id))


def test_a_merge_has_two_parents_and_names_task_and_head(project: RunProject) -> None:
    approved(project)
    before, work = head(project), head(project, "gitticks/work/k7f2")
    result = merge(project)
    assert result.sha == head(project)
    assert git("log", "-1", "--format=%P", at=project.path).split() == [before, work]
    message = git("log", "-1", "--format=%B", at=project.path)
    assert message.startswith("Merge k7f2: Login loses the return URL\n")
    assert "Task: k7f2" in message
    assert work in message
    assert git("log", "-1", "--format=%an", at=project.path) == "Ada"
    assert project.task("k7f2").merged_sha == result.sha
    assert (project.path / "login.txt").exists()
    assert not project.workspace().exists()


@pytest.mark.parametrize("strategy", ["squash", "rebase"])
def test_other_strategies_make_a_straight_line(project: RunProject, strategy: str) -> None:
    project.settings(f"merge: {{strategy: {strategy}}}\n")
    make_reviewing(project)
    commit_file(project.path, "other.txt", "meanwhile\n")
    _approve(project, "k7f2")
    before = head(project)
    merge(project)
    assert git("rev-list", "--parents", "-1", "main", at=project.path).split()[1:] == [before]
    assert {"login.txt", "other.txt"} <= set(project.files())
    assert project.merges()[0] == "k7f2"
    assert project.stands() == (Status.DONE, None)


def test_a_base_that_moved_is_merged_with(project: RunProject) -> None:
    workspace = approved(project)
    moved = commit_file(project.path, "other.txt", "meanwhile\n")
    merge(project)
    assert git("log", "-1", "--format=%P", at=project.path).split()[0] == moved
    assert not workspace.exists()


def test_a_base_that_moves_during_the_tests_is_merged_again(
    project: RunProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    approved(project)
    build = MergeQueue._build
    commits = iter(["first.txt", "second.txt"])

    def build_and_move(self: MergeQueue, task: Task, tip: str, work: str) -> object:
        built = build(self, task, tip, work)
        if (name := next(commits, None)) is not None:
            commit_file(project.path, name, "meanwhile\n")
        return built

    monkeypatch.setattr(MergeQueue, "_build", build_and_move)
    merge(project)
    assert {"first.txt", "second.txt", "login.txt"} <= set(project.files())
    assert project.merges() == ["k7f2"]


def test_a_conflict_goes_back_with_its_paths_and_is_stuck_at_the_second(project: RunProject) -> None:
    workspace = approved(project)
    commit_file(project.path, "login.txt", "mine\n")
    before = head(project)
    result = merge(project)
    assert result.sha is None
    assert head(project) == before
    assert project.stands() == (Status.WORKING, None)
    failed = project.last(EventType.MERGE_FAILED)
    assert failed.reason == "conflicts with main in login.txt"
    assert failed.data["conflicts"] == ["login.txt"]
    project.settings(NO_REVIEW)
    project.agent(f'grep -q login.txt "$GITTICKS_MAILBOX/prompt.md" || exit 9\n{COMMIT}{HANDOFF}')
    project.run()
    assert project.stands() == (Status.REVIEWING, Awaiting.REVIEW)
    assert project.gt("approve", "k7f2").code == 1
    # An approval is a person's word, so the count of failed merges begins again with it.
    assert project.stands() == (Status.WORKING, None)
    assert workspace.exists()


def test_two_failed_merges_without_a_person_between_are_stuck(project: RunProject) -> None:
    project.settings(f"{NO_REVIEW}human: when-required\nverify: {{test: '{TEST_FAILS_WITH_BOTH}'}}\n")
    meanwhile = f'cd "{project.path}"; echo x > other.txt; git add other.txt; git commit -qm other; cd - > /dev/null\n'
    work = f"echo x >> login.txt\n{COMMIT}{HANDOFF}"
    project.agent(f"if [ $GITTICKS_ITERATION = 1 ]; then {meanwhile}fi\n{work}")
    project.make()
    assert project.run().code == RunExit.STUCK
    assert project.kinds().count(EventType.MERGE_FAILED) == 2
    assert "login.txt" not in project.files()


def test_a_conflict_is_stuck_at_once_where_policy_says_so(project: RunProject) -> None:
    project.settings("merge: {on_conflict: stuck}\n")
    make_reviewing(project)
    commit_file(project.path, "login.txt", "mine\n")
    _approve(project, "k7f2")
    merge(project)
    assert project.stands() == (Status.STUCK, Awaiting.ESCALATION)


def test_the_tests_run_on_the_merged_tree(project: RunProject) -> None:
    project.settings(f"verify: {{test: '{TEST_FAILS_WITH_BOTH}'}}\n")
    make_reviewing(project)
    commit_file(project.path, "other.txt", "meanwhile\n")
    _approve(project, "k7f2")
    before = head(project)
    merge(project)
    assert head(project) == before
    assert project.stands() == (Status.WORKING, None)
    assert "both" in (project.last(EventType.MERGE_FAILED).reason or "")
    assert git("worktree", "list", at=project.path).count("\n") == 2  # checkout, board, workspace: none aside


def test_uncommitted_changes_elsewhere_survive(project: RunProject) -> None:
    approved(project)
    (project.path / "README.md").write_text("my draft\n")
    (project.path / "new.txt").write_text("my notes\n")
    merge(project)
    assert project.stands() == (Status.DONE, None)
    assert (project.path / "README.md").read_text() == "my draft\n"
    assert (project.path / "new.txt").read_text() == "my notes\n"
    assert (project.path / "login.txt").exists()


def test_uncommitted_changes_in_the_way_make_the_merge_wait(project: RunProject) -> None:
    approved(project)
    (project.path / "login.txt").write_text("my own\n")
    before = head(project)
    result = merge(project)
    assert result.waits is not None
    assert "login.txt" in result.waits
    assert head(project) == before
    assert project.task("k7f2").is_merging
    assert (project.path / "login.txt").read_text() == "my own\n"
    ran = project.run()
    assert ran.code == RunExit.WAITS
    assert "merge waits: your uncommitted changes" in ran.out
    assert project.gt("merge").code == 1
    (project.path / "login.txt").unlink()
    assert project.gt("merge").code == 0
    assert project.stands() == (Status.DONE, None)


def test_a_head_that_moved_is_not_merged(project: RunProject) -> None:
    workspace = approved(project)
    commit_file(workspace, "late.txt", "after the approval\n")
    before = head(project)
    merge(project)
    assert head(project) == before
    assert project.stands() == (Status.WORKING, None)
    assert project.kinds().count(EventType.VOIDED) == 1


def test_without_a_difference_there_is_no_merge(project: RunProject) -> None:
    approved(project)
    commit_file(project.path, "login.txt", "k7f2\n", "the same by hand")
    before = head(project)
    merge(project)
    assert head(project) == before
    assert project.stands() == (Status.DONE, None)
    assert project.task("k7f2").merged_sha is None


def test_killed_after_the_base_moved_it_is_not_merged_twice(
    project: RunProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    approved(project)

    def die(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(MergeQueue, "_close", die)
        with pytest.raises(Killed):
            merge(project)
    landed = head(project)
    assert project.task("k7f2").is_merging
    commit_file(project.path, "later.txt", "the person goes on\n")
    result = merge(project)
    assert result.sha == landed
    assert project.merges() == ["k7f2"]
    assert project.task("k7f2").merged_sha == landed
    assert not project.workspace().exists()


def test_killed_before_the_base_moved_it_is_merged_later(
    project: RunProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    approved(project)
    before = head(project)

    def die(*_: object, **__: object) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(mergequeue, "move_base", die)
        with pytest.raises(Killed):
            merge(project)
    assert head(project) == before
    assert merge(project).sha == head(project)
    assert project.merges() == ["k7f2"]


def test_an_approval_taken_back_during_the_tests_wins(
    project: RunProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    approved(project)
    before = head(project)

    def take_back(*_: object) -> tuple[None, str]:
        project.ok("update", "k7f2", "--awaiting", "review")
        return None, ""

    monkeypatch.setattr(MergeQueue, "_verify", take_back)
    with pytest.raises(RefusedError):
        merge(project)
    assert head(project) == before
    assert project.stands() == (Status.REVIEWING, Awaiting.REVIEW)


def test_what_is_not_approved_is_not_merged(project: RunProject) -> None:
    make_reviewing(project)
    with pytest.raises(RefusedError, match="is not approved: it is reviewing and awaits review"):
        merge(project)


def test_a_base_that_is_gone_makes_the_merge_wait(project: RunProject) -> None:
    approved(project)
    project.change("k7f2", base="nowhere")
    ran = project.run()
    assert ran.code == RunExit.WAITS
    assert "the base `nowhere` is no branch here" in ran.out


def test_manual_mode_leaves_the_merge_to_the_person(project: RunProject) -> None:
    project.settings("merge: {mode: manual}\n")
    make_reviewing(project)
    before = head(project)
    project.ok("approve", "k7f2")
    assert project.stands() == (Status.REVIEWING, Awaiting.WORK)
    assert head(project) == before
    git("merge", "--quiet", "--no-edit", "gitticks/work/k7f2", at=project.path)
    project.ok("approve", "k7f2")
    assert project.stands() == (Status.DONE, None)


def test_approved_work_is_merged_in_the_order_of_approval(project: RunProject) -> None:
    for name in ("bbbb", "aaaa"):
        workspace = make_reviewing(project, name)
        commit_file(workspace, f"{name}.txt", "x\n")
        git("reset", "--quiet", "--hard", "HEAD~1", at=workspace)
    _approve(project, "bbbb")
    project.change("bbbb", approval=None, awaiting=Awaiting.REVIEW)
    for name in ("bbbb", "aaaa"):
        _approve(project, name)
    tasks = [project.task(name) for name in ("aaaa", "bbbb")]
    assert {task.id for task in in_order_of_approval(tasks)} == {"aaaa", "bbbb"}
    assert [task.id for task in queue(project).waiting()] == [task.id for task in in_order_of_approval(tasks)]


def test_trying_out_changes_nothing(project: RunProject) -> None:
    approved(project)
    tip, before = project.tip(), head(project)
    assert queue(project).try_out(K7F2) == ()
    commit_file(project.path, "login.txt", "mine\n")
    assert queue(project).try_out(K7F2) == ("login.txt",)
    assert project.tip() == tip
    assert head(project, "main~1") == before
