"""The merge queue: what reaches the base, what goes back, what waits, and what is known again after a kill."""

from __future__ import annotations

import json

import pytest

from gitticks.errors import RefusedError
from gitticks.model.event import EventType
from gitticks.model.ids import TaskId
from gitticks.model.settings import MergeStrategy
from gitticks.model.status import Awaiting, Status
from gitticks.model.task import Approval
from gitticks.runner.outcome import RunExit
from tests.runner.merges import approve, approved, head, merge, queue
from tests.support.agents import write_program
from tests.support.projects import make_reviewing
from tests.support.repositories import commit_file, git
from tests.support.runs import COMMIT, HANDOFF, NO_REVIEW, RunProject, project
from tests.support.tasks import CREATED

__all__ = ["project"]

K7F2 = TaskId("k7f2")
TEST_FAILS_WITH_BOTH = "if [ -e login.txt ] && [ -e other.txt ]; then echo both; exit 1; fi"


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


def test_a_base_that_was_written_anew_says_how_the_work_gets_onto_it(project: RunProject) -> None:
    workspace = approved(project)
    start = project.task("k7f2").start_sha
    git("checkout", "-q", "--orphan", "anew", at=project.path)
    commit_file(project.path, "other.txt", "new\n")
    git("branch", "-qM", "anew", "main", at=project.path)
    assert "conflicts in" in project.ok("review", "k7f2", "--stat")
    merge(project)
    assert project.stands() == (Status.WORKING, None)
    way = f"git rebase --onto main {str(start)[:10]}"
    assert f"main was rewritten and has no commit in common with it: `{way}`" in project.ok("log", "k7f2")
    git(*way.split()[1:], at=workspace)
    project.agent(HANDOFF)
    project.ok("config", "review", "none")
    project.ok("config", "human", "when-required")
    project.run()
    assert project.stands() == (Status.DONE, None)
    assert {"login.txt", "other.txt"} <= set(project.files())


@pytest.mark.parametrize("strategy", ["squash", "rebase"])
def test_other_strategies_make_a_straight_line(project: RunProject, strategy: str) -> None:
    project.settings(f"merge: {{strategy: {strategy}}}\n")
    make_reviewing(project)
    commit_file(project.path, "other.txt", "meanwhile\n")
    approve(project, "k7f2")
    before = head(project)
    merge(project)
    assert git("rev-list", "--parents", "-1", "main", at=project.path).split()[1:] == [before]
    assert {"login.txt", "other.txt"} <= set(project.files())
    assert project.merges()[0] == "k7f2"
    assert project.stands() == (Status.DONE, None)


@pytest.mark.parametrize(("file", "text"), [("login.txt", "both\n"), ("call.txt", "new name\n")])
def test_a_rebase_keeps_what_a_merge_on_the_branch_changed(project: RunProject, file: str, text: str) -> None:
    project.settings("merge: {strategy: rebase}\n")
    workspace = make_reviewing(project)
    before = commit_file(project.path, file if file == "login.txt" else "other.txt", "mine\n")
    git("merge", "-q", "-s", "ours", "--no-commit", "main", at=workspace)
    git("checkout", "-q", "main", "--", ".", at=workspace)
    project.change("k7f2", end_sha=commit_file(workspace, file, text, "merge main"))
    approve(project, "k7f2")
    assert queue(project).try_out([K7F2]) == {K7F2: ()}
    result = merge(project)
    assert project.stands() == (Status.DONE, None), result.decision
    assert git("rev-list", "--parents", "-1", "main", at=project.path).split()[1:] == [before]
    assert git("rev-parse", "main^{tree}", at=project.path) == git(
        "rev-parse", f"{project.task('k7f2').end_sha}^{{tree}}", at=project.path
    )
    said = git("log", "-1", "--format=%B", at=project.path)
    assert "Squashed: its commits, rebased one by one, would not give this tree." in said
    assert project.merges()[0] == "k7f2"
    assert not workspace.exists()


def test_a_base_that_moved_is_merged_with(project: RunProject) -> None:
    workspace = approved(project)
    moved = commit_file(project.path, "other.txt", "meanwhile\n")
    merge(project)
    assert git("log", "-1", "--format=%P", at=project.path).split()[0] == moved
    assert not workspace.exists()


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
    approve(project, "k7f2")
    merge(project)
    assert project.stands() == (Status.STUCK, Awaiting.ESCALATION)


