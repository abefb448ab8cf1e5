"""The board in a submodule, and beside a worktree configuration of the person's own: edits, runs and merges as ever."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.bad_boards import SCRIPT
from tests.support.projects import Project
from tests.support.repositories import clone, commit_file, fsck_problems, git, make_repository


def _work(project: Project) -> None:
    """Does everything once: an edit that is saved, one that is committed, a run, a merge."""
    project.ok("init")
    project.ok("config", "human", "when-required")
    task_id = project.create("Greet")
    file = project.board_file(task_id)
    file.write_text(file.read_text().replace("title: Greet", "title: Greet all"))
    assert "edited, now committed" in project.ok("status")
    assert project.task(task_id).title == "Greet all"
    file.write_text(file.read_text().replace("status: pending", "status: pending\npriority: 1"))
    git("commit", "-qam", "raise it", at=project.board)
    assert project.task(task_id).priority == 1
    project.make("r9uv", body=SCRIPT)
    before = git("rev-parse", "HEAD", at=project.path)
    ran = project.gt("run", "r9uv", "--headless", "--debounce", "0")
    assert project.task("r9uv").status.value == "done", ran.seen
    assert git("log", "-1", "--format=%s", "main", "--", "done.txt", at=project.path) != ""
    assert git("merge-base", before, "main", at=project.path) == before
    assert project.board_status() == ""
    assert fsck_problems(project.path) == ""
    found = project.gt("doctor")
    assert "no problems found" in found.out, found.seen


def _make_superproject(path: Path) -> Path:
    make_repository(path / "origin")
    superproject = make_repository(path / "super")
    git("submodule", "--quiet", "add", str(path / "origin"), "libs/lib", at=superproject)
    git("commit", "-qm", "a submodule", at=superproject)
    return superproject


def test_in_a_submodule(tmp_path: Path) -> None:
    superproject = _make_superproject(tmp_path)
    lib = Project(superproject / "libs/lib")
    _work(lib)
    assert (lib.path / "done.txt").exists()
    assert git("status", "--porcelain", at=lib.path) == ""
    assert git("status", "--porcelain", at=superproject) == " M libs/lib"
    git("commit", "-qam", "take the work", at=superproject)
    assert git("submodule", "status", at=superproject).startswith(f" {git('rev-parse', 'HEAD', at=lib.path)}")


def test_in_a_submodule_that_came_with_a_clone(tmp_path: Path) -> None:
    superproject = _make_superproject(tmp_path)
    copy = clone(superproject, tmp_path / "copy", "--recurse-submodules")
    lib = Project(copy / "libs/lib")
    _work(lib)
    git("submodule", "--quiet", "update", at=copy)
    assert git("status", "--porcelain", at=copy) == ""
    assert git("log", "--oneline", "main", "--", "done.txt", at=lib.path) != ""


def test_the_superproject_beside_a_submodule(tmp_path: Path) -> None:
    superproject = Project(_make_superproject(tmp_path))
    _work(superproject)
    assert (superproject.path / "libs/lib/README.md").exists()
    assert git("submodule", "status", at=superproject.path).startswith(" ")


@pytest.mark.parametrize("is_submodule", [False, True])
def test_beside_a_worktree_configuration_of_the_persons_own(tmp_path: Path, *, is_submodule: bool) -> None:
    path = (
        _make_superproject(tmp_path) / "libs/lib" if is_submodule else make_repository(tmp_path / "project")
    )
    git("config", "core.repositoryFormatVersion", "1", at=path)
    if is_submodule:  # as git's own page on worktrees tells to do before the extension is set
        worktree = git("config", "core.worktree", at=path)
    git("config", "extensions.worktreeConfig", "true", at=path)
    if is_submodule:
        git("config", "--worktree", "core.worktree", worktree, at=path)
        git("config", "--unset", "core.worktree", at=path)
    git("config", "--worktree", "user.name", "Grace", at=path)
    git("config", "--worktree", "core.hooksPath", ".githooks", at=path)
    hook = path / ".githooks/post-commit"
    hook.parent.mkdir()
    hook.write_text('#!/bin/sh\necho ran >> "$(git rev-parse --git-common-dir)/own-hook"\n')
    hook.chmod(0o755)
    commit_file(path, "more.txt", "more\n")
    own = git("config", "--worktree", "--list", at=path)
    _work(Project(path))
    assert git("config", "--worktree", "--list", at=path) == own
    assert git("config", "user.name", at=path) == "Grace"
    assert git("log", "-1", "--format=%an", "--grep=raise it", "gitticks/state", at=path) == "Grace"
    common = Path(git("rev-parse", "--path-format=absolute", "--git-common-dir", at=path))
    assert "ran" in (common / "own-hook").read_text()
