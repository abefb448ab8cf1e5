"""What git drops from the state branch comes back; what a person drops on purpose stays away."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from gitticks.model.ids import TaskId, task_path
from gitticks.store.dropped import bring_back_dropped, dropped_commits
from tests.support.clones import Clone, make_conflicting_clone
from tests.support.repositories import fsck_problems, git, run_git_command

TASK = TaskId("k7f2")
PATH = task_path(TASK)
TOLD = "git had dropped a commit from the state branch: restored"


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    """A clone whose next `git pull --rebase` ends in a conflict."""
    return make_conflicting_clone(tmp_path)


def abort_a_rebase(clone: Clone) -> str:
    """Lets a task be made while a rebase waits for its person, who gives it up; returns the task."""
    pulled = run_git_command("pull", "--rebase", "origin", "gitticks/state", at=clone.board)
    assert pulled.returncode != 0
    made = clone.create("While they rebase")
    git("rebase", "--abort", at=clone.board)
    assert made not in clone.ok("list"), "git drops it; else this test is about nothing"
    return made


def reset_beside_a_writer(clone: Clone, *words: str) -> str:
    """Lets a task be made between the moment when git resets its index and the one when it moves the branch."""
    hooks = clone.path.parent / "hooks"
    hooks.mkdir()
    hook = hooks / "post-index-change"
    made = clone.path.parent / "made"
    hook.write_text(
        "#!/bin/sh\n"
        f"[ -e '{made}' ] && exit\n"
        "unset $(git rev-parse --local-env-vars)\n"
        f"cd '{clone.path}' && '{sys.executable}' -P -m gitticks create 'While they reset' > '{made}'\n"
    )
    hook.chmod(0o755)
    git("-c", f"core.hooksPath={hooks}", "reset", "--quiet", *words, at=clone.board)
    task = made.read_text().strip()
    assert task
    assert task not in clone.ok("list"), "git drops it; else this test is about nothing"
    return task


def test_a_status_brings_back_what_an_aborted_rebase_dropped(clone: Clone) -> None:
    made = abort_a_rebase(clone)
    ran = clone.gt("status")
    assert ran.err.endswith(f"warning: {TOLD}\n")
    assert clone.task(made).title == "While they rebase"
    assert (clone.board / task_path(TaskId(made))).exists()
    assert TOLD not in clone.gt("status").err
    assert dropped_commits(clone.store.repository) == ()
    assert fsck_problems(clone.path) == ""


def test_the_next_change_brings_it_back_too(clone: Clone) -> None:
    made = abort_a_rebase(clone)
    clone.ok("note", TASK, "After it.")
    assert clone.task(made).title == "While they rebase"
    assert clone.notes(TASK) == ["After it."]


def test_what_plain_git_committed_since_stays(clone: Clone) -> None:
    made = abort_a_rebase(clone)
    file = clone.board / PATH
    file.write_text(file.read_text() + "\nWritten since.\n")
    git("commit", "--quiet", "-am", "since", at=clone.board)
    clone.ok("status")
    assert clone.task(made).title == "While they rebase"
    assert "Written since." in clone.file(TASK).data.decode()
    assert clone.board_status() == ""


@pytest.mark.parametrize("words", [["--hard"], ["--hard", "HEAD"], ["--merge"]], ids=" ".join)
def test_what_a_reset_dropped_in_a_race_comes_back(clone: Clone, words: list[str]) -> None:
    made = reset_beside_a_writer(clone, *words)
    clone.ok("status")
    assert clone.task(made).title == "While they reset"
    assert clone.board_status() == ""


def test_the_doctor_tells_and_fixes(clone: Clone) -> None:
    made = abort_a_rebase(clone)
    told = "git dropped 1 commit from the state branch"
    found = clone.gt("doctor")
    assert found.code == 0
    assert told in found.out
    assert "rewound" not in found.out
    assert "restore what git dropped" in clone.ok("doctor", "--fix")
    assert clone.task(made).title == "While they rebase"
    assert told not in clone.ok("doctor")


def test_what_a_person_drops_on_purpose_stays_away(clone: Clone) -> None:
    made = clone.create("A mistake")
    git("reset", "--quiet", "--hard", "HEAD~1", at=clone.board)
    clone.ok("status")
    clone.ok("note", TASK, "After it.")
    assert made not in clone.ok("list")


def test_what_came_back_can_be_dropped_on_purpose(clone: Clone) -> None:
    made = abort_a_rebase(clone)
    before = clone.store.tip()
    clone.ok("status")
    git("reset", "--quiet", "--hard", before, at=clone.board)
    clone.ok("status")
    clone.ok("note", TASK, "After it.")
    assert made not in clone.ok("list")


@pytest.mark.damages
def test_a_commit_that_is_gone_stops_nobody(clone: Clone) -> None:
    abort_a_rebase(clone)
    [dropped] = dropped_commits(clone.store.repository)
    (clone.path / ".git/objects" / dropped[:2] / dropped[2:]).unlink()
    assert bring_back_dropped(clone.store) == 0
    clone.ok("note", TASK, "After it.")
    found = clone.gt("doctor")
    assert f"commits up to {dropped[:10]} from the state branch, and they are lost" in found.out
    assert found.code == 0


@pytest.mark.parametrize(
    "text", ["", "\n\n", "a b\treset: moving to HEAD\n", "\treset: moving to HEAD", "\x00\xff"]
)
def test_a_log_that_tells_nothing(clone: Clone, text: str) -> None:
    (clone.path / ".git/logs/refs/heads/gitticks/state").write_text(text)
    assert dropped_commits(clone.store.repository) == ()
