"""Four eyes: nobody approves, or closes by a merge of their own, what they worked on."""

from __future__ import annotations

import pytest

from gitticks.model.status import Awaiting, Status
from tests.support.repositories import commit_file, git
from tests.support.runs import RunProject, project

__all__ = ["project"]


def test_with_four_eyes_nobody_approves_what_they_did_before_the_task_was_reopened(
    project: RunProject,
) -> None:
    project.settings("review: none\napprovals: {four_eyes: true}\n")
    project.make(created_by="Ada Lovelace")
    git("config", "user.name", "Grace", at=project.path)
    project.ok("start", "k7f2")
    commit_file(project.workspace(), "mine.txt", "mine\n")
    project.ok("cancel", "k7f2")
    project.ok("reopen", "k7f2")
    git("config", "user.name", "Ada Lovelace", at=project.path)
    project.run()
    assert "mine.txt" in project.files("gitticks/work/k7f2")
    git("config", "user.name", "Grace", at=project.path)

    refused = project.gt("approve", "k7f2")

    assert (refused.code, "was worked on by Grace" in refused.err) == (3, True), refused.seen


@pytest.mark.parametrize("case", ["approved", "commits added since", "withdrawn since", "never approved"])
def test_with_four_eyes_a_merge_by_hand_closes_what_somebody_else_approved(
    project: RunProject, case: str
) -> None:
    project.settings("review: none\nmerge: {mode: manual}\napprovals: {four_eyes: true}\n")
    project.make()
    project.run()
    if case == "never approved":
        project.ok("update", "k7f2", "--awaiting", "work")
    else:
        git("config", "user.name", "Grace", at=project.path)
        project.ok("approve", "k7f2")
        git("config", "user.name", "Ada Lovelace", at=project.path)
    assert project.stands() == (Status.REVIEWING, Awaiting.WORK)
    if case == "commits added since":
        commit_file(project.workspace(), "more.txt", "more\n")
    if case == "withdrawn since":
        for awaiting in ("review", "work"):
            project.ok("update", "k7f2", "--awaiting", awaiting)
    git("merge", "-q", "--no-ff", "--no-edit", "gitticks/work/k7f2", at=project.path)
    project.ok("status")

    is_done = case == "approved"
    assert project.stands() == ((Status.DONE, None) if is_done else (Status.REVIEWING, Awaiting.ESCALATION))


def test_a_squash_that_is_asked_about_is_closed_by_somebody_else(project: RunProject) -> None:
    project.settings("review: none\nmerge: {mode: manual}\napprovals: {four_eyes: true}\n")
    project.make()
    project.run()
    project.ok("update", "k7f2", "--awaiting", "work")
    git("merge", "-q", "--squash", "gitticks/work/k7f2", at=project.path)
    git("commit", "-q", "-m", "the greeting", at=project.path)
    project.ok("status")
    assert project.stands() == (Status.REVIEWING, Awaiting.ESCALATION)
    git("config", "user.name", "Grace", at=project.path)

    project.ok("close", "k7f2")

    assert project.stands() == (Status.DONE, None)


def test_with_four_eyes_whoever_hands_off_what_they_resolved_does_not_approve_it(project: RunProject) -> None:
    project.settings("review: none\nmerge: {on_conflict: stuck}\napprovals: {four_eyes: true}\n")
    project.make()
    project.run()
    commit_file(project.path, "k7f2.txt", "yours\n")
    git("config", "user.name", "Grace", at=project.path)
    assert "stuck: conflicts with main" in project.gt("approve", "k7f2").seen
    git("merge", "-q", "-s", "ours", "--no-edit", "main", at=project.workspace())
    project.ok("handoff", "k7f2", "Merged main.")

    assert "was worked on by Grace" in project.gt("merge", "--continue", "k7f2").err
    git("config", "user.name", "Bob", at=project.path)
    assert "done" in project.ok("merge", "--continue", "k7f2")
