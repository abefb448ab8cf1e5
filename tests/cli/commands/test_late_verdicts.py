"""A verdict or a review that is typed into a file holds for what the file shows, and for nothing that comes later."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitticks.actions.context import Context
from gitticks.actions.editing import finish_edit, start_edit
from gitticks.actions.hook_followup import follow_commit
from gitticks.errors import RefusedError
from gitticks.model.ids import TaskId
from gitticks.model.status import Awaiting, Status
from tests.support.projects import Project, make_project, make_reviewing
from tests.support.repositories import commit_file, git, run_git_command

VERDICT = ("\nawaiting:", "\nverdict: approved\nawaiting:")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return make_project(tmp_path / "project")


def hand_off_again(project: Project, workspace: Path) -> None:
    """Sends the work back, and hands it off with a commit more."""
    project.ok("reject", "k7f2", "Once more.")
    commit_file(workspace, "login.txt", "Nobody has seen this.\n", "again")
    project.ok("handoff", "k7f2", "-", input="DONE: more")
    for status in ("agent-review", "reviewing"):
        project.ok("update", "k7f2", "--status", status)


def commit(project: Project) -> str:
    return run_git_command("commit", "-qam", "of another task", at=project.board).stderr


def assert_nothing_approved(project: Project) -> None:
    task = project.task("k7f2")
    assert (task.status, task.awaiting, task.approval) == (Status.REVIEWING, Awaiting.REVIEW, None)
    assert (task.review_round, task.verdict) == (2, None)


@pytest.mark.parametrize("is_late", [True, False])
def test_a_saved_verdict_is_refused_once_the_work_is_another(project: Project, is_late: bool) -> None:
    workspace = make_reviewing(project, body="Text.\n")
    file = project.board_file("k7f2")
    typed = file.read_text().replace(*VERDICT, 1)
    if not is_late:
        file.write_text(typed)
    hand_off_again(project, workspace)
    if is_late:  # as an editor that was open all the time
        file.write_text(typed)
    for _ in range(2):
        assert "without your verdict, which was given before the task changed" in commit(project)
        assert "without your verdict, which was given" in project.ok("status")
        git("add", "-A", at=project.board)
    assert_nothing_approved(project)
    project.save("k7f2", "verdict: approved\n", "")
    project.save("k7f2", "Text.", "More text.")
    project.ok("status")
    assert project.board_status() == ""
    assert project.file("k7f2").summary == "More text."
    assert_nothing_approved(project)


def test_a_verdict_of_an_answered_question_approves_no_work(project: Project) -> None:
    question = "Text.\n\n## Questions\n\n### 2026-03-04T05:06:07Z · agent · claude\n\nWhich?\n"
    project.make("k7f2", status=Status.CLARIFICATION, awaiting=Awaiting.INPUT, body=question)
    project.save("k7f2", *VERDICT)
    assert "gt respond k7f2" in commit(project)
    project.ok("respond", "k7f2", "Navy.")
    project.ok("handoff", "k7f2", "-", input="DONE: all")
    for status in ("agent-review", "reviewing"):
        project.ok("update", "k7f2", "--status", status)
    assert "your edit conflicts" in commit(project)
    assert project.task("k7f2").status is Status.REVIEWING


def test_a_verdict_is_refused_if_the_work_changed_while_the_editor_was_open(project: Project) -> None:
    workspace = make_reviewing(project)
    context = Context(directory=project.path)
    draft = start_edit(context, TaskId("k7f2"))
    draft.path.write_text(draft.path.read_text().replace(*VERDICT, 1))
    hand_off_again(project, workspace)
    with pytest.raises(RefusedError, match="your verdict was for what it was before"):
        finish_edit(context, TaskId("k7f2"), draft)
    assert_nothing_approved(project)


def test_a_committed_verdict_is_reverted_if_the_head_moves_before_it_is_carried_out(project: Project) -> None:
    make_reviewing(project)
    project.save("k7f2", *VERDICT)
    git("-c", "core.hooksPath=/dev/null", "commit", "--quiet", "-am", "approved", at=project.board)
    project.change("k7f2", end_sha=git("rev-parse", "main", at=project.path))
    (followed,) = follow_commit(Context(directory=project.board))
    assert "changed since you looked: its head is" in str(followed.refusal)
    task = project.task("k7f2")
    assert (task.status, task.approval, task.verdict) == (Status.REVIEWING, None, None)


def test_a_stashed_verdict_is_dropped(project: Project) -> None:
    workspace = make_reviewing(project)
    project.save("k7f2", *VERDICT)
    git("stash", "--quiet", at=project.board)
    hand_off_again(project, workspace)
    said = run_git_command("stash", "pop", at=project.board).stderr
    assert "the stashed `verdict: approved` was given before the task changed, so it is dropped" in said
    commit(project)
    assert_nothing_approved(project)


def test_a_review_of_an_earlier_round_opens_no_gate(project: Project) -> None:
    make_reviewing(project, status=Status.AGENT_REVIEW, awaiting=None, body="Text.\n")
    reviewed = project.board_file("k7f2").read_text() + "\n## Review\n\nPASS\n"
    project.ok("review", "k7f2", "--reject", "Once more.")
    project.ok("handoff", "k7f2", "-", input="DONE: more")
    project.ok("update", "k7f2", "--status", "agent-review")
    project.board_file("k7f2").write_text(reviewed)
    for _ in range(2):
        assert "your edit conflicts" in commit(project)
        git("add", "-A", at=project.board)
    assert project.file("k7f2").section("Review") is None
