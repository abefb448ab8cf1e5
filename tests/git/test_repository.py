"""Every layout a repository may have: the fast way and git itself must say the same of it."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from gitticks.errors import GitticksError, NotFoundError
from gitticks.git import repository
from gitticks.git.repository import Repository, discover
from tests.support.hints import follow_hint
from tests.support.repositories import add_linked_worktree, git, make_repository

GIT = shutil.which("git")


@pytest.fixture
def no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fails a test that leaves the fast way."""

    def refuse(start: Path) -> Repository:
        raise AssertionError(f"git was asked about {start}")

    monkeypatch.setattr(repository, "ask_git", refuse)


def placed(
    git_dir: Path, common_dir: Path, main: Path | None, here: Path | None, *, is_bare: bool
) -> Repository:
    main_place, here_place = (None if one is None else str(one) for one in (main, here))
    return Repository(str(git_dir), str(common_dir), main_place, here_place, is_bare)


def as_git_says(start: Path) -> Repository:
    return repository.ask_git(str(start))


def test_a_checkout(tmp_path: Path, no_process: None) -> None:
    top = make_repository(tmp_path / "r")
    (top / "deep" / "er").mkdir(parents=True)
    found = discover(top / "deep" / "er")
    assert found == placed(top / ".git", top / ".git", top, top, is_bare=False)
    assert not found.is_linked
    assert found.own_dir == top / ".git" / "gitticks"


def test_a_linked_worktree(tmp_path: Path, no_process: None) -> None:
    top = make_repository(tmp_path / "r")
    linked = add_linked_worktree(top, tmp_path / "linked", "side")
    found = discover(linked)
    assert found == placed(top / ".git" / "worktrees" / "linked", top / ".git", top, linked, is_bare=False)
    assert found.is_linked


def test_a_linked_worktree_with_its_own_configuration(tmp_path: Path, no_process: None) -> None:
    top = make_repository(tmp_path / "r")
    linked = add_linked_worktree(top, tmp_path / "linked", "side")
    git("config", "extensions.worktreeConfig", "true", at=top)
    git("config", "--worktree", "core.hooksPath", "/somewhere", at=linked)
    assert discover(linked).main_worktree == top
    assert discover(top).main_worktree == top


def test_git_is_asked_about_a_linked_worktree_whose_own_configuration_is_not_plain(tmp_path: Path) -> None:
    main = make_repository(tmp_path / "main")
    linked = add_linked_worktree(main, tmp_path / "linked", "side")
    git("config", "extensions.worktreeConfig", "true", at=main)
    git("config", "--worktree", "core.hooksPath", "/hooks # not a comment", at=linked)
    found = discover(linked)
    assert (found.here_worktree, found.main_worktree) == (linked, main)


def test_a_symbolic_link_on_the_way(tmp_path: Path, no_process: None) -> None:
    top = make_repository(tmp_path / "r")
    (tmp_path / "link").symlink_to(top)
    assert discover(tmp_path / "link").main_worktree == top


def test_a_git_directory_kept_elsewhere(tmp_path: Path, no_process: None) -> None:
    top = tmp_path / "r"
    git("init", "--quiet", f"--separate-git-dir={tmp_path / 'kept'}", str(top), at=tmp_path)
    assert discover(top) == placed(tmp_path / "kept", tmp_path / "kept", top, top, is_bare=False)


def test_a_submodule_and_its_linked_worktree(tmp_path: Path, no_process: None) -> None:
    inner = make_repository(tmp_path / "inner")
    outer = make_repository(tmp_path / "outer")
    git("submodule", "--quiet", "add", str(inner), "sub", at=outer)
    git_dir = outer / ".git" / "modules" / "sub"
    assert discover(outer / "sub") == placed(git_dir, git_dir, outer / "sub", outer / "sub", is_bare=False)
    linked = add_linked_worktree(outer / "sub", tmp_path / "linked", "side")
    assert discover(linked).main_worktree == outer / "sub"
    git("config", "extensions.worktreeConfig", "true", at=outer / "sub")
    git("config", "--worktree", "core.worktree", "../../../sub", at=outer / "sub")
    git("config", "--unset", "core.worktree", at=outer / "sub")
    assert discover(linked).main_worktree == outer / "sub"
    assert discover(outer / "sub").here_worktree == outer / "sub"


def test_a_repository_without_commits(tmp_path: Path, no_process: None) -> None:
    top = make_repository(tmp_path / "r", commits=0)
    assert discover(top).main_worktree == top


@pytest.mark.parametrize("safe", ["all", "explicit"])
def test_a_bare_repository(tmp_path: Path, safe: str) -> None:
    bare = make_repository(tmp_path / "r.git", bare=True)
    git("config", "--global", "safe.bareRepository", safe, at=tmp_path)
    found = discover(bare)
    assert found == placed(bare, bare, None, None, is_bare=True)
    assert discover(bare / "hooks") == found
    with pytest.raises(GitticksError, match="is a bare repository: the board needs a checkout"):
        found.require_project_dir("the board")


def test_a_worktree_of_a_bare_repository(tmp_path: Path, no_process: None) -> None:
    bare = make_repository(tmp_path / "r.git", bare=True)
    git("worktree", "add", "--quiet", str(tmp_path / "w"), "main", at=bare)
    found = discover(tmp_path / "w")
    assert found == placed(bare / "worktrees" / "w", bare, None, tmp_path / "w", is_bare=True)
    with pytest.raises(GitticksError, match="needs a folder beside its worktrees") as refused:
        found.require_project_dir("the board")
    make_it = (refused.value.hint or "").split("`")[1]
    assert make_it == f"echo 'gitdir: ./r.git' > {tmp_path}/.git"
    subprocess.run(["sh", "-c", make_it], check=True)
    assert discover(tmp_path / "w").require_project_dir("the board") == tmp_path


