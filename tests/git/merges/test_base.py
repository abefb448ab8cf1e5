"""Moving a base, and what has it checked out."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gitticks.errors import GitticksError, LostRaceError
from gitticks.git.merges import BaseMoved, CheckoutOverlaps, Moved, finish_checkout, move_base
from gitticks.git.repository import Repository, discover
from tests.support.repositories import add_linked_worktree, commit_file, git, make_repository

LINES = "".join(f"line {number}\n" for number in range(1, 21))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = make_repository(tmp_path / "project")
    commit_file(root, "code.txt", LINES)
    commit_file(root, "other.txt", LINES)
    commit_file(root, "old.txt", "old\n")
    commit_file(root, ".gitignore", "*.log\n")
    return root


@pytest.fixture
def repository(root: Path) -> Repository:
    return discover(root)


@pytest.fixture
def old(root: Path) -> str:
    return git("rev-parse", "main", at=root)


@pytest.fixture
def new(root: Path, tmp_path: Path, old: str) -> str:
    """Returns a commit on `old` that changes a file, adds two and removes one."""
    work = add_linked_worktree(root, tmp_path / "work", "topic")
    (work / "code.txt").write_text(LINES.replace("line 2\n", "line two\n"))
    (work / "folder").mkdir()
    (work / "folder" / "new.txt").write_text("new\n")
    (work / "noise.log").write_text("noise\n")
    git("rm", "-q", "old.txt", at=work)
    git("add", "-A", "-f", ".", at=work)
    git("commit", "-qm", "work", at=work)
    return git("rev-parse", "HEAD", at=work)


def status(root: Path) -> str:
    return git("status", "--porcelain", at=root)


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


def test_edits_elsewhere_survive(repository: Repository, root: Path, old: str, new: str) -> None:
    (root / "other.txt").write_text(LINES + "mine\n")
    (root / "README.md").write_text("staged\n")
    git("add", "README.md", at=root)
    (root / "untracked.txt").write_text("mine\n")
    assert move_base(repository, "main", old, new, "merge") == Moved()
    assert status(root) == "M  README.md\n M other.txt\n?? untracked.txt"
    assert (root / "other.txt").read_text() == LINES + "mine\n"


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
    with pytest.raises(LostRaceError, match="another git is at work"):
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


KILLED = """
import os, sys
from pathlib import Path
from gitticks.git.merges import base, move_base
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
    (mended,) = finish_checkout(repository)
    assert (mended.conflicts, mended.rescued) == ((), ())
    assert (root / "code.txt").read_text() == LINES.replace("line 2\n", "line two\n") + "mine\n"
    assert status(root) == " M code.txt"


def test_edits_that_exclude_the_merge_become_a_conflict(
    repository: Repository, root: Path, old: str, new: str
) -> None:
    killed_move(root, old, new, "before the checkout")
    (root / "code.txt").write_text(LINES.replace("line 2\n", "line 2, mine\n"))
    (mended,) = finish_checkout(repository)
    assert mended.conflicts == ("code.txt",)
    assert "line 2, mine\n" in (root / "code.txt").read_text()
    assert status(root) == "UU code.txt"


def test_a_file_that_the_killed_git_had_removed_and_not_written_anew_is_there_again(
    repository: Repository, root: Path, old: str, new: str
) -> None:
    killed_move(root, old, new, "before the checkout")
    (root / "code.txt").unlink()
    (mended,) = finish_checkout(repository)
    assert mended.conflicts == ()
    assert status(root) == ""


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
