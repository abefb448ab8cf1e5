from __future__ import annotations

from pathlib import Path

import pytest

from gitticks.errors import GitticksError
from gitticks.git.objects import trees
from gitticks.store.sharing import last_shared, remember_shared, take_in
from gitticks.store.transaction import Transaction
from tests.support.clones import make_clones, make_first_clone, make_two_clones
from tests.support.repositories import git
from tests.support.stores import ADA
from tests.support.tasks import task_ids


def test_a_merge_is_made_again_where_somebody_wrote_meanwhile(tmp_path: Path) -> None:
    one, other = make_two_clones(tmp_path)
    theirs_id = other.create("Theirs")
    other.push()
    git("fetch", "--quiet", "origin", at=one.path)
    theirs = git("rev-parse", "origin/gitticks/state", at=one.path)
    one.create("Ours")
    store, tries = one.store, 0

    def make(tip: str) -> tuple[str, int]:
        nonlocal tries
        tries += 1
        if tries == 1:
            one.create("Meanwhile")
        return store.objects.write_commit((tip, theirs), {}, author=ADA, message="x\n").id, tries

    assert store.take_in(make, "merge", author=ADA) == 2
    taken = take_in(store, theirs, "origin", author=ADA)
    assert taken.before == taken.after
    assert sorted(one.store.task_file(found).task.title for found in task_ids(one.store)) == [
        "Meanwhile",
        "Ours",
    ]
    assert theirs_id


def test_a_step_forward_makes_no_commit_and_moves_the_board(tmp_path: Path) -> None:
    one, other = make_two_clones(tmp_path)
    task = other.create("Theirs")
    other.push()
    git("fetch", "--quiet", "origin", at=one.path)
    taken = take_in(one.store, other.tip(), "origin", author=ADA)
    assert (taken.after, one.tip()) == (other.tip(), other.tip())
    assert one.board_file(task).exists()
    assert one.board_status() == ""


def test_more_files_than_any_disk_holds_are_not_taken_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (one,) = make_clones(tmp_path, make_first_clone(tmp_path), 1)
    tip, files = one.tip(), {str(number): b"x" for number in range(10)}
    tree = one.store.objects.tree_of(one.store.objects.write_commit((), files, author=ADA, message="x\n").id)
    for _ in range(3):
        entries = "".join(f"040000 tree {tree}\td{number}\n" for number in range(10))
        tree = git("mktree", at=one.path, input=entries)
    bomb = git("commit-tree", "-m", "bomb", "-p", tip, tree, at=one.path)
    monkeypatch.setattr(trees, "MOST_DIFFERENCES", 1000)
    with pytest.raises(GitticksError, match="more than 1,000 files that changed at once"):
        take_in(one.store, bomb, "origin", author=ADA)
    assert one.tip() == tip
    git("update-ref", "refs/remotes/origin/gitticks/state", bomb, at=one.path)
    git("worktree", "remove", "--force", ".gitticks", at=one.path)
    git("branch", "-D", "gitticks/state", at=one.path)
    with pytest.raises(GitticksError, match="more than 1,000 files that changed at once"):
        one.store.initialise(ADA, "version: 1\n")
    assert not one.store.exists


def test_what_was_shared_is_remembered(tmp_path: Path) -> None:
    (one,) = make_clones(tmp_path, make_first_clone(tmp_path), 1)
    store = one.store
    assert last_shared(store, "origin") is None
    first = one.tip()
    remember_shared(store, "origin", first)
    store.transact(_write, author=ADA)
    remember_shared(store, "origin", one.tip())
    assert last_shared(store, "origin") == one.tip() != first


def _write(transaction: Transaction) -> None:
    transaction.write("prompts/worker.md", b"x")
    transaction.describe("prompts")
