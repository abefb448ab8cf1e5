"""Moving a base, and what has it checked out."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import pytest

from gitticks.errors import GitticksError, LostRaceError
from gitticks.git.merges.base import BaseHeld, BaseMoved, CheckoutOverlaps, Moved, finish_checkout, move_base
from gitticks.git.repository import Repository, discover
from tests.git.merges.moves import LINES, filtered, new, old, repository, root, status
from tests.support.repositories import add_linked_worktree, commit_file, git, run_git_command

__all__ = ["filtered", "new", "old", "repository", "root"]


def test_a_branch_that_is_checked_out_nowhere_just_moves(
    repository: Repository, root: Path, old: str, new: str
) -> None:
    git("branch", "base", old, at=root)
    assert move_base(repository, "base", old, new, "merge k7f2") == Moved()
    assert git("rev-parse", "base", at=root) == new
    assert git("reflog", "base", "-1", "--format=%gs", at=root) == "merge k7f2"
    assert status(root) == ""


def test_a_clean_checkout_is_kept_in_step(repository: Repository, root: Path, old: str, new: str) -> None:
    assert move_base(repository, "main", old, new, "merge k7f2") == Moved()
    assert git("rev-parse", "HEAD", at=root) == new
    assert status(root) == ""
    assert (root / "folder" / "new.txt").read_text() == "new\n"
    assert not (root / "old.txt").exists()
    assert git("reflog", "HEAD", "-1", "--format=%gs", at=root) == "merge k7f2"
    assert not (root / ".git" / "index.lock").exists()


def test_every_checkout_of_the_base_follows(
    repository: Repository, root: Path, tmp_path: Path, old: str, new: str
) -> None:
    git("checkout", "-q", "--detach", at=root)
    git("branch", "-q", "-f", "base", old, at=root)
    first = tmp_path / "one two"
    git("worktree", "add", "-q", str(first), "base", at=root)
    git("worktree", "add", "-q", "-f", str(tmp_path / "second"), "base", at=root)
    assert move_base(repository, "base", old, new, "merge") == Moved()
    assert [status(first), status(tmp_path / "second"), status(root)] == ["", "", ""]


def test_in_a_copy_the_worktrees_of_the_original_stay_as_they_are(
    root: Path, tmp_path: Path, old: str, new: str
) -> None:
    git("checkout", "-q", "--detach", old, at=root)
    linked = add_linked_worktree(root, tmp_path / "linked", "base")
    shutil.copytree(root, tmp_path / "copy", symlinks=True)
    assert move_base(discover(tmp_path / "copy"), "base", old, new, "merge") == Moved()
    assert (status(linked), git("rev-parse", "HEAD", at=linked)) == ("", old)
    assert not (linked / "folder").exists()


def test_edits_elsewhere_survive(repository: Repository, root: Path, old: str, new: str) -> None:
    (root / "other.txt").write_text(LINES + "mine\n")
    (root / "README.md").write_text("staged\n")
    git("add", "README.md", at=root)
    (root / "untracked.txt").write_text("mine\n")
    assert move_base(repository, "main", old, new, "merge") == Moved()
    assert status(root) == "M  README.md\n M other.txt\n?? untracked.txt"
    assert (root / "other.txt").read_text() == LINES + "mine\n"


@pytest.mark.parametrize("way", ["--merge", "--apply"])
def test_a_base_that_is_being_rebased_waits(
    repository: Repository, root: Path, old: str, new: str, way: str
) -> None:
    git("branch", "side", old, at=root)
    commit_file(root, "code.txt", "ours\n")
    here = git("rev-parse", "main", at=root)
    git("checkout", "--quiet", "side", at=root)
    commit_file(root, "code.txt", "theirs\n")
    git("checkout", "--quiet", "main", at=root)
    assert run_git_command("rebase", way, "side", at=root).returncode == 1
    moved = move_base(repository, "main", here, new, "merge")
    assert isinstance(moved, BaseHeld)
    assert f"`main` is being rebased in {root}" in moved.words
    git("rebase", "--abort", at=root)
    assert git("rev-parse", "main", at=root) == here


def test_a_base_in_a_locked_worktree_that_is_not_there_waits(
    repository: Repository, root: Path, tmp_path: Path, old: str, new: str
) -> None:
    git("checkout", "-q", "--detach", at=root)
    disk = tmp_path / "my disk"
    git("worktree", "add", "-q", "--lock", str(disk), "main", at=root)
    disk.rename(tmp_path / "away")
    moved = move_base(repository, "main", old, new, "merge")
    assert isinstance(moved, BaseHeld)
    assert f"`main` is checked out in the locked worktree {disk}, which is not there" in moved.words
    assert git("rev-parse", "main", at=root) == old
    (tmp_path / "away").rename(disk)
    assert move_base(repository, "main", old, new, "merge") == Moved()
    assert status(disk) == ""
    disk.rename(tmp_path / "away")
    git(*shlex.split(moved.words.split("`")[-2])[1:], at=root)
    assert move_base(repository, "main", new, old, "back") == Moved()


@pytest.mark.parametrize("kind", ["changed", "staged", "deleted", "untracked", "ignored", "file for folder"])
def test_edits_in_the_way_stop_the_move(
    repository: Repository, root: Path, old: str, new: str, kind: str
) -> None:
    names = {"untracked": "folder/new.txt", "ignored": "noise.log", "file for folder": "folder"}
    name = names.get(kind, "code.txt")
    (root / name).parent.mkdir(exist_ok=True)
    (root / name).write_text("mine\n")
    if kind == "staged":
        git("add", name, at=root)
    if kind == "deleted":
        (root / name).unlink()
    before = status(root)
    assert move_base(repository, "main", old, new, "merge") == CheckoutOverlaps(root, (name,))
    assert git("rev-parse", "main", at=root) == old
    assert status(root) == before
    assert kind == "deleted" or (root / name).read_text() == "mine\n"
    assert finish_checkout(repository) == ()


def test_an_ignored_file_below_a_folder_that_becomes_a_file_stops_the_move(
    repository: Repository, root: Path, old: str
) -> None:
    tree = git(
        "mktree", at=root, input=f"100644 blob {git('hash-object', '-w', 'old.txt', at=root)}\tbuild\n"
    )
    new = git("commit-tree", tree, "-p", old, "-m", "work", at=root)
    (root / "build").mkdir()
    (root / "build" / "x.log").write_text("mine\n")
    assert move_base(repository, "main", old, new, "merge") == CheckoutOverlaps(root, ("build/x.log",))


def test_a_base_that_somebody_moved_is_said(repository: Repository, root: Path, old: str, new: str) -> None:
    actual = commit_file(root, "faster.txt", "faster\n")
    assert move_base(repository, "main", old, new, "merge") == BaseMoved(actual)
    assert git("rev-parse", "main", at=root) == actual
    assert move_base(repository, "nowhere", old, new, "merge") == BaseMoved(None)


def test_a_busy_index_is_waited_for_and_then_said(
    repository: Repository, root: Path, old: str, new: str
) -> None:
    lock = root / ".git" / "index.lock"
    lock.write_bytes(b"")
    with pytest.raises(LostRaceError, match="another git is running"):
        move_base(repository, "main", old, new, "merge")
    assert lock.exists()
    assert git("rev-parse", "main", at=root) == old


def test_a_filter_of_the_repository_alone_stops_the_move(
    repository: Repository, root: Path, old: str, tmp_path: Path
) -> None:
    git("config", "filter.evil.smudge", f"touch {tmp_path / 'sprung'}; cat", at=root)
    git("checkout", "-q", "--detach", at=root)
    new = commit_file(root, ".gitattributes", "*.txt filter=evil\n")
    new = commit_file(root, "plain.txt", "x\n")
    (tmp_path / "sprung").unlink(missing_ok=True)
    git("checkout", "-q", "main", at=root)
    with pytest.raises(GitticksError, match="needs the filter `evil`"):
        move_base(repository, "main", old, new, "merge")
    assert not (tmp_path / "sprung").exists()


def test_a_filter_that_fails_holds_the_move(
    repository: Repository, root: Path, tmp_path: Path, old: str, filtered: str
) -> None:
    moved = move_base(repository, "main", old, filtered, "merge")
    assert isinstance(moved, BaseHeld)
    assert "data.bin" in moved.words
    assert git("rev-parse", "main", at=root) == old
    assert status(root) == ""
    (tmp_path / "stored").write_text("large\n")
    assert move_base(repository, "main", old, filtered, "merge") == Moved()
    assert (root / "data.bin").read_text() == "large\n"
