"""Settings of one worktree alone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gitticks.git.config import (
    HIDDEN_HOOKS_PATH,
    OwnHooks,
    enable_worktree_config,
    exclude_folders,
    find_own_hooks,
    read_worktree_setting,
    write_worktree_setting,
)
from gitticks.git.repository import Repository, discover
from tests.support.repositories import add_linked_worktree, git, make_repository, run_git_command

FOLDERS = (".gitticks", ".gitticks-work", "odd [x] *name")


def test_a_setting_holds_in_its_worktree_only(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "project")
    linked = add_linked_worktree(root, tmp_path / "linked", "topic")
    repository = discover(linked)
    enable_worktree_config(repository)
    enable_worktree_config(repository)
    write_worktree_setting(repository.git_dir, "core.hooksPath", "somewhere")
    assert read_worktree_setting(repository.git_dir, "core.hooksPath") == "somewhere"
    assert git("config", "core.hooksPath", at=linked) == "somewhere"
    assert run_git_command("config", "core.hooksPath", at=root).returncode == 1
    for _ in range(2):
        write_worktree_setting(repository.git_dir, "core.hooksPath", None)
    assert read_worktree_setting(repository.git_dir, "core.hooksPath") is None
    assert not (repository.git_dir / "config.worktree").exists()


@pytest.mark.parametrize("name", ["config.lock", "worktrees/linked/config.worktree.lock"])
def test_what_a_killed_git_left_locked_is_no_obstacle(tmp_path: Path, name: str) -> None:
    root = make_repository(tmp_path / "root")
    repository = discover(add_linked_worktree(root, tmp_path / "linked", "topic"))
    lock = root / ".git" / name
    lock.write_bytes(b"")
    os.utime(lock, (0, 0))
    enable_worktree_config(repository)
    write_worktree_setting(repository.git_dir, "core.eol", "lf")
    assert read_worktree_setting(repository.git_dir, "core.eol") == "lf"
    assert not lock.exists()


def test_bare_repositories_and_submodules_keep_what_they_are(tmp_path: Path) -> None:
    bare = make_repository(tmp_path / "bare", bare=True)
    enable_worktree_config(discover(bare))
    linked = add_linked_worktree(bare, tmp_path / "linked", "topic")
    assert git("rev-parse", "--is-bare-repository", at=bare) == "true"
    assert git("rev-parse", "--is-bare-repository", at=linked) == "false"
    outer = make_repository(tmp_path / "outer")
    git("submodule", "--quiet", "add", str(make_repository(tmp_path / "library")), "lib", at=outer)
    enable_worktree_config(discover(outer / "lib"))
    beside = add_linked_worktree(outer / "lib", tmp_path / "beside", "topic")
    assert git("rev-parse", "--show-toplevel", at=outer / "lib") == str(outer / "lib")
    assert git("rev-parse", "--show-toplevel", at=beside) == str(beside)
    assert discover(beside).main_worktree == outer / "lib"


def test_adds_each_folder_once_and_keeps_what_is_there(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "project")
    file = root / ".git" / "info" / "exclude"
    file.write_text("*.mine")
    exclude_folders(discover(root), FOLDERS)
    first = file.read_text()
    exclude_folders(discover(root), FOLDERS)
    assert file.read_text() == first
    assert first.startswith("*.mine\n")
    for folder in FOLDERS:
        (root / folder).mkdir()
        (root / folder / "file").write_text("")
    (root / "odd x name").mkdir()
    (root / "odd x name" / "seen").write_text("")
    assert git("status", "--porcelain", "-uall", at=root) == '?? "odd x name/seen"'


def test_makes_the_file_and_leaves_out_folders_elsewhere(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "project")
    (root / ".git" / "info" / "exclude").unlink()
    exclude_folders(discover(root), ["../beside", "/elsewhere/far"])
    assert not (root / ".git" / "info" / "exclude").exists()
    exclude_folders(discover(root), ["inside"])
    assert (root / ".git" / "info" / "exclude").read_text().endswith("/inside/\n")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    return discover(make_repository(tmp_path / "project"))


def test_the_repositorys_own_folder_is_the_usual_one(repository: Repository) -> None:
    assert find_own_hooks(repository) == OwnHooks(repository.common_dir / "hooks", None)
    assert not find_own_hooks(repository).is_missing


@pytest.mark.parametrize("scope", ["--global", "--local"])
def test_a_named_folder_counts_from_the_top(repository: Repository, scope: str) -> None:
    top = repository.require_project_dir("this")
    git("config", scope, "core.hooksPath", ".husky/_", at=top)
    own = find_own_hooks(repository)
    assert (own.folder, own.named, own.is_missing) == (top / ".husky/_", ".husky/_", True)
    own.folder.mkdir(parents=True)
    assert not find_own_hooks(repository).is_missing


def test_the_nearest_word_counts_and_ours_never(repository: Repository) -> None:
    top = repository.require_project_dir("this")
    git("config", "--global", "core.hooksPath", "/theirs", at=top)
    git("config", "core.hooksPath", ".git/gitticks/checkout-hooks", at=top)
    assert find_own_hooks(repository).named == "/theirs"
    git("config", HIDDEN_HOOKS_PATH, "mine", at=top)
    assert find_own_hooks(repository).folder == top / "mine"


def test_home_is_understood(repository: Repository) -> None:
    top = repository.require_project_dir("this")
    git("config", "core.hooksPath", "~/hooks", at=top)
    assert find_own_hooks(repository).folder == Path.home() / "hooks"


def test_a_bare_repository_has_hooks_too(tmp_path: Path) -> None:
    bare = make_repository(tmp_path / "bare.git", bare=True)
    assert find_own_hooks(discover(bare)).folder == bare / "hooks"
