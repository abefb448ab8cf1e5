"""The board's hooks while git amends, reverts, merges and makes commits again: they only check."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from gitticks.model.event import EventType
from gitticks.model.status import Awaiting, Status
from tests.support.clones import make_clones
from tests.support.hand import Hand, commits_of, hand
from tests.support.repositories import fsck_problems, git, run_git_command
from tests.support.stores import write_task_file

__all__ = ["hand"]


def test_an_amended_commit_is_compared_with_what_it_amends(hand: Hand) -> None:
    hand.project.ok("update", "k7f2", "--status", "working")
    hand.edit("old", "new")
    assert hand.commit("--amend").returncode == 0
    assert hand.project.task("k7f2").status is Status.WORKING
    assert [event.type for event in hand.project.events("k7f2")].count(EventType.WARNED) == 0
    assert hand.project.file("k7f2").section("Context") == "new"


@pytest.mark.parametrize("how", ["--soft", "--mixed"])
@pytest.mark.parametrize("then", ["commit", "status", "create"])
def test_what_a_reset_leaves_in_the_files_is_the_persons(hand: Hand, how: str, then: str) -> None:
    for old, new in (("old", "new"), ("new", "newer")):
        hand.edit(old, new)
        assert hand.commit().returncode == 0
    git("reset", "--quiet", how, "HEAD~2", at=hand.project.board)
    if then != "commit":
        hand.project.ok(then, *(["Another"] if then == "create" else []))
        assert "newer" in hand.project.board_file("k7f2").read_text()
    hand.commit()
    assert hand.project.file("k7f2").section("Context") == "newer"
    assert hand.project.board_status() == ""


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


def test_a_merge_may_bring_code_that_shows_conflict_markers(hand: Hand, tmp_path: Path) -> None:
    ours, theirs = make_clones(tmp_path / "clones", hand.project, 2)
    code = "```\n<<<<<<< ours\nold\n=======\nnew\n>>>>>>> theirs\n```"
    created = theirs.create("Theirs", "-d", code)
    assert theirs.push().returncode == 0
    ours.ok("note", "k7f2", "ours")
    pulled = ours.pull()
    assert pulled.returncode == 0, pulled.stderr
    assert ours.task(created).title == "Theirs"


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


@pytest.mark.parametrize("is_gone", [False, True])
def test_what_the_branch_has_changed_too_is_named_by_every_commit_and_settled_as_is_said(
    hand: Hand, *, is_gone: bool
) -> None:
    """Also by `git commit -a`, during which the board cannot be updated."""
    board, file = hand.project.board, hand.project.board_file("k7f2")
    file.unlink() if is_gone else hand.edit("old", "mine")
    theirs = hand.project.file("k7f2").data.decode().replace("old", "theirs")
    write_task_file(hand.project.store, "k7f2", theirs)
    hand.refused()
    hand.project.ok("status")
    said = hand.refused()
    words = (
        "was deleted here and changed on the branch"
        if is_gone
        else "your edit conflicts with the state branch"
    )
    assert f"error: tasks/f2/k7f2/TASK.md: {words}\n" in said
    if not is_gone:
        file.write_text(theirs.replace("theirs", "theirs and mine"))
    subprocess.run(["sh", "-ec", said.split("`")[1]], cwd=hand.project.path, check=True)
    run_git_command("commit", "-qm", "joined", at=board)
    run_git_command("commit", "-qm", "joined", at=board)
    assert hand.project.file("k7f2").body.get("Context") == ("theirs" if is_gone else "theirs and mine")
    assert hand.project.board_status() == ""


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


def _commit_aside(hand: Hand, old: str, new: str, *options: str) -> None:
    """Commits an edit on a branch beside the state branch, which is checked out again after it."""
    git("switch", "-q", "-c", "side", at=hand.project.board)
    hand.edit(old, new)
    assert hand.commit(*options).returncode == 0
    git("switch", "-q", "gitticks/state", at=hand.project.board)


@pytest.mark.parametrize("options", [(), ("--no-commit",)])
def test_a_cherry_pick_carries_nothing_out_and_what_is_illegal_is_reported(
    hand: Hand, options: tuple[str, ...]
) -> None:
    board, events = hand.project.board, len(hand.project.events("k7f2"))
    _commit_aside(hand, "status: pending", "status: cancelled")
    done = run_git_command("cherry-pick", *options, "side", at=board)
    if options:  # then `git commit` ends it, as after a conflict
        (Path(git("rev-parse", "--absolute-git-dir", at=board)) / "CHERRY_PICK_HEAD").write_text(
            git("rev-parse", "side", at=board) + "\n"
        )
        done = hand.commit()
    assert done.returncode == 0
    tip = git("rev-parse", "HEAD", at=board)
    assert (
        f"error: in {tip[:10]} `k7f2` went from pending to cancelled, and no event says so\n" in done.stderr
    )
    assert f"revert --no-edit {tip}` reverts it" in done.stderr
    assert commits_of(hand, 1) == ["Ada Lovelace: by hand"]
    assert len(hand.project.events("k7f2")) == events
    undone = run_git_command("revert", "--no-edit", "HEAD", at=board)
    assert (undone.returncode, undone.stderr) == (0, "")
    assert commits_of(hand, 1) == ['Ada Lovelace: Revert "by hand"']
    assert "no problems found" in hand.project.ok("doctor")
    hand.edit("old", "new")
    assert hand.commit().returncode == 0, "the board is in step after a pick"


def test_a_series_of_picks_and_reverts_carries_nothing_out(hand: Hand) -> None:
    board = hand.project.board
    for number, word in enumerate(("one", "two", "three")):
        hand.edit(("old", "one", "two")[number], word)
        hand.commit()
    events = len(hand.project.events("k7f2"))
    assert run_git_command("revert", "--no-edit", "HEAD~3..HEAD", at=board).returncode == 0
    assert hand.project.file("k7f2").section("Context") == "old"
    assert run_git_command("cherry-pick", "HEAD~6..HEAD~3", at=board).returncode == 0
    assert hand.project.file("k7f2").section("Context") == "three"
    assert len(hand.project.events("k7f2")) == events
    hand.project.ok("status")
    assert hand.project.board_status() == ""
    assert "no problems found" in hand.project.ok("doctor")


def test_a_patch_that_breaks_a_file_is_refused(hand: Hand, tmp_path: Path) -> None:
    board = hand.project.board
    _commit_aside(hand, "status: pending", "status: [", "--no-verify")
    git("format-patch", "-q", "-1", "side", "-o", str(tmp_path / "patches"), at=board)
    (patch,) = (tmp_path / "patches").iterdir()
    tip = hand.project.tip()
    done = run_git_command("am", str(patch), at=board)
    assert done.returncode != 0
    assert "error: tasks/f2/k7f2/TASK.md:" in done.stderr
    git("am", "--abort", at=board)
    assert (hand.project.tip(), hand.project.board_status()) == (tip, "")


def test_a_patch_that_breaks_nothing_is_applied(hand: Hand, tmp_path: Path) -> None:
    board = hand.project.board
    _commit_aside(hand, "title: Login", "title: The login")
    git("format-patch", "-q", "-1", "side", "-o", str(tmp_path / "patches"), at=board)
    (patch,) = (tmp_path / "patches").iterdir()
    assert run_git_command("am", "-q", str(patch), at=board).returncode == 0
    assert hand.project.task("k7f2").title.startswith("The login")
    assert hand.project.ok("doctor", "--fix")
    assert hand.project.board_status() == ""


def test_during_a_bisect_nothing_is_written_and_nothing_refused(hand: Hand) -> None:
    board = hand.project.board
    for number, word in enumerate(("one", "two", "three", "four")):
        hand.edit(("old", "one", "two", "three")[number], word)
        hand.commit()
    git("bisect", "start", "HEAD", "HEAD~4", at=board)
    shown = hand.project.board_file("k7f2").read_text()
    hand.project.ok("status")
    assert hand.project.ok("update", "k7f2", "-p", "0") == "k7f2  priority changed\n"
    assert hand.project.board_file("k7f2").read_text() == shown
    tip = hand.project.tip()
    hand.edit("title: Login", "title: An experiment")
    done = hand.commit()
    assert (done.returncode, done.stderr) == (0, "")
    assert hand.project.tip() == tip
    git("bisect", "reset", at=board)
    hand.project.ok("status")
    assert "four" in hand.project.board_file("k7f2").read_text()
    assert hand.project.task("k7f2").priority == 0
    assert hand.project.board_status() == ""
