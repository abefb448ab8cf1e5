from __future__ import annotations

from pathlib import Path

import pytest

from gitticks.actions.changes import Allowance, GitNames, find_changes, names_with_branch
from gitticks.git.repository import Repository, discover
from tests.support.projects import Project, make_project, make_reviewing
from tests.support.repositories import commit_file, git

AMPLE = 60.0


def names_of(project: Project, task_id: str = "k7f2") -> GitNames:
    task = project.task(task_id)
    return GitNames(task.base, task.branch, task.start_sha, task.end_sha)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    made = make_project(tmp_path)
    make_reviewing(made)
    return made


@pytest.fixture
def repository(project: Project) -> Repository:
    return discover(project.path)


def test_what_merges_cleanly(project: Project, repository: Repository) -> None:
    found = find_changes(repository, names_of(project), Allowance(AMPLE), with_conflicts=True)
    assert found is not None
    assert (found.summary.files, found.summary.added, found.summary.removed) == (1, 1, 0)
    assert (found.base, found.conflicts) == ("main", ())
    commit_file(project.path, "other.txt", "other\n", "something else")
    again = find_changes(repository, names_of(project), Allowance(AMPLE), with_conflicts=True)
    assert again == found


def test_what_conflicts(project: Project, repository: Repository) -> None:
    commit_file(project.path, "login.txt", "another\n", "the same file")
    found = find_changes(repository, names_of(project), Allowance(AMPLE), with_conflicts=True)
    assert found is not None
    assert found.conflicts == ("login.txt",)
    without = find_changes(repository, names_of(project), Allowance(AMPLE), with_conflicts=False)
    assert without is not None
    assert without.conflicts is None


@pytest.mark.parametrize(
    "names",
    [
        GitNames("main", None, None, None),
        GitNames("main", None, "a" * 40, "b" * 40),
        GitNames("main", "gitticks/work/k7f2", "--help", "b" * 40),
        GitNames("gone", None, "a" * 40, None),
        GitNames("../..", "x", "a" * 40, "b" * 40),
    ],
)
def test_what_git_cannot_tell_is_left_out(repository: Repository, names: GitNames) -> None:
    assert find_changes(repository, names, Allowance(AMPLE), with_conflicts=True) is None


def test_once_the_time_is_spent_nothing_is_waited_for() -> None:
    spent = Allowance(0)
    assert spent.is_spent
    assert 0 < spent.seconds < 1


def test_before_the_hand_off_the_branch_tells(project: Project, repository: Repository) -> None:
    head = git("rev-parse", "gitticks/work/k7f2", at=project.path)
    names = names_of(project)
    begun = GitNames(names.base, names.branch, names.start, None)
    assert names_with_branch(repository, begun).head == head
    assert names_with_branch(repository, names) == names
    nowhere = GitNames("main", "gone", names.start, None)
    assert names_with_branch(repository, nowhere) == nowhere
    odd = GitNames("main", "..", names.start, None)
    assert names_with_branch(repository, odd) == odd
