"""Refs read as files must say what git says."""

from __future__ import annotations

import os
import subprocess
from itertools import islice
from pathlib import Path

import pytest

from gitticks.errors import GitticksError, NotFoundError
from gitticks.git.checkouts import current_branch, head
from gitticks.git.refs import (
    default_base,
    is_valid_ref_name,
    logged,
    name_behind,
    read_ref,
    resolve,
    way_back,
)
from gitticks.git.repository import discover
from gitticks.safe_read import MOST_BYTES
from tests.support.repositories import add_linked_worktree, clone, git, make_repository, run_git_command


def test_loose_packed_and_missing(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "r", commits=2)
    git("branch", "a/b", "HEAD~1", at=top)
    common = top / ".git"
    tip, older = git("rev-parse", "HEAD", at=top), git("rev-parse", "HEAD~1", at=top)
    assert read_ref(common, "refs/heads/main") == tip
    git("pack-refs", "--all", at=top)
    assert not (common / "refs" / "heads" / "main").exists()
    assert read_ref(common, "refs/heads/main") == tip
    assert read_ref(common, "refs/heads/a/b") == older
    assert read_ref(common, "HEAD") == tip
    assert read_ref(common, "refs/heads/b") is None
    assert read_ref(common, "refs/heads/a") is None
    git("branch", "-f", "a/b", "HEAD", at=top)
    assert read_ref(common, "refs/heads/a/b") == tip


def test_a_symbolic_ref_is_followed_and_a_ring_is_an_error(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "r")
    git("symbolic-ref", "refs/heads/also", "refs/heads/main", at=top)
    assert read_ref(top / ".git", "refs/heads/also") == git("rev-parse", "HEAD", at=top)
    (top / ".git" / "refs" / "heads" / "ring").write_text("ref: refs/heads/ring\n")
    with pytest.raises(GitticksError, match="symbolic, and nested too deeply"):
        read_ref(top / ".git", "refs/heads/ring")


@pytest.mark.parametrize("content", ["", "zzz\n", "1234\n"])
def test_a_broken_ref_is_an_error(tmp_path: Path, content: str) -> None:
    top = make_repository(tmp_path / "r")
    (top / ".git" / "refs" / "heads" / "broken").write_text(content)
    with pytest.raises(GitticksError, match="`refs/heads/broken` is broken"):
        read_ref(top / ".git", "refs/heads/broken")


@pytest.mark.parametrize(
    "name",
    [
        "refs/heads/a", "HEAD", "refs/heads/a/b", "refs/heads/é", "refs/heads/a.b", "refs/../../etc", "refs/heads/a.lock",
        "/refs/heads/a", "refs//heads", "refs/heads/.a", "refs/heads/a.", "refs/heads/a b", "refs/heads/a~1", "refs/heads/@{x",
        "refs/heads/a.lock/b", "refs/heads/", "refs/heads/a\x07", "refs/heads/a..b", "refs/heads/a?", "",
    ],
)  # fmt: skip
def test_names_are_judged_as_git_does(tmp_path: Path, name: str) -> None:
    top = make_repository(tmp_path / "r", commits=0)
    judged = run_git_command("check-ref-format", "--allow-onelevel", name, at=top).returncode == 0
    assert is_valid_ref_name(name) == judged


def test_an_impossible_name_never_becomes_a_path(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "r")
    with pytest.raises(GitticksError, match="is not the name of a ref"):
        read_ref(top / ".git", "refs/../config")


def test_the_branch_here(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "r")
    linked = add_linked_worktree(top, tmp_path / "linked", "side/way")
    assert current_branch(discover(top)) == "main"
    assert current_branch(discover(linked)) == "side/way"
    git("checkout", "--quiet", "--detach", at=top)
    assert current_branch(discover(top)) is None
    assert head(discover(top)) is not None


def test_an_unborn_branch(tmp_path: Path) -> None:
    repository = discover(make_repository(tmp_path / "r", commits=0, branch="trunk"))
    assert current_branch(repository) == "trunk"
    assert head(repository) is None
    assert default_base(repository) == "trunk"


def test_the_base_is_what_origin_names_else_the_branch_here(tmp_path: Path) -> None:
    source = make_repository(tmp_path / "source", branch="trunk")
    copy = clone(source, tmp_path / "copy")
    git("checkout", "--quiet", "-b", "topic", at=copy)
    assert default_base(discover(copy)) == "trunk"
    git("checkout", "--quiet", "-b", "topic", at=source)
    assert default_base(discover(source)) == "topic"
    git("checkout", "--quiet", "--detach", at=source)
    assert default_base(discover(source)) is None


def test_the_base_is_never_a_branch_of_gitticks(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "r")
    workspace = add_linked_worktree(top, tmp_path / "w", "gitticks/work/k7f2")
    assert default_base(discover(workspace)) == "main"
    git("checkout", "--quiet", "--detach", at=top)
    assert default_base(discover(workspace)) is None


def test_revisions_are_resolved_by_git(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "r", commits=2)
    git("tag", "-a", "v1", "-m", "one", at=top)
    repository = discover(top)
    tip = git("rev-parse", "HEAD", at=top)
    for revision in ("HEAD", "main", "v1", tip, tip[:10]):
        assert resolve(repository, revision) == tip
    assert resolve(repository, "HEAD~1") == git("rev-parse", "HEAD~1", at=top)
    for nothing in ("none", "--all", "HEAD:README.md", "\x1b[31m", ""):
        with pytest.raises(NotFoundError, match="is not a commit here"):
            resolve(repository, nothing)


