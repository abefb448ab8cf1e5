"""While git is elsewhere on the board, nothing there is taken for a person's edit, and everybody is told."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from gitticks.board.checkout_state import is_untouched
from gitticks.board.journal import load_journal, save_journal
from gitticks.board.place import board_checkout
from gitticks.model.ids import TaskId, task_path
from tests.support.bad_boards import type_command
from tests.support.clones import Clone, make_conflicting_clone
from tests.support.projects import Project, make_project
from tests.support.repositories import git, run_git_command

TASK = TaskId("k7f2")
PATH = task_path(TASK)


@pytest.fixture
def rebasing(tmp_path: Path) -> Clone:
    """A clone in the middle of a rebase, whose board shows the other's version of a task."""
    ours = make_conflicting_clone(tmp_path)
    assert run_git_command("pull", "--rebase", "origin", "gitticks/state", at=ours.board).returncode != 0
    assert "title: Theirs" in (ours.board / PATH).read_text()
    return ours


def test_a_change_during_a_rebase_takes_nothing_up(rebasing: Clone) -> None:
    ran = rebasing.gt("note", TASK, "Meanwhile.")
    assert ran.code == 0
    assert f"`.gitticks/{PATH}` is edited, not committed" in ran.err
    assert rebasing.task(TASK).title.startswith("Ours")
    assert rebasing.notes(TASK) == ["Meanwhile."]


def test_a_status_during_a_rebase_says_so(rebasing: Clone) -> None:
    told = "git is in the middle of a rebase in .gitticks/"
    ways = "`git -C .gitticks rebase --continue` or `git -C .gitticks rebase --abort`"
    assert f"warning: {told}: {ways}\n" in rebasing.gt("status").err
    assert rebasing.task(TASK).title.startswith("Ours")
    found = rebasing.gt("doctor")
    assert told in found.out
    assert ways in found.out
    git("rebase", "--abort", at=rebasing.board)
    assert told not in rebasing.gt("status").err
    assert rebasing.board_status() == ""


def test_a_rebase_that_a_command_overtook_is_reported_as_one_that_cannot_end(rebasing: Clone) -> None:
    rebasing.ok("note", TASK, "Meanwhile.")
    file = rebasing.board / PATH
    file.write_text(file.read_text().replace("title: Theirs", "title: Resolved"))
    git("add", ".", at=rebasing.board)
    git("-c", "core.editor=true", "commit", "--quiet", "--no-edit", "--no-verify", at=rebasing.board)
    assert run_git_command("rebase", "--continue", at=rebasing.board).returncode != 0, "git cannot"
    done = git("rev-parse", "HEAD", at=rebasing.board)
    ran = rebasing.gt("status")
    assert "cannot finish it, because the state branch has moved on" in ran.err
    assert "cherry-pick" not in ran.err
    type_command(rebasing, ran.err[ran.err.index("`git") :])
    rebasing.ok("status")
    assert rebasing.notes(TASK) == ["Meanwhile."]
    assert rebasing.task(TASK).title.startswith("Ours")
    assert "title: Resolved" in git("show", f"half-rebased-{done[:10]}:{PATH}", at=rebasing.board)
    assert rebasing.board_status() == ""


