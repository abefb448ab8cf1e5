"""Workspaces that are listed and removed without losing anybody's work."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from gitticks.errors import GitticksError
from gitticks.git.repository import Repository
from gitticks.model.settings import WorkspaceSettings
from gitticks.runner import workspace_removal
from tests.support.repositories import commit_file, git
from tests.support.workspaces import FIRST, SETTINGS, TASK, prepared, remove, repository, top

__all__ = ["repository"]


def test_workspaces_may_lie_outside_of_the_checkout(repository: Repository, tmp_path: Path) -> None:
    settings = SETTINGS._replace(workspace=WorkspaceSettings(dir="../elsewhere"))
    workspace = prepared(repository, settings=settings)
    assert workspace.path.resolve() == tmp_path / "elsewhere" / "k7f2"
    (listed,) = workspace_removal.list_workspaces(repository, settings)
    assert listed.name == "k7f2"


@pytest.mark.parametrize("place", ["elsewhere", ".gitticks-work/my one"])
def test_a_workspace_that_was_moved_is_still_that_of_its_task(repository: Repository, place: str) -> None:
    workspace = prepared(repository)
    git("worktree", "move", str(workspace.path), place, at=top(repository))
    (listed,) = workspace_removal.list_workspaces(repository, SETTINGS)
    assert (listed.name, listed.path) == ("k7f2", top(repository) / place)


def test_a_workspace_on_the_branch_of_another_task_stays_that_of_its_own(repository: Repository) -> None:
    workspace = prepared(repository)
    git("switch", "-q", "-c", "gitticks/work/m3xq", at=workspace.path)
    (listed,) = workspace_removal.list_workspaces(repository, SETTINGS)
    assert (listed.name, listed.branch) == ("k7f2", "gitticks/work/m3xq")


def test_uncommitted_work_is_removed_only_by_force_and_then_kept(repository: Repository) -> None:
    workspace = prepared(repository)
    (workspace.path / "half.txt").write_text("half\n")
    with pytest.raises(GitticksError, match=r"`half\.txt`"):
        remove(repository)
    assert remove(repository, force=True) == "refs/gitticks/rescued/k7f2"
    assert not workspace.path.exists()
    assert git("show", "refs/gitticks/rescued/k7f2:half.txt", at=top(repository)) == "half"
    assert git("branch", "--list", "gitticks/work/k7f2", at=top(repository)) != ""


def test_a_removal_that_was_killed_half_way_is_finished(
    repository: Repository, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = prepared(repository)
    (workspace.path / "mine.txt").write_text("mine\n")
    git("add", "mine.txt", at=workspace.path)
    git("commit", "-qm", "mine", at=workspace.path)

    class KilledError(BaseException):
        pass

    def killed(*_: object, **__: object) -> None:
        (workspace.path / "README.md").unlink()
        (workspace.path / ".git").unlink()
        raise KilledError

    with monkeypatch.context() as patched:
        patched.setattr(workspace_removal, "remove_worktree", killed)
        with pytest.raises(KilledError):
            remove(repository)
    (workspace.path / "mine.txt").write_text("mine, later\n")
    with pytest.raises(GitticksError, match=r"uncommitted work: `mine\.txt`"):
        remove(repository)
    (workspace.path / "mine.txt").unlink()
    remove(repository)
    assert not workspace.path.exists()


def test_what_was_rescued_before_stays_reachable(repository: Repository) -> None:
    for text in ("one", "two"):
        workspace = prepared(repository)
        (workspace.path / "half.txt").write_text(text)
        remove(repository, force=True)
    ref = "refs/gitticks/rescued/k7f2"
    assert git("show", f"{ref}:half.txt", at=top(repository)) == "two"
    assert git("show", f"{ref}^2:half.txt", at=top(repository)) == "one"


def test_a_commit_on_no_branch_is_not_lost_with_its_workspace(repository: Repository) -> None:
    workspace = prepared(repository)
    git("switch", "--quiet", "--detach", at=workspace.path)
    lost = commit_file(workspace.path, "a.txt", "a\n")
    with pytest.raises(GitticksError, match="on no branch"):
        remove(repository)
    remove(repository, force=True)
    assert git("rev-parse", "refs/gitticks/rescued/k7f2^1", at=top(repository)) == lost


def test_after_a_merge_workspace_and_branch_go(repository: Repository) -> None:
    workspace = prepared(repository)
    made = commit_file(workspace.path, "a.txt", "a\n")
    task = replace(TASK, branch=workspace.branch, end_sha=made)
    workspace_removal.remove_after_merge(repository, task, SETTINGS)
    assert not workspace.path.exists()
    assert git("branch", at=top(repository)) == "* main"
    workspace_removal.remove_after_merge(repository, task, SETTINGS)


def test_after_a_merge_a_branch_that_went_on_stays(repository: Repository) -> None:
    workspace = prepared(repository)
    made = commit_file(workspace.path, "a.txt", "a\n")
    commit_file(workspace.path, "b.txt", "b\n")
    with pytest.raises(GitticksError, match="not merged"):
        workspace_removal.remove_after_merge(
            repository, replace(TASK, branch=workspace.branch, end_sha=made), SETTINGS
        )
    assert workspace.path.exists()


def test_a_worktree_that_a_person_added_stays_with_the_branch(repository: Repository, tmp_path: Path) -> None:
    made = commit_file(prepared(repository).path, "a.txt", "a\n")
    task = replace(TASK, branch="gitticks/work/k7f2", end_sha=made)
    own = tmp_path / "mine"
    git("worktree", "add", "--quiet", "--force", str(own), "gitticks/work/k7f2", at=repository.common_dir)
    (own / "secret").write_text("x")
    assert [one.name for one in workspace_removal.list_workspaces(repository, SETTINGS)] == ["k7f2"]
    with pytest.raises(GitticksError, match="`gitticks/work/k7f2` is checked out at"):
        workspace_removal.remove_after_merge(repository, task, SETTINGS)
    assert (own / "secret").exists()
    assert git("rev-parse", "HEAD", at=own)
    assert workspace_removal.list_workspaces(repository, SETTINGS) == ()


def test_workspaces_are_listed_by_name(repository: Repository) -> None:
    prepared(repository, FIRST)
    prepared(repository)
    git("worktree", "add", "--quiet", "-b", "mine", str(top(repository).parent / "mine"), at=top(repository))
    listed = workspace_removal.list_workspaces(repository, SETTINGS)
    assert [(one.name, one.branch) for one in listed] == [
        ("epic", "gitticks/work/epic"),
        ("k7f2", "gitticks/work/k7f2"),
    ]