def damaged(tmp_path: Path, content: str) -> Path:
    """Returns the git directory of a repository whose branch `kept` was at two commits, and holds something else."""
    top = make_repository(tmp_path / "r", commits=2)
    git("branch", "kept", "HEAD~1", at=top)
    git("branch", "-f", "kept", "HEAD", at=top)
    (top / ".git/refs/heads/kept").write_text(content)
    return top / ".git"


@pytest.mark.parametrize("content", ["1234", "ref:\n", "ref: ../../x\n", "ref: refs/heads/kept\n"])
def test_the_hint_puts_a_broken_ref_back(tmp_path: Path, content: str) -> None:
    common = damaged(tmp_path, content)
    with pytest.raises(GitticksError) as caught:
        read_ref(common, "refs/heads/kept")
    assert caught.value.hint is not None
    subprocess.run(caught.value.hint.split("`")[1], shell=True, cwd=tmp_path / "r", check=True)  # noqa: S602
    assert read_ref(common, "refs/heads/kept") == git("rev-parse", "HEAD", at=tmp_path / "r")
    assert (common / "kept.damaged").read_text() == content


def test_a_ref_that_no_log_knows(tmp_path: Path) -> None:
    common = damaged(tmp_path, "1234")
    (common / "logs/refs/heads/kept").unlink()
    assert not list(logged(common, "refs/heads/kept"))
    assert way_back(common, "refs/heads/kept").startswith("`git fsck ")


def test_a_worktree_remembers_where_its_branch_was(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "r")
    add_linked_worktree(top, tmp_path / "w", "kept")
    (top / ".git/logs/refs/heads/kept").unlink()
    assert next(logged(top / ".git", "refs/heads/kept")) == git("rev-parse", "HEAD", at=top)


def test_a_log_of_many_moves_is_read_from_its_end(tmp_path: Path) -> None:
    common = damaged(tmp_path, "1234")
    log = common / "logs/refs/heads/kept"
    lines = log.read_text()
    log.write_text(f"{'0' * 40} {'a' * 40} who <w@x> 1 +0000\tmove\n" * 200_000 + lines)
    assert log.stat().st_size > MOST_BYTES
    found = list(islice(logged(common, "refs/heads/kept"), 3))
    assert found == [*git("rev-list", "HEAD", at=tmp_path / "r").split(), "a" * 40]


@pytest.mark.parametrize(
    "content",
    [b"", b"# pack-refs with: peeled\n", b"# x\n" + b"a" * 40 + b" refs/heads/a\n^" + b"b" * 40 + b"\n"],
)
def test_packed_refs_that_lack_a_ref(tmp_path: Path, content: bytes) -> None:
    top = make_repository(tmp_path / "r")
    (top / ".git/packed-refs").write_bytes(content)
    assert read_ref(top / ".git", "refs/heads/b") is None


@pytest.mark.parametrize(
    "content", [b"a" * 40 + b" refs/heads/b", b"\0" * 100, b"zzz\n", b"a" * 39 + b" refs/heads/b\n"]
)
def test_damaged_packed_refs_are_an_error(tmp_path: Path, content: bytes) -> None:
    top = make_repository(tmp_path / "r")
    (top / ".git/packed-refs").write_bytes(content)
    with pytest.raises(GitticksError, match="packed-refs` is damaged"):
        read_ref(top / ".git", "refs/heads/b")


def test_a_ref_that_is_a_pipe_keeps_nobody_waiting(tmp_path: Path) -> None:
    common = damaged(tmp_path, "")
    (common / "refs/heads/kept").unlink()
    os.mkfifo(common / "refs/heads/kept")
    with pytest.raises(GitticksError, match="`refs/heads/kept` cannot be read: not a regular file"):
        read_ref(common, "refs/heads/kept")


def test_the_ref_behind_a_symbolic_one(tmp_path: Path) -> None:
    top = make_repository(tmp_path / "r")
    common = str(top / ".git")
    for name, target in (("one", "two"), ("two", "none"), ("a", "b"), ("b", "a")):
        git("symbolic-ref", f"refs/heads/{name}", f"refs/heads/{target}", at=top)
    heads = top / ".git/refs/heads"
    (heads / "linked").symlink_to("refs/heads/two")
    (heads / "file").symlink_to("main")
    behind = {name: name_behind(common, f"refs/heads/{name}") for name in ("one", "linked", "main", "file")}
    assert behind == {
        "one": "refs/heads/none",
        "linked": "refs/heads/none",
        "main": "refs/heads/main",
        "file": "refs/heads/file",
    }
    assert name_behind(common, "HEAD") == "refs/heads/main"
    assert name_behind(common, "refs/heads/a").startswith("refs/heads/")
    for odd in ("refs/heads/../../x", "", "refs/heads"):
        assert name_behind(common, odd) == odd


def test_a_ref_that_is_being_made_is_read_once_it_is_filled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    top = make_repository(tmp_path / "r")
    file = top / ".git/refs/heads/new"
    file.touch()
    tip = git("rev-parse", "HEAD", at=top)
    monkeypatch.setattr("gitticks.git.refs.time.sleep", lambda _: file.write_text(f"{tip}\n"))
    assert read_ref(top / ".git", "refs/heads/new") == tip
