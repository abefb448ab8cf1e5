"""What editors leave about on the board, and the user's own patterns beside it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gitticks.board.ignored import DROPPINGS, is_dropping
from tests.support.projects import Project, make_project
from tests.support.repositories import git

LEFT_ABOUT = (
    "TASK.md~",
    ".TASK.md.swp",
    ".TASK.md.swx",
    ".TASK.md.swpx",
    ".TASK.md.kate-swp",
    "#TASK.md#",
    ".#TASK.md",
    "4913",
    "TASK.md___jb_tmp___",
    ".~lock.TASK.md#",
    ".goutputstream-X1Y2Z3",
    ".nfs00000001",
    ".DS_Store",
)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = make_project(tmp_path / "project")
    project.make("k7f2")
    return project


def _leave_about(project: Project, *names: str) -> None:
    for name in names:
        (project.board_file("k7f2").parent / name).write_text("half")


def test_git_overlooks_on_the_board_what_editors_leave_about(project: Project) -> None:
    _leave_about(project, *LEFT_ABOUT)
    (project.board / "config.yaml~").write_text("half")
    assert project.board_status() == ""
    said = project.ok("status")
    assert [name for name in LEFT_ABOUT if name in said] == []
    git("add", "-A", at=project.board)
    assert project.board_status() == ""


def test_the_main_checkout_and_the_users_patterns_are_as_before(project: Project) -> None:
    (project.path / "notes~").write_text("mine")
    assert git("status", "--porcelain", at=project.path) == "?? notes~"
    assert ".*.sw" not in (project.path / ".git/info/exclude").read_text()
    assert git("config", "--get-all", "core.excludesFile", at=project.board).count("\n") == 0


def test_what_the_user_ignores_is_ignored_on_the_board_too_also_what_comes_later(project: Project) -> None:
    patterns = Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / "git" / "ignore"
    patterns.parent.mkdir(parents=True, exist_ok=True)
    for mine in ("a.mine", "b.other"):
        patterns.write_text(f"*{Path(mine).suffix}")
        os.utime(patterns, (2**31, 2**31))
        project.ok("status")
        _leave_about(project, mine, "TASK.md~")
        assert project.board_status() == ""
    assert git("status", "--porcelain", "--ignored", at=project.board).count("!!") == 2


def test_a_list_that_the_user_names_later_is_heeded_on_the_board_too(project: Project) -> None:
    (Path.home() / "ignores").write_text("*.mine\n")
    _leave_about(project, "a.mine", "TASK.md~")
    git("config", "core.excludesFile", "~/ignores", at=project.path)
    project.ok("status")
    assert project.store.read("tasks/f2/k7f2/a.mine") is None
    assert project.board_status() == ""
    git("config", "--unset", "core.excludesFile", at=project.path)
    project.ok("status")
    assert project.store.read("tasks/f2/k7f2/a.mine") == b"half"


def test_a_list_that_was_given_to_the_board_alone_stays(project: Project) -> None:
    mine = project.path.parent / "patterns"
    mine.write_text("*.mine\n")
    git("config", "--worktree", "core.excludesFile", str(mine), at=project.board)
    (project.path / ".git/gitticks/board-ignores").unlink()
    project.ok("status")
    assert git("config", "core.excludesFile", at=project.board) == str(mine)


def test_a_board_of_an_older_gitticks_gets_the_list_with_the_next_look(project: Project) -> None:
    git("config", "--worktree", "--unset", "core.excludesFile", at=project.board)
    (project.path / ".git/gitticks/board-ignores").unlink()
    _leave_about(project, *LEFT_ABOUT)
    assert project.board_status() != ""
    project.ok("status")
    assert project.board_status() == ""


@pytest.mark.parametrize("name", LEFT_ABOUT)
def test_what_git_overlooks_nobody_takes_up(name: str) -> None:
    assert is_dropping(f"tasks/f2/k7f2/{name}")
    assert is_dropping(f"tasks/f2/{name}/inner.md")


def test_no_pattern_meets_a_file_of_a_task() -> None:
    own = ("TASK.md", "history.jsonl", "worklog.md", "01-handoff.md", "config.yaml", ".gitattributes", "a.md")
    assert [name for name in own if is_dropping(name)] == []
    assert len(DROPPINGS) == len(set(DROPPINGS))
