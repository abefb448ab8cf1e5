"""Worktrees of every kind, made by git itself."""

from __future__ import annotations

import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gitticks.errors import GitticksError
from gitticks.git.repository import discover
from gitticks.git.worktree_list import list_worktrees
from tests.support.repositories import git, make_repository


def test_each_kind_is_told(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "r")
    tip = git("rev-parse", "HEAD", at=top)
    git("worktree", "add", "--quiet", "--detach", "../detached", at=top)
    git("worktree", "add", "--quiet", "-b", "a/b", "--lock", "--reason", "on a stick", "../kept", at=top)
    git("worktree", "add", "--quiet", "-b", "gone", "../gone", at=top)
    shutil.rmtree(tmp_path / "gone")
    main, *linked = list_worktrees(discover(top))
    assert (main.path, main.head, main.branch, main.is_bare) == (top, tip, "main", False)
    told = {one.path.name: (one.branch, one.lock_reason, bool(one.prunable_reason)) for one in linked}
    assert told == {
        "detached": (None, None, False),
        "kept": ("a/b", "on a stick", False),
        "gone": ("gone", None, True),
    }
    assert {one.head for one in linked} == {tip}


def test_a_bare_repository_and_an_unborn_branch_have_no_commit(tmp_path: Path) -> None:
    (bare,) = list_worktrees(discover(make_repository(tmp_path / "bare", bare=True)))
    assert (bare.is_bare, bare.head, bare.branch) == (True, None, None)
    (unborn,) = list_worktrees(discover(make_repository(tmp_path / "unborn", commits=0)))
    assert (unborn.is_bare, unborn.head, unborn.branch) == (False, None, "main")


@pytest.mark.parametrize("name", ["HEAD", "gitdir", "commondir", "locked"])
def test_an_entry_that_git_would_wait_for_is_named(tmp_path: Path, name: str) -> None:
    top = make_repository(tmp_path / "r")
    git("worktree", "add", "--quiet", "-b", "other", "../other", at=top)
    file = top / ".git/worktrees/other" / name
    file.unlink(missing_ok=True)
    os.mkfifo(file)
    with pytest.raises(GitticksError, match="is no plain file, so git cannot tell its worktree") as caught:
        list_worktrees(discover(top))
    assert caught.value.hint is not None
    assert str(file.parent) in caught.value.hint


def test_others_may_add_and_remove_worktrees_at_the_same_time(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "r")

    def come_and_go() -> None:
        for _ in range(40):
            git("worktree", "add", "--quiet", "--detach", "../guest", at=top)
            git("worktree", "remove", "--force", "../guest", at=top)

    with ThreadPoolExecutor(1) as pool:
        others = pool.submit(come_and_go)
        while not others.done():
            assert list_worktrees(discover(top))[0].path == top
    others.result()


def test_where_git_names_the_git_directory_the_main_worktree_is_named(tmp_path: Path) -> None:
    make_repository(tmp_path / "origin")
    outer = make_repository(tmp_path / "outer")
    git("submodule", "--quiet", "add", str(tmp_path / "origin"), "lib", at=outer)
    apart = tmp_path / "apart"
    git("clone", "--quiet", f"--separate-git-dir={tmp_path / 'there'}", "origin", str(apart), at=tmp_path)
    for path in (outer / "lib", apart):
        (found,) = list_worktrees(discover(path))
        assert (found.path, found.branch, found.is_bare) == (path, "main", False)
