from __future__ import annotations

from pathlib import Path

from gitticks.git.checkouts import checkout_at
from gitticks.git.repository import discover
from gitticks.git.worktree_settings import set_worktree_settings
from tests.support.repositories import add_linked_worktree, git, make_repository


def read(key: str, at: Path) -> str:
    return git("config", "--get", "--default", "none", key, at=at)


def test_a_setting_holds_in_its_worktree_alone(tmp_path: Path) -> None:
    main = make_repository(tmp_path / "repo")
    linked = add_linked_worktree(main, tmp_path / "linked", "side")
    repository = discover(main)
    for value in ("one", "two", "two"):
        set_worktree_settings(
            repository, checkout_at(repository, linked), {"gitticks.task": value, "a.b": "c d"}
        )
    assert (read("gitticks.task", linked), read("a.b", linked)) == ("two", "c d")
    assert read("gitticks.task", main) == "none"
    assert discover(linked).common_dir == repository.common_dir


def test_a_bare_repository_stays_bare_and_its_worktrees_do_not_become_so(tmp_path: Path) -> None:
    bare = make_repository(tmp_path / "repo.git", bare=True)
    linked = add_linked_worktree(bare, tmp_path / "linked", "side")
    repository = discover(linked)
    set_worktree_settings(repository, checkout_at(repository, linked), {"gitticks.task": "k7f2"})
    assert git("rev-parse", "--is-bare-repository", at=bare) == "true"
    assert git("rev-parse", "--is-bare-repository", at=linked) == "false"
    assert git("status", "--porcelain", at=linked) == ""


def test_a_submodule_keeps_its_checkout(tmp_path: Path) -> None:
    inner = make_repository(tmp_path / "inner")
    outer = make_repository(tmp_path / "outer")
    git("submodule", "--quiet", "add", str(inner), "sub", at=outer)
    linked = add_linked_worktree(outer / "sub", tmp_path / "linked", "side")
    repository = discover(outer / "sub")
    set_worktree_settings(repository, checkout_at(repository, linked), {"gitticks.task": "k7f2"})
    for place in (outer / "sub", linked):
        assert Path(git("rev-parse", "--show-toplevel", at=place)).resolve() == place.resolve()
        assert git("status", "--porcelain", at=place) == ""