def test_the_tests_run_on_the_merged_tree(project: RunProject) -> None:
    project.settings(f"verify: {{test: '{TEST_FAILS_WITH_BOTH}'}}\n")
    make_reviewing(project)
    commit_file(project.path, "other.txt", "meanwhile\n")
    approve(project, "k7f2")
    before = head(project)
    merge(project)
    assert head(project) == before
    assert project.stands() == (Status.WORKING, None)
    assert "both" in (project.last(EventType.MERGE_FAILED).reason or "")
    assert git("worktree", "list", at=project.path).count("\n") == 2  # checkout, board, workspace: none aside


def test_a_hook_finds_what_the_set_up_brings(project: RunProject) -> None:
    project.settings("setup: {run: touch installed}\n")
    approved(project)
    write_program(project.path / ".git/hooks/commit-msg", "test -e installed && git config user.name >> $1")
    git("config", "user.name", "Ada", at=project.path)
    merge(project)
    assert project.stands() == (Status.DONE, None)
    assert "\nAda" in git("log", "-1", "--format=%B", at=project.path)
    assert "installed" not in project.files()


def test_a_hook_that_refuses_the_message_sends_no_agent_back(project: RunProject) -> None:
    approved(project)
    hook = write_program(project.path / ".git/hooks/commit-msg", "echo 'no ticket number' >&2; exit 1")
    assert "the hook `commit-msg` refused the merge: no ticket number" in str(merge(project).waits)
    assert project.task("k7f2").is_merging
    hook.rename(hook.with_name("pre-merge-commit"))
    merge(project)
    assert project.stands() == (Status.WORKING, None)


def test_one_checkout_serves_all_merges_and_each_finds_it_clean(project: RunProject) -> None:
    said = project.path.parent / "said"
    said.touch()
    project.settings(f"verify: {{test: 'echo $PWD >> {said}; [ ! -e left ] && touch left'}}\n")
    for name in ("aaaa", "bbbb", "cccc"):
        workspace = make_reviewing(project, name)
        git("reset", "--quiet", "--hard", "HEAD~1", at=workspace)
        commit_file(workspace, f"{name}.txt", "x\n")
        project.change(name, end_sha=git("rev-parse", "HEAD", at=workspace))
        approve(project, name)
    assert project.gt("merge").code == 0
    where = said.read_text().split()
    assert (len(where), len(set(where))) == (3, 1)
    assert list((project.path / ".git/gitticks/merge").iterdir()) == []


@pytest.mark.parametrize("strategy", MergeStrategy)
@pytest.mark.parametrize("why", ["taken back", "by hand"])
def test_without_a_difference_there_is_no_merge(project: RunProject, strategy: str, why: str) -> None:
    project.settings(f"merge: {{strategy: {strategy}}}\n")
    workspace = make_reviewing(project)
    if why == "by hand":
        commit_file(project.path, "login.txt", "k7f2\n", "the same by hand")
    else:
        git("revert", "--no-edit", "HEAD", at=workspace)
        project.change("k7f2", end_sha=head(project, "gitticks/work/k7f2"))
    approve(project, "k7f2")
    before = head(project)
    result = merge(project)
    assert (head(project), result.sha) == (before, None)
    assert project.stands() == (Status.DONE, None)
    assert project.task("k7f2").closed_reason == "nothing to merge"
    assert merge(project).sha is None, "of who waited for the lock meanwhile"
    facts = "no changes" if why == "taken back" else "nothing to merge"
    assert facts in project.ok("review", "k7f2", "--stat")
    assert "nothing to merge" in project.ok("log", "k7f2")
    assert not workspace.exists()
    assert git("branch", "--list", "gitticks/work/*", at=project.path) == ""
    assert "k7f2" not in project.gt("doctor").seen


def test_what_is_not_approved_is_not_merged(project: RunProject) -> None:
    make_reviewing(project)
    with pytest.raises(RefusedError, match="is not approved: it is reviewing and awaits review"):
        merge(project)


def test_an_epic_that_is_not_merged_names_its_open_children(project: RunProject) -> None:
    make_reviewing(project, type="epic", status=Status.WORKING, awaiting=None)
    project.make("m3xq", parent="k7f2")
    with pytest.raises(RefusedError, match="it is working, and it has open children: `m3xq`"):
        merge(project)


