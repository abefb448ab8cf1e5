from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import pytest

from gitticks.actions.changes import at_its_branch, find_changes
from gitticks.git.repository import Repository, discover
from gitticks.model.ids import TaskId
from gitticks.model.task import Task
from tests.support.projects import Project, make_project, make_reviewing
from tests.support.repositories import commit_file, git

AMPLE = time.monotonic() + 10**6


def work(base: str, branch: str | None, start: str | None, end: str | None) -> Task:
    return Task(TaskId("k7f2"), "Work", base=base, branch=branch, start_sha=start, end_sha=end)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = make_project(tmp_path)
    make_reviewing(made)
    return made


@pytest.fixture
def repository(project: Project) -> Repository:
    return discover(project.path)


def test_what_merges_cleanly(project: Project, repository: Repository) -> None:
    found = find_changes(repository, project.task("k7f2"), AMPLE, with_conflicts=True)
    assert found is not None
    assert (found.summary.files, found.summary.added, found.summary.removed) == (1, 1, 0)
    assert (found.base, found.conflicts) == ("main", ())
    commit_file(project.path, "other.txt", "other\n", "something else")
    again = find_changes(repository, project.task("k7f2"), AMPLE, with_conflicts=True)
    assert again == found


def test_what_conflicts(project: Project, repository: Repository) -> None:
    commit_file(project.path, "login.txt", "another\n", "the same file")
    found = find_changes(repository, project.task("k7f2"), AMPLE, with_conflicts=True)
    assert found is not None
    assert found.conflicts == ("login.txt",)
    without = find_changes(repository, project.task("k7f2"), AMPLE, with_conflicts=False)
    assert without is not None
    assert without.conflicts is None


@pytest.mark.parametrize(
    "task",
    [
        work("main", None, None, None),
        work("main", None, "a" * 40, "b" * 40),
        work("main", "gitticks/work/k7f2", "--help", "b" * 40),
        work("gone", None, "a" * 40, None),
        work("../..", "x", "a" * 40, "b" * 40),
    ],
)
def test_what_git_cannot_tell_is_left_out(repository: Repository, task: Task) -> None:
    assert find_changes(repository, task, AMPLE, with_conflicts=True) is None


def test_before_the_hand_off_the_branch_tells(project: Project, repository: Repository) -> None:
    head = git("rev-parse", "gitticks/work/k7f2", at=project.path)
    task = project.task("k7f2")
    assert at_its_branch(repository, replace(task, end_sha=None)).end_sha == head
    assert at_its_branch(repository, task) == task
    nowhere = work("main", "gone", task.start_sha, None)
    assert at_its_branch(repository, nowhere) == nowhere
    odd = work("main", "..", task.start_sha, None)
    assert at_its_branch(repository, odd) == odd
