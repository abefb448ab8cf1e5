"""A merge on the board that waits for a person, and what commands write to its tasks meanwhile: its commit has both."""

from __future__ import annotations

from pathlib import Path

import pytest

from gitticks.model.ids import TaskId, task_folder, task_path
from tests.support.clones import Clone, make_clones, make_first_clone, on_path
from tests.support.repositories import git, run_git_command

TASK = TaskId("k7f2")
PATH = task_path(TASK)
HISTORY = f"{task_folder(TASK)}/history.jsonl"
BY_LINES = "git merge-file --marker-size=%L -L ours -L base -L theirs %A %O %B"

__all__ = ["on_path"]


@pytest.fixture
def clones(tmp_path: Path, on_path: Path) -> list[Clone]:
    first = make_first_clone(tmp_path)
    first.make(TASK, body="base\n")
    made = make_clones(tmp_path, first, 2)
    git("config", "user.name", "Grace Hopper", at=made[1].path)  # or notes of one second would be one event
    return made


def leave_markers(ours: Clone, theirs: Clone) -> None:
    """Lets a pull by lines wait over the task's file."""
    theirs.ok("update", TASK, "-d", "theirs")
    theirs.push()
    ours.ok("update", TASK, "-d", "ours")
    git("config", "merge.gitticks.driver", BY_LINES, at=ours.path)
    assert ours.pull().returncode == 1
    assert git("diff", "--name-only", "--diff-filter=U", at=ours.board) == PATH


def leave_settings(ours: Clone, theirs: Clone) -> None:
    """Lets a pull wait over the settings alone, with the task merged."""
    theirs.ok("note", TASK, "theirs")
    theirs.ok("config", "parallel", "5")
    theirs.push()
    ours.ok("update", TASK, "-l", "x")
    ours.ok("config", "parallel", "7")
    assert ours.pull().returncode == 1
    assert git("diff", "--name-only", "--diff-filter=U", at=ours.board) == "config.yaml"


def conclude_with_their_settings(ours: Clone) -> None:
    for command in (("checkout", "--theirs", "config.yaml"), ("add", "config.yaml"), ("commit", "--no-edit")):
        git(*command, at=ours.board)


def assert_whole(clone: Clone, *notes: str) -> None:
    """Checks that the branch has these notes, all that happened, and is what the board shows."""
    assert sorted(clone.notes(TASK)) == sorted(notes)
    kinds = [event.type.value for event in clone.events(TASK)]
    assert kinds.count("note.added") == len(notes)
    assert clone.task(TASK).priority == 0
    assert clone.board_status() == ""


def test_what_is_written_while_a_task_has_markers_is_in_the_merge(clones: list[Clone]) -> None:
    ours, theirs = clones
    leave_markers(ours, theirs)
    ours.ok("note", TASK, "mid")
    ours.ok("update", TASK, "-p", "0")
    ours.ok("doctor", "--fix")
    git("commit", "--no-edit", at=ours.board)
    assert_whole(ours, "mid")
    assert "ours" in ours.file(TASK).summary
    assert "theirs" in ours.file(TASK).summary
    ours.push()
    theirs.ok("sync")
    assert_whole(theirs, "mid")


@pytest.mark.parametrize("side", ["--ours", "resolved"])
def test_so_it_is_where_a_person_resolves_them_and_commits_at_once(clones: list[Clone], side: str) -> None:
    ours, theirs = clones
    leave_markers(ours, theirs)
    ours.ok("note", TASK, "mid")
    ours.ok("update", TASK, "-p", "0")
    git("checkout", "--ours", PATH, at=ours.board)
    if side == "resolved":
        ours.save(TASK, "\nours\n", "\nours and theirs\n")
    git("add", PATH, at=ours.board)
    git("commit", "--no-edit", at=ours.board)
    assert_whole(ours, "mid")
    assert ours.file(TASK).summary == ("ours" if side == "--ours" else "ours and theirs")


def test_a_merge_with_markers_can_be_given_up_after_a_note(clones: list[Clone]) -> None:
    ours, theirs = clones
    leave_markers(ours, theirs)
    ours.ok("note", TASK, "mid")
    ours.ok("update", TASK, "-p", "0")
    assert "`git -C .gitticks merge --abort`" in ours.gt("status").err
    git("merge", "--abort", at=ours.board)
    ours.ok("status")
    assert_whole(ours, "mid")
    assert ours.file(TASK).summary == "ours"


def test_what_is_written_to_a_task_that_git_merged_is_in_the_merge(clones: list[Clone]) -> None:
    ours, theirs = clones
    leave_settings(ours, theirs)
    ours.ok("note", TASK, "mid")
    ours.ok("update", TASK, "-p", "0")
    assert git("diff", "--name-only", "--", "tasks", at=ours.board) == ""
    conclude_with_their_settings(ours)
    assert_whole(ours, "theirs", "mid")
    ours.ok("status")
    ours.ok("sync")
    theirs.ok("sync")
    assert_whole(theirs, "theirs", "mid")
    assert theirs.task(TASK).labels == ("x",)


def test_so_it_is_where_the_board_could_not_follow(clones: list[Clone]) -> None:
    ours, theirs = clones
    leave_settings(ours, theirs)
    lock = ours.path / ".git/worktrees/-gitticks/index.lock"
    lock.touch()
    ours.ok("note", TASK, "mid")
    ours.ok("update", TASK, "-p", "0")
    other = ours.create("Another")
    lock.unlink()
    conclude_with_their_settings(ours)
    assert_whole(ours, "theirs", "mid")
    assert ours.task(other).title == "Another"


def test_a_field_that_both_sides_set_is_the_later(clones: list[Clone]) -> None:
    ours, theirs = clones
    theirs.ok("update", TASK, "-p", "3")
    leave_settings(ours, theirs)
    ours.ok("update", TASK, "-p", "1")
    ours.ok("update", TASK, "-p", "0")
    conclude_with_their_settings(ours)
    assert_whole(ours, "theirs")


def test_a_merge_of_settings_can_be_given_up_after_a_note(clones: list[Clone]) -> None:
    ours, theirs = clones
    leave_settings(ours, theirs)
    ours.ok("note", TASK, "mid")
    ours.ok("update", TASK, "-p", "0")
    assert "`git -C .gitticks merge --abort`" in ours.gt("status").err
    git("merge", "--abort", at=ours.board)
    assert_whole(ours, "mid")
    ours.ok("doctor")
    assert run_git_command("diff", "--quiet", "HEAD", "--", HISTORY, at=ours.board).returncode == 0