def test_an_edit_of_an_old_commit_is_not_taken_up(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    project.make(TASK)
    project.ok("update", TASK, "--title", "New")
    git("switch", "--quiet", "--detach", "HEAD~1", at=project.board)
    file = project.board_file(TASK)
    file.write_text(file.read_text() + "\nWritten on an old commit.\n")
    ran = project.gt("status")
    assert "something other than the state branch is checked out in .gitticks/" in ran.err
    assert project.task(TASK).title == "New"
    assert b"Written on" not in project.file(TASK).data
    assert "Written on" in file.read_text()


@pytest.mark.parametrize("is_staged", [False, True])
def test_the_way_back_takes_an_edit_along_that_the_branch_has_moved_on_from(
    tmp_path: Path, *, is_staged: bool
) -> None:
    project = make_project(tmp_path)
    project.make(TASK)
    git("switch", "--quiet", "--create", "mine", at=project.board)
    project.ok("update", TASK, "-p", "0")
    file = project.board_file(TASK)
    file.write_text(file.read_text() + "\nWritten on a branch.\n")
    if is_staged:
        git("add", ".", at=project.board)
    ran = project.gt("status")
    assert "commit the edits" not in ran.err
    type_command(project, ran.err[ran.err.index("`git") :])
    project.ok("status")
    assert b"Written on a branch." in project.file(TASK).data
    assert project.task(TASK).priority == 0
    assert project.board_status() == ""


def test_a_merge_without_a_message_is_given_one(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    project.make(TASK)
    git("branch", "other", "gitticks/state", at=project.path)
    git("worktree", "add", "--quiet", str(tmp_path / "other"), "other", at=project.path)
    git("commit", "--quiet", "--allow-empty", "-m", "theirs", at=tmp_path / "other")
    git("merge", "--no-commit", "--no-ff", "other", at=project.board)
    Path(git("rev-parse", "--git-path", "MERGE_MSG", at=project.board)).write_text("# nothing\n\n")
    told = project.gt("status").err
    type_command(project, told[told.index("`git") :])
    assert "in the middle of" not in project.gt("status").err


@pytest.mark.damages  # the log of the board's HEAD names the commit that there is not
@pytest.mark.parametrize("at", ["ref: refs/heads/nothing\n", "0123456789" * 4 + "\n"])
def test_from_no_commit_there_is_a_way_back_too(tmp_path: Path, at: str) -> None:
    project = make_project(tmp_path)
    project.make(TASK)
    Path(git("rev-parse", "--git-path", "HEAD", at=project.board)).write_text(at)
    told = project.gt("status").err
    type_command(project, told[told.index("`git") :])
    assert "checked out" not in project.gt("status").err
    assert project.board_status() == ""


@pytest.mark.parametrize("command", ["cherry-pick", "revert"])
def test_what_would_change_nothing_is_passed_over(tmp_path: Path, command: str) -> None:
    project = make_project(tmp_path)
    project.make(TASK)
    project.ok("update", TASK, "--title", "New")
    project.ok("update", TASK, "--title", "Newer")
    git("config", "merge.gitticks.driver", "false", at=project.path)  # else the two may be joined by meaning
    assert run_git_command(command, "HEAD~1", at=project.board).returncode != 0
    git("restore", "--staged", "--worktree", ".", at=project.board)
    told = project.gt("status").err
    assert f"`git -C .gitticks {command} --skip`" in told
    type_command(project, told[told.index("`git") :])
    assert "in the middle of" not in project.gt("status").err


@pytest.mark.parametrize(
    ("command", "conclude"),
    [
        (("merge", "--no-commit", "--no-ff", "other"), "commit --no-edit"),
        (("cherry-pick", "other"), "cherry-pick --continue"),
        (("revert", "--no-edit", "HEAD~1"), "revert --continue"),
    ],
)
def test_what_waits_for_the_person_is_reported_with_how_to_conclude_it(
    tmp_path: Path, command: tuple[str, ...], conclude: str
) -> None:
    project = make_project(tmp_path)
    project.make(TASK)
    git("config", "merge.gitticks.driver", "false", at=project.path)
    git("branch", "other", "gitticks/state", at=project.path)
    project.ok("update", TASK, "--title", "New")
    project.ok("update", TASK, "--title", "Newer")
    git("worktree", "add", "--quiet", str(tmp_path / "other"), "other", at=project.path)
    file = tmp_path / "other" / PATH
    file.write_text(file.read_text().replace("title: ", "title: Old "))
    git("commit", "--quiet", "-am", "their title", at=tmp_path / "other")
    run_git_command(*command, at=project.board)
    told = f"git is in the middle of a {command[0]} in .gitticks/"
    added = f"git -C .gitticks add {PATH} && git -C .gitticks {conclude}"
    ways = f"`{added}` once the text is right, or `git -C .gitticks {command[0]} --abort`"
    assert f"hint: {told}: {ways}\n" in project.gt("status").err
    assert f"{told}\n           {ways}\n" in project.gt("doctor").out
    (project.board / PATH).write_text(file.read_text())
    git("add", PATH, at=project.board)
    ways = f"`git -C .gitticks {conclude}` or `git -C .gitticks {command[0]} --abort`"
    assert f"hint: {told}: {ways}\n" in project.gt("status").err
    git(command[0], "--abort", at=project.board)
    assert told not in project.gt("status").err + project.gt("doctor").out
    assert project.task(TASK).title == "Newer"


def _with_task(path: Path) -> Project:
    project = make_project(path)
    project.make(TASK)
    return project


def _edit(board: Path) -> None:
    file = board / PATH
    file.write_text(file.read_text() + "\nMore.\n")


def _stage(board: Path) -> None:
    _edit(board)
    git("add", PATH, at=board)


def _same_size(board: Path) -> None:
    file = board / PATH
    file.write_text(file.read_text().swapcase())


CHANGES = {
    "an edit": _edit,
    "an edit that is staged": _stage,
    "an edit of the same size": _same_size,
    "a file beside a task": lambda board: (board / PATH).with_name("picture.png").write_bytes(b"x"),
    "a new folder of a task": lambda board: (
        (board / "tasks" / "aa").mkdir() or (board / "tasks" / "aa" / "TASK.md").write_text("x")
    ),
    "a task that is gone": lambda board: (board / PATH).unlink(),
    "another branch": lambda board: git("checkout", "--quiet", "--detach", at=board),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_whatever_a_person_did_the_board_counts_as_touched(
    tmp_path: Path, change: Callable[[Path], object]
) -> None:
    repository = _with_task(tmp_path).store.repository
    checkout = board_checkout(repository)
    assert checkout is not None
    assert is_untouched(repository, checkout)
    change(checkout.path)
    assert not is_untouched(repository, checkout)


def test_a_board_of_which_an_edit_is_remembered_counts_as_touched(tmp_path: Path) -> None:
    repository = _with_task(tmp_path).store.repository
    checkout = board_checkout(repository)
    assert checkout is not None
    blob = git("rev-parse", f"HEAD:{PATH}", at=checkout.path)
    save_journal(repository, load_journal(repository)._replace(seen={PATH: (blob,)}))
    assert not is_untouched(repository, checkout)
