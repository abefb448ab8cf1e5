"""A state branch that was moved off commits is named by doctor and status, with the way back and the way to leave it."""

from __future__ import annotations

import shlex

import pytest

from tests.support.doctor import COMMAND, found_in, our_gt_on_path, project, type_fixes
from tests.support.projects import Project
from tests.support.repositories import git

__all__ = ["our_gt_on_path", "project"]

STATE = "refs/heads/gitticks/state"
REWOUND = "the state branch was rewound"


def write_ref(project: Project, commit: str) -> None:
    """Moves the branch as a restored backup of `.git` does, of which no log knows."""
    (project.path / ".git" / STATE).write_text(f"{commit}\n")


def update_ref(project: Project, commit: str) -> None:
    git("update-ref", STATE, commit, at=project.path)


def forced_fetch(project: Project, commit: str) -> None:
    git("fetch", "--quiet", "--update-head-ok", ".", f"+{commit}:{STATE}", at=project.path)


def forced_branch(project: Project, commit: str) -> None:
    git("worktree", "remove", "--force", str(project.board), at=project.path)
    git("branch", "--force", "gitticks/state", commit, at=project.path)
    project.ok("init")


@pytest.mark.parametrize("move", [update_ref, write_ref, forced_fetch, forced_branch])
@pytest.mark.parametrize("goes_on", [False, True], ids=["at once", "later"])
def test_a_rewound_branch_is_named_and_comes_back(project: Project, move: object, goes_on: bool) -> None:
    assert callable(move)
    task = project.create()
    before = project.tip()
    project.ok("note", task, "First.")
    project.ok("note", task, "Second.")
    tip = project.tip()
    move(project, before)
    if goes_on:
        project.ok("note", task, "Since.")
    project.ok("list")  # brings the index and the board along
    lacks = f"lacks 2 commits (`{task}: note added`, `{task}: note added`)"
    warned = project.gt("status").err
    assert f"{REWOUND} and {lacks}: `gt doctor --fix` restores them" in warned
    assert found_in(project.path) == {f"{REWOUND}: it {lacks}": "warning"}
    assert found_in(project.path) == {f"{REWOUND}: it {lacks}": "warning"}, (
        "until somebody says which is right"
    )
    assert "fixed: restore what was lost from the state branch" in project.ok("doctor", "--fix")
    assert project.notes(task) == ["First.", "Second.", *(["Since."] if goes_on else [])]
    git("merge-base", "--is-ancestor", tip, STATE, at=project.path)
    assert found_in(project.path) == {}
    assert "warning" not in project.gt("status").err
    assert project.board_status() == ""


def test_what_fell_off_can_be_left_off_for_good(project: Project) -> None:
    task = project.create()
    before = project.tip()
    project.ok("note", task, "A mistake.")
    update_ref(project, before)
    project.ok("status")
    [found] = project.gt("doctor").out.split("\n")[2:3]
    fix, leave = COMMAND.findall(found)
    assert fix == "gt doctor --fix"
    git(*shlex.split(leave)[1:], at=project.path)
    assert project.notes(task) == []
    assert found_in(project.path) == {}
    assert "warning" not in project.gt("status").err


def test_what_a_reset_dropped_stays_away_and_is_named(project: Project) -> None:
    task = project.create()
    project.ok("note", task, "A mistake.")
    git("reset", "--quiet", "--hard", "HEAD~1", at=project.board)
    took = f"`git reset` removed 1 commit (`{task}: note added`) from the state branch"
    assert took in project.gt("status").err
    assert found_in(project.path) == {took: "warning"}
    assert "fixed" not in project.ok("doctor", "--fix"), "nobody brings it back unasked"
    project.ok("note", task, "Instead.")
    assert "warning" not in project.gt("status").err, "the user went on from there"
    assert found_in(project.path) == {took: "warning"}
    type_fixes(project.path)
    assert project.notes(task) == ["A mistake.", "Instead."]
    assert found_in(project.path) == {}


def test_what_a_user_writes_again_is_no_loss(project: Project) -> None:
    task = project.create()
    project.save(task, "title: ", "# a comment\ntitle: ")
    git("commit", "--quiet", "-am", "a coment", at=project.board)
    git("commit", "--quiet", "--amend", "-m", "a comment", at=project.board)
    assert "warning" not in project.gt("status").err
    assert found_in(project.path) == {}


def test_a_branch_that_went_back_and_forth_lacks_nothing(project: Project) -> None:
    before = project.tip()
    project.create()
    tip = project.tip()
    update_ref(project, before)
    update_ref(project, tip)
    assert "warning" not in project.gt("status").err
    assert found_in(project.path) == {}


def test_a_run_and_a_sync_warn_too(project: Project) -> None:
    before = project.tip()
    project.create()
    update_ref(project, before)
    git("init", "--quiet", "--bare", "hub.git", at=project.path.parent)
    git("remote", "add", "origin", "../hub.git", at=project.path)
    assert REWOUND in project.gt("run").err
    assert REWOUND in project.gt("sync").err


def test_a_commit_that_its_author_amended_is_not_lost(project: Project) -> None:
    project.make("k7f2", body="One.\n")
    project.save("k7f2", "One.", "Two.")
    git("commit", "--quiet", "-am", "two", at=project.board)
    project.ok("list")
    project.save("k7f2", "Two.", "Three.")
    git("commit", "--quiet", "--amend", "-am", "three", at=project.board)
    assert "rewound" not in project.ok("doctor")
    project.ok("doctor", "--fix")
    assert b"Three." in project.file("k7f2").data
    assert b"Two." not in project.file("k7f2").data


def test_a_reset_to_before_a_mistake_was_taken_back_is_judged_again(project: Project) -> None:
    project.make("k7f2")
    project.save("k7f2", "status: pending", "status: done")
    git("commit", "--quiet", "--no-verify", "-am", "done", at=project.board)
    project.ok("doctor")
    git("reset", "--quiet", "--hard", "HEAD~1", at=project.board)
    ran = project.gt("doctor")
    assert ran.code == 1
    assert "went from pending to done, and no event says so" in ran.out
