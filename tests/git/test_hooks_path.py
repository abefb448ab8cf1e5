"""Where a person's own hooks lie."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitticks.git.config import HIDDEN_HOOKS_PATH, OwnHooks, find_own_hooks
from gitticks.git.repository import Repository, discover
from tests.support.repositories import git, make_repository


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
