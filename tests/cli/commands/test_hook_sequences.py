"""The board's hooks while git amends, reverts, merges and makes commits again: they only check."""

from __future__ import annotations

from pathlib import Path

from gitticks.model.event import EventType
from gitticks.model.status import Awaiting, Status
from tests.support.clones import make_clones
from tests.support.hand import Hand, hand
from tests.support.repositories import fsck_problems, git, run_git_command

__all__ = ["hand"]


def test_an_amended_commit_is_compared_with_what_it_amends(hand: Hand) -> None:
    hand.project.ok("update", "k7f2", "--status", "working")
    hand.edit("old", "new")
    assert hand.commit("--amend").returncode == 0
    assert hand.project.task("k7f2").status is Status.WORKING
    assert [event.type for event in hand.project.events("k7f2")].count(EventType.WARNED) == 0
    assert hand.project.file("k7f2").section("Context") == "new"


def test_a_revert_and_a_merge_are_no_requests(hand: Hand) -> None:
    board = hand.project.board
    hand.edit("old", "new")
    hand.commit()
    assert run_git_command("revert", "--no-edit", "HEAD", at=board).returncode == 0
    assert hand.project.file("k7f2").section("Context") == "old"


def test_a_merge_of_what_another_clone_did_passes(hand: Hand, tmp_path: Path) -> None:
    ours, theirs = make_clones(tmp_path / "clones", hand.project, 2)
    theirs.ok("note", "k7f2", "theirs")
    created = theirs.create("Theirs")
    assert theirs.push().returncode == 0
    assert ours.create("Ours") != created
    pulled = ours.pull()
    assert pulled.returncode == 0, pulled.stderr
    assert ours.notes("k7f2") == ["theirs"]
    assert {"Theirs", "Ours"} < {task.title for task in ours.store.snapshot().all_tasks().values()}
    assert ours.board_status() == ""
    assert fsck_problems(ours.path) == ""


def test_a_merge_loses_nothing_that_was_committed_while_it_ran(hand: Hand, tmp_path: Path) -> None:
    ours, theirs = make_clones(tmp_path / "clones", hand.project, 2)
    theirs.create("Theirs")
    assert theirs.push().returncode == 0
    index = Path(git("rev-parse", "--path-format=absolute", "--git-path", "index", at=ours.board))
    ours.create("Ours")
    git("fetch", "-q", "origin", "gitticks/state", at=ours.board)
    git("merge", "-q", "--no-commit", "FETCH_HEAD", at=ours.board)
    as_git_has_it = index.read_bytes()
    created = ours.create("Meanwhile")
    ours.ok("note", "k7f2", "meanwhile")
    index.write_bytes(as_git_has_it)
    tip = ours.tip()
    refused = run_git_command("commit", "-q", "--no-edit", at=ours.board)
    assert refused.returncode != 0
    assert "tasks/f2/k7f2/history.jsonl: 1 of its events would be lost" in refused.stderr
    assert f"{created}/history.jsonl: 1 of its events would be lost" in refused.stderr
    assert ours.tip() == tip
    git("reset", "-q", "--hard", at=ours.board)
    assert ours.pull().returncode == 0
    assert ours.notes("k7f2") == ["meanwhile"]
    assert {"Theirs", "Ours", "Meanwhile"} < {
        task.title for task in ours.store.snapshot().all_tasks().values()
    }
    assert ours.board_status() == ""


def test_a_merge_that_leaves_a_broken_file_is_refused(hand: Hand, tmp_path: Path) -> None:
    ours, theirs = make_clones(tmp_path / "clones", hand.project, 2)
    broken = theirs.board_file("k7f2")
    broken.write_text(broken.read_text().replace("status: pending", "status: nonsense"))
    git("commit", "-qam", "broken", "--no-verify", at=theirs.board)
    assert theirs.push().returncode == 0
    ours.create("Ours")
    tip = ours.tip()
    pulled = ours.pull()
    assert pulled.returncode != 0
    assert "TASK.md:" in pulled.stderr
    assert "nonsense" in pulled.stderr
    assert ours.tip() == tip


def test_during_a_rebase_hooks_only_check(hand: Hand, tmp_path: Path) -> None:
    ours, theirs = make_clones(tmp_path / "clones", hand.project, 2)
    created = theirs.create("Theirs")
    assert theirs.push().returncode == 0
    mine = Hand(ours)
    ours.change("k7f2", awaiting=Awaiting.WORK)
    mine.edit("old", "new")
    assert mine.commit().returncode == 0
    ours.make("m3xq")
    events = len(ours.events("k7f2"))
    pulled = run_git_command("pull", "-q", "--rebase", "origin", "gitticks/state", at=ours.board)
    assert pulled.returncode == 0, pulled.stderr
    assert ours.task(created).title == "Theirs"
    assert ours.file("k7f2").section("Context") == "new"
    assert len(ours.events("k7f2")) == events
    assert ours.board_status() == ""
    assert fsck_problems(ours.path) == ""
