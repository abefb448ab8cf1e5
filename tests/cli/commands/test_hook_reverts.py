"""A `git revert` on the board: what a person may write goes back, a task's state and its history stay."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from gitticks.model.event import EventType
from gitticks.model.status import Awaiting, Status
from tests.support.hand import Hand, commits_of, hand
from tests.support.projects import make_reviewing
from tests.support.repositories import fsck_problems, git, run_git_command

__all__ = ["hand"]

NO_MOVE = "k7f2  a revert cannot move tasks, so its status was restored\n"
NO_LOSS = "k7f2  a revert cannot remove lines of a history, so they were restored\n"
FOLLOW_UP = "Ada Lovelace: k7f2: restore what a revert removed"


def _revert(hand: Hand, *revisions: str) -> str:
    done = run_git_command("revert", "--no-edit", *(revisions or ("HEAD",)), at=hand.project.board)
    assert done.returncode == 0, done.stderr
    return done.stderr


def _is_well(hand: Hand) -> bool:
    hand.project.ok("status")
    is_clean = hand.project.board_status() == "" and fsck_problems(hand.project.path) == ""
    return is_clean and "history\n" not in hand.project.ok("doctor")


@pytest.mark.parametrize(
    "command", [("update", "k7f2", "--status", "working"), ("start", "k7f2"), ("cancel", "k7f2")]
)
def test_a_revert_moves_no_task(hand: Hand, command: tuple[str, ...]) -> None:
    hand.project.ok(*command)
    before, events = hand.project.task("k7f2"), hand.project.events("k7f2")
    assert _revert(hand) == NO_MOVE
    assert hand.project.task("k7f2") == before
    assert hand.project.events("k7f2")[: len(events)] == events
    assert [event.type for event in hand.project.events("k7f2")[len(events) :]] == [EventType.WARNED]
    assert commits_of(hand, 1) == [FOLLOW_UP]
    assert _is_well(hand)


def test_what_was_moved_with_the_task_stays_with_it(hand: Hand) -> None:
    make_reviewing(hand.project, "m3xq", body="Text.\n\n## Handoff\n\n- DONE: it\n")
    hand.project.ok("reject", "m3xq", "not yet")
    before = hand.project.file("m3xq").data
    rounds = hand.project.store.list("tasks/xq/m3xq/rounds")
    assert "m3xq  a revert cannot move tasks" in _revert(hand)
    assert hand.project.file("m3xq").data == before
    assert hand.project.store.list("tasks/xq/m3xq/rounds") == rounds
    assert _is_well(hand)


def test_a_field_goes_back_and_the_history_stays(hand: Hand) -> None:
    hand.project.ok("update", "k7f2", "-p", "0")
    events = hand.project.events("k7f2")
    assert _revert(hand) == NO_LOSS
    assert hand.project.task("k7f2").priority == 2
    assert hand.project.events("k7f2")[: len(events)] == events
    assert _is_well(hand)


def test_an_edit_by_hand_goes_back_and_nothing_follows(hand: Hand) -> None:
    hand.edit("old", "new")
    hand.commit()
    assert _revert(hand) == ""
    assert hand.project.file("k7f2").section("Context") == "old"
    assert commits_of(hand, 1) == ['Ada Lovelace: Revert "by hand"']


def test_no_task_is_removed_by_taking_its_creation_back(hand: Hand) -> None:
    task_id = hand.project.create("Stays")
    assert f"{task_id}  a revert cannot remove tasks" in _revert(hand)
    assert hand.project.task(task_id).title == "Stays"
    assert hand.project.board_file(task_id).exists()
    assert _is_well(hand)


def test_tasks_that_one_commit_brought_are_restored_by_one(hand: Hand, tmp_path: Path) -> None:
    issues = [{"number": number, "title": "One", "state": "OPEN"} for number in (1, 2)]
    (tmp_path / "issues.json").write_text(json.dumps(issues))
    hand.project.ok("import", "github", str(tmp_path / "issues.json"))
    said = _revert(hand)
    assert [one for one in said.splitlines() if "cannot remove tasks" in one] == [
        f"gh-{number}  a revert cannot remove tasks, so it was restored; `gt cancel` closes it"
        for number in (1, 2)
    ]
    assert commits_of(hand, 2) == [
        "Ada Lovelace: gh-1: restore what a revert removed",
        'Ada Lovelace: Revert "import: github, 2 new"',
    ]
    assert _is_well(hand)


def test_a_verdict_is_not_taken_back(hand: Hand) -> None:
    hand.project.change("k7f2", awaiting=Awaiting.WORK)
    hand.project.ok("approve", "k7f2")
    assert hand.project.task("k7f2").status is Status.DONE
    _revert(hand)
    assert hand.project.task("k7f2").status is Status.DONE
    assert _is_well(hand)


def test_what_others_wrote_since_stays(hand: Hand) -> None:
    hand.project.ok("update", "k7f2", "--status", "working")
    commit = hand.project.tip()
    hand.project.ok("create", "Another")
    edited = hand.project.board / "mine.txt"
    edited.write_text("mine\n")
    _revert(hand, commit)
    assert hand.project.task("k7f2").status is Status.WORKING
    assert edited.read_text() == "mine\n"


def test_a_series_is_only_named_and_can_be_taken_back_as_is_said(hand: Hand) -> None:
    hand.project.ok("update", "k7f2", "--status", "working")
    hand.project.ok("update", "k7f2", "-p", "0")
    events = hand.project.events("k7f2")
    _revert(hand, "HEAD~2..HEAD")
    said = hand.project.gt("doctor").out
    assert "had lines of its history.jsonl changed, which is append-only" in said
    typed = said[said.index("`git -C .gitticks -c core.hooksPath") :].split("`")[1]
    git(*typed.split()[1:], at=hand.project.path)
    assert hand.project.events("k7f2")[: len(events)] == events
    assert hand.project.task("k7f2").status is Status.WORKING
    assert _is_well(hand)


def test_a_revert_somewhere_else_is_no_business_of_ours(hand: Hand, tmp_path: Path) -> None:
    git("switch", "-q", "-c", "side", at=hand.project.board)
    hand.edit("status: pending", "status: working")
    hand.commit("--no-verify")
    assert _revert(hand) == ""
    assert tmp_path.exists()


def test_a_revert_that_comes_to_nothing_is_ended_as_the_doctor_says(hand: Hand) -> None:
    board, task = hand.project.board, hand.project.board / "tasks" / "3d" / "ab3d" / "TASK.md"
    task.parent.mkdir(parents=True)
    task.write_text("---\nid: ab3d\ntitle: By hand\n---\n\nText.\n")
    git("add", "tasks/3d/ab3d", at=board)
    git("commit", "-qm", "by hand", at=board)
    made = git("log", "-1", "--format=%H", "--grep=by hand", at=board)
    hand.project.ok("update", "ab3d", "-p", "1")
    assert "modify/delete" in run_git_command("revert", "--no-edit", made, at=board).stdout
    assert "commit --no-edit" not in hand.project.ok("doctor")
    said = hand.project.ok("doctor", "--fix")
    assert "`git -C .gitticks revert --skip` or `git -C .gitticks revert --abort`" in said
    git("revert", "--skip", at=board)
    assert _is_well(hand)
    assert hand.project.task("ab3d").priority == 1
