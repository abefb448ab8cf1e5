"""A repository that the environment names: it counts where the folder is in none, and never against the folder."""

from __future__ import annotations

from pathlib import Path
from shlex import split

import pytest

from gitticks.errors import GitticksError, NotFoundError
from gitticks.git.repository import discover
from gitticks.git.repository_lookup import find_place_of_hook, find_repository
from tests.support.repositories import add_linked_worktree, git, make_repository


def dotfiles(home: Path) -> Path:
    """Makes what `yadm init` and `vcsh init` make: a git directory elsewhere, whose checkout is the home."""
    git_dir = home / ".local" / "dots.git"
    git("init", "--quiet", "--bare", "-b", "main", str(git_dir), at=home)
    git("config", "core.bare", "false", at=git_dir)
    git("config", "core.worktree", str(home), at=git_dir)
    return git_dir


@pytest.fixture
def home(tmp_path: Path) -> Path:
    home = tmp_path / "my home"
    home.mkdir()
    return home


def test_without_the_variable_or_with_one_that_names_nothing_the_folder_counts(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "r")
    for named in ({}, {"GIT_DIR": ""}, {"GIT_DIR": "/nowhere"}, {"GIT_DIR": "."}, {"GIT_WORK_TREE": "/"}):
        assert find_repository(str(top), named) == discover(top)
        assert find_place_of_hook(str(top), named) is None
    for environment, hint in (
        ({"GIT_DIR": "/nowhere"}, "`unset GIT_DIR`, which names no repository: `/nowhere`"),
        ({"GIT_DIR": ""}, "`git init` creates one here"),
    ):
        with pytest.raises(NotFoundError, match="is not in a git repository") as caught:
            find_repository(str(tmp_path), environment)
        assert caught.value.hint == hint


def test_outside_of_a_repository_the_one_that_is_named_counts(home: Path) -> None:
    git_dir = dotfiles(home)
    found = find_repository(str(home), {"GIT_DIR": str(git_dir), "GIT_WORK_TREE": str(home)})
    assert (found.git_dir, found.common_dir, found.main_worktree) == (git_dir, git_dir, home)
    top = make_repository(home.parent / "r")
    for named in (top / ".git", Path("../r/.git")):
        assert find_repository(str(home), {"GIT_DIR": str(named)}) == discover(top)


def test_every_worktree_of_one_repository_is_the_one_that_the_folder_is_in(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "r")
    linked = add_linked_worktree(top, tmp_path / "linked", "side")
    for here in (top, linked):
        for git_dir in (top / ".git", top / ".git/worktrees/linked", linked / ".git"):
            assert find_repository(str(here), {"GIT_DIR": str(git_dir)}) == discover(here)


def test_two_repositories_are_refused(tmp_path: Path, home: Path) -> None:
    here, git_dir = make_repository(tmp_path / "here"), dotfiles(home)
    with pytest.raises(GitticksError, match=f"you are in the repository `{here}/.git`, but") as caught:
        find_repository(str(here), {"GIT_DIR": str(git_dir)})
    assert caught.value.hint is not None
    assert f"`cd '{git_dir}'`" in caught.value.hint


def test_a_checkout_of_one_call_is_refused_with_what_makes_it_last(home: Path) -> None:
    git("init", "--quiet", "--bare", ".dots", at=home)
    named = {"GIT_DIR": f"{home}/.dots", "GIT_WORK_TREE": str(home)}
    with pytest.raises(GitticksError, match="is not remembered for the next call") as caught:
        find_repository(str(home), named)
    assert caught.value.hint is not None
    for command in caught.value.hint.split("`")[1::2]:
        git(*split(command)[1:], at=home)
    assert find_repository(str(home), named).main_worktree == home
    assert find_repository(f"{home}/.dots", named).main_worktree == home


def test_a_hook_belongs_to_the_worktree_that_git_was_told(tmp_path: Path) -> None:
    top, other = make_repository(tmp_path / "r"), make_repository(tmp_path / "other")
    linked = add_linked_worktree(top, tmp_path / "linked", "side")
    board = {"GIT_DIR": str(top / ".git/worktrees/linked")}
    for start in (tmp_path, other, top):
        assert find_place_of_hook(str(start), board) == str(linked)
    assert find_place_of_hook(str(linked), board) is None
    assert find_place_of_hook(str(other), {"GIT_DIR": str(top / ".git")}) == str(top)
    bare = make_repository(tmp_path / "b.git", bare=True)
    assert find_place_of_hook(str(bare), {"GIT_DIR": "."}) is None
    assert find_place_of_hook(str(top), {"GIT_DIR": str(bare)}) == str(bare)
