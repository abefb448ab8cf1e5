from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from gitticks.actions.context import Context
from gitticks.actions.run import run_context
from gitticks.git.locks import hold_lock
from gitticks.model.settings import Settings
from gitticks.runner import workspace_removal
from gitticks.runner.events import RunEvent
from gitticks.runner.outcome import RunExit
from gitticks.runner.workspace_removal import (
    delete_removed,
    list_removed,
    remove_merged,
    set_aside,
    tidy_up,
)
from tests.runner.merges import approve, merge
from tests.support.loose_objects import counts, plant
from tests.support.repositories import fsck_problems, git
from tests.support.runs import NO_PERSON, NO_REVIEW, RunProject, project
from tests.support.waiting import LONGEST_SECONDS, until

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


def test_a_run_that_does_not_end_packs_between_its_merges(project: RunProject) -> None:
    let_git_pack(project)
    project.settings(NO_PERSON)
    project.make()
    with project.running("--auto", "--all") as process:
        until(lambda: project.merges() == ["k7f2"])
        until(lambda: not (project.path / ".git/refs/gitticks/checkpoints/k7f2/1").exists())
        assert process.poll() is None
        assert git("rev-parse", "refs/gitticks/checkpoints/k7f2/1", at=project.path)
        project.interrupt(process)
        process.wait(LONGEST_SECONDS)
    assert fsck_problems(project.path) == ""


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
        lock = project.path / ".git" / f"{name}.lock"
        lock.touch()
        os.utime(lock, (time.time() - 10,) * 2)  # older than any git of the run
    assert project.run().code == RunExit.DONE
    assert git("branch", "--list", "gitticks/work/*", at=project.path) == ""
    assert not list((project.path / ".git").glob("*.lock"))


def plant_removed(project: RunProject) -> Path:
    """Puts files where a run that is killed while it deletes a workspace leaves them."""
    left = project.workspace().parent / ".removed" / "k7f2.0a1b2c3d"
    (left / "below").mkdir(parents=True)
    (left / "below" / "file.txt").write_text("work\n")
    (left / "below").chmod(0o500)
    return left


def test_a_run_deletes_what_a_killed_one_had_set_aside(project: RunProject) -> None:
    project.settings(f"{NO_REVIEW}human: when-required\n")
    project.make()
    left = plant_removed(project)
    assert project.run().code == RunExit.DONE
    assert not left.parent.exists()
    assert not project.workspace().exists()


def test_gc_lists_what_is_not_deleted_yet_and_deletes_it(project: RunProject) -> None:
    left = plant_removed(project)
    assert "k7f2.0a1b2c3d" in project.ok("worktree", "gc", "--dry-run")
    assert left.exists()
    project.ok("worktree", "gc")
    assert not left.exists()


def test_a_workspace_is_out_of_the_way_before_its_files_are_deleted(
    project: RunProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.settings(NO_REVIEW)
    project.make()
    project.run()
    with monkeypatch.context() as patched:
        patched.setattr(workspace_removal, "delete_removed", lambda *_: None)
        approve(project, "k7f2")
        merge(project)
    (left,) = list_removed(project.store.repository, Settings())
    assert not project.workspace().exists()
    assert (left / "README.md").exists()
    assert git("branch", "--list", "gitticks/work/*", at=project.path) == ""
    delete_removed(project.store.repository, Settings())
    assert not left.parent.exists()


def test_a_workspace_that_was_made_again_meanwhile_stays(
    project: RunProject, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.settings(f"{NO_REVIEW}human: when-required\n")
    project.make()
    project.run()
    merged, folder = project.task("k7f2"), plant_workspace(project)

    def make_anew(*of: object) -> bool:
        is_aside = set_aside(*of)  # type: ignore[arg-type]
        git("worktree", "prune", at=project.path)
        git("worktree", "add", "-q", str(folder), "gitticks/work/k7f2", at=project.path)
        (folder / "mine.txt").write_text("mine\n")
        return is_aside

    monkeypatch.setattr(workspace_removal, "set_aside", make_anew)
    said: list[RunEvent] = []
    remove_merged(run_context(Context(directory=project.path), said.append), merged)
    assert "another workspace was made" in str(said)
    assert (folder / "mine.txt").exists()
    assert git("branch", "--list", "gitticks/work/*", at=project.path) != ""


def test_a_task_that_was_reopened_meanwhile_keeps_its_workspace(project: RunProject) -> None:
    project.settings(f"{NO_REVIEW}human: when-required\n")
    project.make()
    project.run()
    merged = project.task("k7f2")
    folder = plant_workspace(project)
    project.ok("reopen", "k7f2")
    remove_merged(run_context(Context(directory=project.path), lambda _: None), merged)
    assert folder.exists()
