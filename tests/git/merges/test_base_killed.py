"""Moves of a base that were killed, and what the person did since."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gitticks.git.merges.base import Moved, finish_checkout, move_base
from gitticks.git.repository import Repository
from tests.git.merges.moves import LINES, filtered, new, old, repository, root, status
from tests.support.repositories import git

__all__ = ["filtered", "new", "old", "repository", "root"]

KILLED = """
import os, sys
from pathlib import Path
from gitticks.git.merges import base
from gitticks.git.merges.base import move_base
from gitticks.git.repository import discover
root, old, new, moment = sys.argv[1:]

def die(*_):
    os.kill(os.getpid(), 9)

def half_way(following):
    (Path(root) / "code.txt").write_bytes(following.git("cat-file", "blob", f"{new}:code.txt").stdout)
    die()

def done_but_for_the_index(following):
    assert following.git("read-tree", "-m", "-u", old, new).code == 0
    die()

moments = {
    "before the ref": (base, "_swap", die),
    "before the checkout": (base.FollowingCheckout, "update", die),
    "half way": (base.FollowingCheckout, "update", half_way),
    "before the index": (base.FollowingCheckout, "update", done_but_for_the_index),
    "before forgetting": (base, "forget_move", die),
}
setattr(*moments[moment])
move_base(discover(Path(root)), "main", old, new, "merge")
"""


def killed_move(root: Path, old: str, new: str, moment: str) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, str(root), old, new, moment], check=False)
    assert done.returncode == -9


def remove_lock(root: Path) -> None:
    """Does what git tells a person to do who comes before the next call of gitticks."""
    (root / ".git" / "index.lock").unlink()


MOMENTS = ["before the checkout", "half way", "before the index", "before forgetting"]


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_killed_move_is_finished(
    repository: Repository, root: Path, old: str, new: str, moment: str
) -> None:
    (root / "other.txt").write_text("mine\n")
    killed_move(root, old, new, moment)
    assert git("rev-parse", "main", at=root) == new
    finish_checkout(repository)
    assert status(root) == " M other.txt"
    assert (root / "other.txt").read_text() == "mine\n"
    assert (root / "folder" / "new.txt").read_text() == "new\n"
    assert not (root / "old.txt").exists()
    assert finish_checkout(repository) == ()


@pytest.mark.parametrize("moment", ["before the ref", "before the checkout"])
def test_what_a_killed_git_had_locked_is_no_obstacle(
    repository: Repository, root: Path, old: str, new: str, moment: str
) -> None:
    killed_move(root, old, new, moment)
    locks = [root / ".git" / name for name in ("HEAD.lock", "refs/heads/main.lock")]
    for lock in locks:
        lock.write_bytes(b"")
        os.utime(lock, (0, 0))
    if moment == "before the ref":
        assert move_base(repository, "main", old, new, "merge") == Moved()
    else:
        finish_checkout(repository)
    assert not any(lock.exists() for lock in locks)
    assert (git("rev-parse", "main", at=root), status(root)) == (new, "")


def test_a_move_killed_before_the_ref_never_happened(
    repository: Repository, root: Path, old: str, new: str
) -> None:
    killed_move(root, old, new, "before the ref")
    assert finish_checkout(repository) == ()
    assert (git("rev-parse", "main", at=root), status(root)) == (old, "")
    assert move_base(repository, "main", old, new, "merge") == Moved()
    assert status(root) == ""


def test_edits_made_after_the_kill_are_merged(repository: Repository, root: Path, old: str, new: str) -> None:
    killed_move(root, old, new, "before the checkout")
    (root / "code.txt").write_text(LINES + "mine\n")
    (fixed,) = finish_checkout(repository)
    assert (fixed.conflicts, fixed.rescued) == ((), ())
    assert (root / "code.txt").read_text() == LINES.replace("line 2\n", "line two\n") + "mine\n"
    assert status(root) == " M code.txt"


def test_edits_that_exclude_the_merge_become_a_conflict(
    repository: Repository, root: Path, old: str, new: str
) -> None:
    killed_move(root, old, new, "before the checkout")
    (root / "code.txt").write_text(LINES.replace("line 2\n", "line 2, mine\n"))
    (fixed,) = finish_checkout(repository)
    assert fixed.conflicts == ("code.txt",)
    assert fixed.words.endswith("your edits conflict with it: code.txt")
    assert "line 2, mine\n" in (root / "code.txt").read_text()
    assert status(root) == "UU code.txt"


def test_a_file_that_the_killed_git_had_removed_and_not_written_anew_is_there_again(
    repository: Repository, root: Path, old: str, new: str
) -> None:
    killed_move(root, old, new, "before the checkout")
    (root / "code.txt").unlink()
    (fixed,) = finish_checkout(repository)
    assert fixed.conflicts == ()
    assert status(root) == ""


def test_a_file_that_a_filter_fails_to_write_is_named_and_not_staged_as_deleted(
    repository: Repository, root: Path, tmp_path: Path, old: str, filtered: str
) -> None:
    (tmp_path / "stored").write_text("large\n")
    killed_move(root, old, filtered, "before the checkout")
    (tmp_path / "stored").unlink()
    (fixed,) = finish_checkout(repository)
    assert fixed.unwritten == ("data.bin",)
    assert "a filter failed to write data.bin" in fixed.words
    assert status(root) == " D data.bin"


def test_an_edit_staged_after_the_kill_stays_staged(
    repository: Repository, root: Path, old: str, new: str
) -> None:
    killed_move(root, old, new, "before the checkout")
    remove_lock(root)
    (root / "code.txt").write_text(LINES + "mine\n")
    git("add", "code.txt", at=root)
    finish_checkout(repository)
    assert status(root) == "M  code.txt"
    assert git("diff", "--cached", "--shortstat", at=root).strip() == "1 file changed, 1 insertion(+)"


def test_the_next_move_finishes_the_killed_one_first(
    repository: Repository, root: Path, old: str, new: str
) -> None:
    killed_move(root, old, new, "before the checkout")
    tree = git("rev-parse", f"{old}^{{tree}}", at=root)
    back = git("commit-tree", tree, "-p", new, "-m", "back", at=root)
    assert move_base(repository, "main", new, back, "merge") == Moved()
    assert status(root) == ""


def test_a_torn_note_is_no_note(repository: Repository, root: Path) -> None:
    folder = root / ".git" / "gitticks"
    folder.mkdir()
    (folder / "base-move.json").write_text('{"branch": "main", "ol')
    assert finish_checkout(repository) == ()


def test_a_person_who_went_on_is_left_alone(repository: Repository, root: Path, old: str, new: str) -> None:
    killed_move(root, old, new, "before the checkout")
    remove_lock(root)
    git("checkout", "-q", "-f", "-b", "elsewhere", old, at=root)
    assert finish_checkout(repository) == ()
    assert status(root) == ""
