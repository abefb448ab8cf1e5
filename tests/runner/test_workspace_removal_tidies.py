from __future__ import annotations

from pathlib import Path

import pytest

from gitticks.git.locks import hold_lock
from gitticks.runner import workspace_removal
from gitticks.runner.outcome import RunExit
from gitticks.runner.workspace_removal import tidy_up
from tests.support.loose_objects import counts, plant
from tests.support.repositories import fsck_problems, git
from tests.support.runs import NO_REVIEW, RunProject, project

__all__ = ["project"]


def let_git_pack(project: RunProject) -> None:
    """Lets git's own housekeeping run here, and makes it due."""
    git("config", "gc.auto", "1", at=project.path)
    git("config", "maintenance.auto", "true", at=project.path)
    plant(project.path, 2)


def test_a_run_packs_what_it_left_loose(project: RunProject) -> None:
    let_git_pack(project)
    project.settings(NO_REVIEW)
    project.make()
    assert project.run().code == RunExit.WAITS
    assert counts(project.path)["count"] == 0
    assert counts(project.path)["in-pack"] > 20
    project.ok("approve", "k7f2")
    assert project.merges() == ["k7f2"]
    assert fsck_problems(project.path) == ""
    assert project.board_status() == ""


def test_a_run_leaves_few_objects_loose(project: RunProject) -> None:
    project.settings(NO_REVIEW)
    project.make()
    project.run()
    assert counts(project.path)["packs"] == 0


def test_whoever_writes_goes_first(project: RunProject, monkeypatch: pytest.MonkeyPatch) -> None:
    let_git_pack(project)
    monkeypatch.setattr(workspace_removal, "_LOCK_SECONDS", 0.01)
    with hold_lock(project.store.repository.own_dir / "lock"):
        assert tidy_up(project.store.repository) == 0
    assert tidy_up(project.store.repository) > 0


def test_what_goes_wrong_is_no_failure_of_the_run(project: RunProject) -> None:
    let_git_pack(project)
    packs = project.path / ".git/objects/pack"
    packs.rmdir()
    packs.write_text("no folder")
    assert tidy_up(project.store.repository) == 0
    packs.unlink()


def test_a_project_that_is_gone_is_none_either(project: RunProject, tmp_path: Path) -> None:
    repository = project.store.repository
    (project.path / ".git/objects").rename(tmp_path / "objects")
    assert tidy_up(repository) == 0
    (tmp_path / "objects").rename(project.path / ".git/objects")


def plant_workspace(project: RunProject) -> Path:
    """Puts the workspace of the merged task back, as it is after a kill between the merge and its removal."""
    branch, folder = "gitticks/work/k7f2", project.workspace()
    git(
        "worktree", "add", "-q", "-b", branch, str(folder), str(project.task("k7f2").end_sha), at=project.path
    )
    return folder


def test_a_run_removes_the_workspace_that_a_killed_merge_left(project: RunProject) -> None:
    project.settings(f"{NO_REVIEW}human: when-required\n")
    project.make()
    project.run()
    folder = plant_workspace(project)
    assert project.run().code == RunExit.DONE
    assert not folder.exists()
    assert git("branch", "--list", "gitticks/work/*", at=project.path) == ""


def test_a_workspace_stays_while_somebody_merges(
    project: RunProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.settings(f"{NO_REVIEW}human: when-required\n")
    project.make()
    project.run()
    folder = plant_workspace(project)
    monkeypatch.setattr(workspace_removal, "_LOCK_SECONDS", 0.01)
    with hold_lock(project.store.repository.own_dir / "merge.lock"):
        assert project.run().code == RunExit.DONE
    assert folder.exists()
    assert project.run().code == RunExit.DONE
    assert not folder.exists()


def test_a_run_leaves_what_a_person_does_in_the_workspace_of_a_merged_task(project: RunProject) -> None:
    project.settings(f"{NO_REVIEW}human: when-required\n")
    project.make()
    project.run()
    folder = plant_workspace(project)
    (folder / "mine.txt").write_text("mine\n")
    assert project.run().code == RunExit.DONE
    assert (folder / "mine.txt").read_text() == "mine\n"
    git("add", "mine.txt", at=folder)
    git("commit", "-qm", "mine", at=folder)
    assert project.run().code == RunExit.DONE
    assert git("show", "gitticks/work/k7f2:mine.txt", at=project.path) == "mine"


def test_a_run_removes_the_branch_whose_removal_was_killed(project: RunProject) -> None:
    project.settings(f"{NO_REVIEW}human: when-required\n")
    project.make()
    project.run()
    git("branch", "gitticks/work/k7f2", str(project.task("k7f2").end_sha), at=project.path)
    for name in ("packed-refs", "refs/heads/gitticks/work/k7f2"):
        (project.path / ".git" / f"{name}.lock").write_bytes(b"")
    assert project.run().code == RunExit.DONE
    assert git("branch", "--list", "gitticks/work/*", at=project.path) == ""
    assert not list((project.path / ".git").glob("*.lock"))
