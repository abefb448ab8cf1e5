"""The git directory in the sandbox: the next session goes on with it as long as it fits."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from gitticks.git.checkouts import Checkout, checkout_at
from gitticks.git.identity import agent_identity
from gitticks.git.repository import Repository
from gitticks.runner.workspace_setup import name_committer
from gitticks.sandbox.private_git import PrivateGit, make_private
from tests.support.repositories import commit_file, git
from tests.support.workspaces import prepared, repository, top

__all__ = ["repository"]


@pytest.fixture
def checkout(repository: Repository) -> Checkout:
    for name in ("secret", "plain"):
        commit_file(top(repository), f"{name}/file.txt", f"{name}\n")
    return checkout_at(repository, prepared(repository).path)


def inside(private: PrivateGit, *words: str) -> str:
    return git(
        f"--git-dir={private.folder}",
        f"--work-tree={private.checkout.path}",
        *words,
        at=private.checkout.path,
    )


def left_alone(private: PrivateGit) -> list[str]:
    listed = (line.split(" ", 1) for line in inside(private, "ls-files", "-v").splitlines())
    return [path for flag, path in listed if flag == "S"]


def test_a_lock_that_a_killed_git_left_is_gone_in_the_next_session(
    repository: Repository, checkout: Checkout
) -> None:
    first = make_private(repository, checkout)
    for name in ("index.lock", "HEAD.lock", "refs/heads/topic.lock"):
        (first.folder / name).parent.mkdir(parents=True, exist_ok=True)
        (first.folder / name).touch()
    (first.folder / "kept").touch()
    (checkout.path / "new.txt").write_text("new\n")
    second = make_private(repository, checkout)
    inside(second, "add", "-A")
    inside(second, "branch", "topic")
    assert (second.folder / "kept").exists(), "it goes on with the same"


def test_what_is_hidden_is_left_alone_as_long_as_it_is(repository: Repository, checkout: Checkout) -> None:
    assert left_alone(make_private(repository, checkout)) == []
    hidden = make_private(repository, checkout, hidden=[checkout.path / "secret"])
    assert left_alone(hidden) == ["secret/file.txt"]
    assert left_alone(make_private(repository, checkout)) == []


def _empty(folder: Path) -> None:
    shutil.rmtree(folder)
    folder.mkdir()


@pytest.mark.parametrize(
    "harm", [_empty, lambda one: shutil.rmtree(one / "objects"), lambda one: (one / "HEAD").unlink()]
)
def test_one_that_git_would_not_know_is_made_again(
    repository: Repository, checkout: Checkout, harm: Callable[[Path], None]
) -> None:
    harm(make_private(repository, checkout).folder)
    assert inside(make_private(repository, checkout), "status", "--porcelain") == ""


def test_the_next_agent_commits_in_its_own_name(repository: Repository, checkout: Checkout) -> None:
    for name in ("claude", "codex"):
        name_committer(repository, checkout.path, agent_identity(name))
        assert inside(make_private(repository, checkout), "config", "user.name") == agent_identity(name).name


def test_what_git_ignores_here_it_ignores_there(repository: Repository, checkout: Checkout) -> None:
    make_private(repository, checkout)
    with (repository.common_dir / "info/exclude").open("a") as file:
        file.write("built\n")
    (checkout.path / "built").touch()
    assert inside(make_private(repository, checkout), "status", "--porcelain") == ""