def test_manual_mode_leaves_the_merge_to_the_person(project: RunProject) -> None:
    project.settings("merge: {mode: manual}\n")
    make_reviewing(project)
    before = head(project)
    project.ok("approve", "k7f2")
    assert project.stands() == (Status.REVIEWING, Awaiting.WORK)
    assert head(project) == before
    by_edit = {"GIT_EDITOR": "sed -i 's/^awaiting: work/&\\nverdict: approved/'"}
    for command in (("approve",), ("close",), ("merge",), ("update", "--verdict", "approved"), ("edit",)):
        refused = project.gt(command[0], "k7f2", *command[1:], environment=by_edit)
        assert refused.code == 3, refused.seen
        assert "on `main`, `git merge gitticks/work/k7f2` merges it and closes the task" in refused.err
    assert project.stands() == (Status.REVIEWING, Awaiting.WORK)
    git("merge", "--quiet", "--no-edit", "gitticks/work/k7f2", at=project.path)
    project.ok("approve", "k7f2")
    assert project.stands() == (Status.DONE, None)


def test_manual_mode_closes_no_work_that_was_neither_approved_nor_merged(project: RunProject) -> None:
    project.settings("merge: {mode: manual}\n")
    make_reviewing(project)
    refused = project.gt("close", "k7f2")
    assert refused.code == 3, refused.seen
    assert project.stands() == (Status.REVIEWING, Awaiting.REVIEW)


def test_manual_mode_lets_a_person_close_with_a_reason_what_they_did_not_merge(project: RunProject) -> None:
    project.settings("merge: {mode: manual}\n")
    make_reviewing(project)
    project.ok("approve", "k7f2")
    project.ok("close", "k7f2", "done another way")
    assert project.stands() == (Status.DONE, None)


def test_approved_work_is_merged_in_the_order_of_approval(project: RunProject) -> None:
    for name in ("bbbb", "aaaa"):
        workspace = make_reviewing(project, name)
        commit_file(workspace, f"{name}.txt", "x\n")
        git("reset", "--quiet", "--hard", "HEAD~1", at=workspace)
    approve(project, "bbbb")
    project.change("bbbb", approval=None, awaiting=Awaiting.REVIEW)
    for name in ("bbbb", "aaaa"):
        approve(project, name)
    tasks = [project.task(name) for name in ("aaaa", "bbbb")]
    by_approval = sorted(tasks, key=lambda task: (task.approval and task.approval.at.isoformat(), task.id))
    assert [task.id for task in queue(project).waiting()] == [task.id for task in by_approval]


def test_what_conflicts_with_others_that_wait_is_merged_last(project: RunProject) -> None:
    for name, file in (("aaaa", "shared.txt"), ("bbbb", "shared.txt"), ("cccc", "other.txt")):
        workspace = make_reviewing(project, name)
        git("reset", "--quiet", "--hard", "HEAD~1", at=workspace)
        commit_file(workspace, file, f"{name}\n")
        project.change(name, end_sha=git("rev-parse", "HEAD", at=workspace).strip())
        approve(project, name)
    waiting = [task.id for task in queue(project).waiting()]
    assert waiting == ["cccc", "aaaa", "bbbb"]
    assert [one["id"] for one in json.loads(project.ok("status", "--json"))["merging"]] == waiting
    assert queue(project).try_out(waiting) == {"cccc": (), "aaaa": (), "bbbb": ("shared.txt",)}


def test_trying_out_changes_nothing(project: RunProject) -> None:
    approved(project)
    tip, before = project.tip(), head(project)
    assert queue(project).try_out([K7F2]) == {K7F2: ()}
    commit_file(project.path, "login.txt", "mine\n")
    assert queue(project).try_out([K7F2]) == {K7F2: ("login.txt",)}
    assert project.tip() == tip
    assert head(project, "main~1") == before


def test_an_approval_without_a_commit_waits_and_keeps_no_run_busy(project: RunProject) -> None:
    project.make(status=Status.REVIEWING, approval=Approval("Ada", CREATED, None))
    ran = project.run()
    assert ran.seen.count("nothing says which commit was handed off") == 1
    assert project.task("k7f2").is_merging