@pytest.mark.parametrize("odd", ["include", "core.worktree", "quoted", "foreign owner"])
def test_what_is_odd_git_says(tmp_path: Path, odd: str, monkeypatch: pytest.MonkeyPatch) -> None:
    top = make_repository(tmp_path / "r")
    if odd == "include":
        git("config", "include.path", "other", at=top)
    elif odd == "core.worktree":
        git("config", "core.worktree", str(top), at=top)
    elif odd == "quoted":
        git("config", "core.excludesFile", "with # sign", at=top)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: 4242)
    assert discover(top) == placed(top / ".git", top / ".git", top, top, is_bare=False)


def test_inside_the_git_directory(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "r")
    assert discover(top / ".git" / "refs") == placed(top / ".git", top / ".git", top, None, is_bare=False)


def test_git_says_the_same_of_every_layout(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "r")
    linked = add_linked_worktree(top, tmp_path / "linked", "side")
    outer = make_repository(tmp_path / "outer")
    git("submodule", "--quiet", "add", str(top), "sub", at=outer)
    under = add_linked_worktree(outer / "sub", tmp_path / "under", "low")
    bare = make_repository(tmp_path / "b.git", bare=True)
    git("worktree", "add", "--quiet", str(tmp_path / "w"), "main", at=bare)
    for place in (top, linked, outer, outer / "sub", under, bare, tmp_path / "w"):
        assert discover(place) == as_git_says(place)


def test_git_dir_does_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = make_repository(tmp_path / "here")
    other = make_repository(tmp_path / "other")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    assert discover(here).git_dir == here / ".git"


def test_no_repository(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="is not in a git repository") as caught:
        discover(tmp_path)
    assert caught.value.hint == "`git init` creates one here"
    (tmp_path / ".git").mkdir()
    with pytest.raises(NotFoundError, match="is not in a git repository"):
        discover(tmp_path)


def test_a_worktree_whose_repository_was_moved(tmp_path: Path) -> None:
    linked = add_linked_worktree(make_repository(tmp_path / "r"), tmp_path / "linked", "side")
    moved = (tmp_path / "r").rename(tmp_path / "it is here")
    with pytest.raises(
        NotFoundError, match=f"is gone or was moved(: no `{tmp_path}/r/.git/worktrees/linked`)?$"
    ) as caught:
        discover(linked)
    assert caught.value.hint == "`git worktree repair`, in the folder where that repository is now"
    git("worktree", "repair", at=moved)
    assert discover(linked).common_dir == moved / ".git"


def test_sha256_is_found(tmp_path: Path) -> None:
    git("init", "--quiet", "--object-format=sha256", "r", at=tmp_path)
    assert discover(tmp_path / "r").objects.object_format == "sha256"
    git("init", "--quiet", "--bare", "--object-format=sha256", "b.git", at=tmp_path)
    assert discover(tmp_path / "b.git").objects.object_format == "sha256"


def test_a_format_that_nobody_knows_is_refused(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "r")
    git("config", "core.repositoryFormatVersion", "1", at=top)
    with (top / ".git" / "config").open("a") as config:
        config.write("[extensions]\n\trefStorage = novel\n")
    with pytest.raises(
        GitticksError, match="stores its refs as `novel`, which gitticks does not know"
    ) as caught:
        discover(top)
    assert caught.value.hint == "`pipx upgrade gitticks`"


def test_somebody_elses_repository_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    top = make_repository(tmp_path / "r")
    wrapper = tmp_path / "bin" / "git"
    wrapper.parent.mkdir()
    wrapper.write_text(f'#!/bin/sh\nGIT_TEST_ASSUME_DIFFERENT_OWNER=1 exec {GIT} "$@"\n')
    wrapper.chmod(0o755)
    monkeypatch.setattr(os, "geteuid", lambda: 4242)
    monkeypatch.setenv("PATH", f"{wrapper.parent}{os.pathsep}{os.environ['PATH']}")
    with pytest.raises(GitticksError, match="belongs to another user") as caught:
        discover(top)
    assert caught.value.hint is not None
    assert "safe.directory" in caught.value.hint


def test_a_line_break_may_stand_in_its_name(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "two\nlines")
    assert discover(top) == as_git_says(top)
    bare = make_repository(tmp_path / "two\nlines.git", bare=True)
    assert discover(bare).common_dir == bare


def test_an_extension_that_nobody_knows_yet_is_refused(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "r")
    config = top / ".git" / "config"
    config.write_text(config.read_text() + "[extensions]\n\tnewThing = true\n")
    discover(top)
    git("config", "core.repositoryFormatVersion", "1", at=top)
    with pytest.raises(GitticksError, match=r"uses `extensions\.newthing`, which gitticks does not know"):
        discover(top)


@pytest.mark.parametrize("name", ["HEAD", "packed-refs"])
def test_what_git_would_wait_for_is_refused(tmp_path: Path, name: str) -> None:
    top = make_repository(tmp_path / "it's ours")
    (top / ".git" / name).unlink(missing_ok=True)
    os.mkfifo(top / ".git" / name)
    with pytest.raises(GitticksError, match="is not a regular file") as caught:
        discover(top)
    follow_hint(caught.value, at=tmp_path)
    assert (top / ".git" / f"{name}.damaged").is_fifo()
