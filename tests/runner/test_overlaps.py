"""Conflicts that a run foresees are said by it, by `gt status` and by `gt inbox`, as long as they are there."""

from __future__ import annotations

import json

from tests.support.repositories import commit_file, git
from tests.support.runs import HANDOFF, NO_REVIEW, RunProject, project

__all__ = ["project"]

SHARED = (
    'echo "$GITTICKS_TASK" > "${GITTICKS_TASK#?}.txt"; git add -A; git commit -qm work\n'
    f"{HANDOFF}echo '<promise>COMPLETE</promise>'\n"
)
"""An agent that changes one file for `a111` and `b111`, and another one for `c222`."""


def test_work_that_conflicts_is_named_until_it_does_not(project: RunProject) -> None:
    project.settings(NO_REVIEW)
    project.agent(SHARED)
    for task_id in ("a111", "b111", "c222"):
        project.make(task_id)
    ran = project.run("--parallel", "3")
    assert ran.code == 3
    assert "its work conflicts with `b111` in `111.txt`" in ran.seen
    assert "a111  with b111 in 111.txt" in project.ok("status")
    found = json.loads(project.ok("status", "--json"))["conflicts"]
    assert found == [{"id": "a111", "with": "b111", "paths": ["111.txt"]}]
    inbox = project.ok("inbox")
    assert inbox.count("conflicts with") == 2
    assert "conflicts with b111" in inbox
    commit_file(project.workspace("b111"), "111.txt", "a111\n")
    assert "conflicts" not in project.ok("status")


def test_work_of_a_cancelled_task_conflicts_with_nothing(project: RunProject) -> None:
    project.settings(NO_REVIEW)
    project.agent(SHARED)
    project.make("a111")
    project.make("b111")
    assert project.run("--parallel", "2").code == 3
    assert "a111  with b111 in 111.txt" in project.ok("status")
    project.ok("cancel", "b111")
    assert "conflicts" not in project.ok("status")
    assert "conflicts" not in project.ok("inbox")


def test_all_that_a_task_conflicts_with_is_said_at_once(project: RunProject) -> None:
    project.settings(NO_REVIEW)
    project.agent(SHARED)
    for task_id in ("a111", "b111", "d111"):
        project.make(task_id)
    assert project.run("--parallel", "3").code == 3
    again = project.run().seen
    assert "its work conflicts with `b111` in `111.txt`, `d111` in `111.txt`\n" in again
    assert again.count("its work conflicts with") == 2


def test_a_conflict_with_a_base_that_moved_is_named(project: RunProject) -> None:
    project.settings(NO_REVIEW)
    project.agent(SHARED)
    project.make("a111")
    project.make("c222")
    assert project.run("a111").code == 3
    assert "conflicts" not in project.ok("status")
    commit_file(project.path, "111.txt", "other\n")
    project.run("c222")
    assert "a111  with main in 111.txt" in project.ok("status")
    git("reset", "-q", "--hard", "HEAD~1", at=project.path)
    assert "with main" not in project.ok("status")
