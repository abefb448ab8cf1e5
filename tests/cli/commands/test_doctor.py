"""`gt doctor`: what it says and looks at; board, index and hooks, with fixes that take findings away."""

from __future__ import annotations

import json
import os
import shutil
from contextlib import closing
from pathlib import Path

import pytest

from gitticks.actions.context import Context
from gitticks.actions.doctor.diagnosis import diagnose
from gitticks.board.place import create_board
from gitticks.model.status import Status
from gitticks.store import index_database
from gitticks.store.branch import Store
from gitticks.store.index_database import index_path
from tests.cli.support import gt
from tests.support.doctor import (
    findings,
    found_in,
    our_gt_on_path,
    project,
    type_fixes,
)
from tests.support.projects import Project
from tests.support.repositories import (
    git,
    make_repository,
)
from tests.support.stores import make_store, write_task_file

__all__ = ["our_gt_on_path", "project"]


def test_all_is_well(project: Project) -> None:
    project.create()
    assert project.gt("doctor").seen == "no problems found\n--- 0\n"


def test_what_was_looked_at_is_reported(project: Project) -> None:
    out = project.ok("doctor", "-v")
    assert out.startswith("machine     ok  git, the shell's `gt`, ")
    assert [line.split()[:2] for line in out.splitlines()[:11]] == [
        [topic, "ok"]
        for topic in (
            "machine", "repository", "locks", "settings", "board", "index", "files", "tasks", "history",
            "workspaces", "sessions",
        )
    ]  # fmt: skip
    assert out.endswith("\n\nno problems found\n")


def test_the_board_is_made_again(project: Project) -> None:
    shutil.rmtree(project.board)
    git("worktree", "prune", at=project.path)
    assert (
        project.gt("doctor").seen
        == """\
board
  error    there is no board at .gitticks/
           `gt doctor --fix`

1 error; `gt doctor --fix` fixes it
--- 1
"""
    )
    assert project.gt("doctor", "--fix").seen == "fixed: create or fix the board\nno problems found\n--- 0\n"
    assert (project.board / "config.yaml").is_file()


def test_the_board_is_brought_in_step(project: Project) -> None:
    task_id = project.create()
    boardless = Store(project.store.repository)
    write_task_file(boardless, task_id, project.file(task_id).data.decode().replace("Login", "Another"))
    assert found_in(project.path) == {"the board is behind the state branch": "warning"}
    type_fixes(project.path)
    assert found_in(project.path) == {}
    assert "title: Another" in project.board_file(task_id).read_text()


def test_another_branch_in_the_board(project: Project) -> None:
    git("switch", "--quiet", "--create", "mine", at=project.board)
    ran = project.gt("doctor", "--json")
    assert findings(ran) == {"something other than the state branch is checked out in .gitticks/": "error"}
    assert ran.code == 1
    type_fixes(project.path)
    assert found_in(project.path) == {}


def test_a_damaged_index_is_built_again(project: Project) -> None:
    project.ok("list")
    index_path(project.store.repository).write_bytes(b"x" * 5000)
    assert found_in(project.path) == {"the index is damaged: file is not a database": "error"}
    index_path(project.store.repository).write_bytes(b"x" * 5000)
    assert project.gt("doctor", "--fix").seen == "fixed: rebuild the index\nno problems found\n--- 0\n"


def test_an_index_with_another_value_is_built_again_when_all_is_read(project: Project) -> None:
    project.create("A title that nobody gave another bit")
    project.ok("list")
    path = index_path(project.store.repository)
    path.write_bytes(path.read_bytes().replace(b"nobody gave", b"nobody gawe"))
    assert found_in(project.path) == {}
    assert "gawe" in project.ok("list")
    assert found_in(project.path, "--full") == {}
    assert "gave" in project.ok("list")


def test_an_index_that_another_program_keeps_to_itself(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sqlite3

    project.ok("list")
    monkeypatch.setattr(index_database, "BUSY_SECONDS", 0.05)
    with closing(sqlite3.connect(index_path(project.store.repository), isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        assert found_in(project.path) == {"the index cannot be used now: database is locked": "warning"}
    assert found_in(project.path) == {}


def test_a_diagnosis_keeps_nobody_from_writing_the_index(project: Project) -> None:
    import sqlite3

    project.ok("list")
    context = Context(directory=project.path)
    diagnose(context, full=True)
    path = index_path(context.repository)
    with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")


def test_an_index_that_cannot_be_written(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    project.ok("list")
    path = index_path(project.store.repository)
    monkeypatch.setattr(os, "access", lambda file, mode: Path(file) != path or mode != os.W_OK)
    assert found_in(project.path) == {
        f"the index `{path}` cannot be written, so every command is slower": "warning"
    }


def test_before_anything_was_begun(tmp_path: Path) -> None:
    make_repository(tmp_path)
    assert (
        gt("doctor", at=tmp_path).seen
        == """\
repository
  warning  this repository has no tasks yet
           `gt init` sets them up

1 warning
--- 0
"""
    )


def test_outside_of_a_repository(tmp_path: Path) -> None:
    assert (
        gt("doctor", at=tmp_path).seen
        == f"""\
repository
  error    `{tmp_path}` is not in a git repository
           `git init` creates one here

1 error
--- 1
"""
    )


def test_hooks_that_are_missing_or_broken_are_installed(tmp_path: Path) -> None:
    repository = make_store(tmp_path).repository
    create_board(repository)
    lack = "the board has no hooks: commits there are not checked, and verdicts in them do nothing"
    assert found_in(tmp_path) == {lack: "error"}
    fixed = "fixed: install hooks and the merge driver\nno problems found\n--- 0\n"
    assert gt("doctor", "--fix", at=tmp_path).seen == fixed
    (repository.own_dir / "hooks" / "pre-commit").unlink()
    damage = "the board's hooks are incomplete, or their Python is missing"
    assert found_in(tmp_path) == {damage: "error"}
    assert gt("doctor", "--fix", at=tmp_path).seen == fixed


def test_one_check_that_fails_keeps_no_other_from_being_made(project: Project) -> None:
    (project.board / "config.yaml").write_text("version: 1\nparalel: 3\n")
    git("commit", "--quiet", "--no-verify", "-am", "x", at=project.board)
    project.make("dddd", status=Status.STUCK)
    assert "`dddd` is in stuck but is not waiting for anyone" in found_in(project.path)


def test_json_has_what_a_finding_is_about(project: Project) -> None:
    project.make("dddd", status=Status.STUCK)
    body = json.loads(project.gt("doctor", "--json").out)
    assert body["schema"] == 1
    assert body["findings"] == [
        {
            "severity": "error",
            "what": "`dddd` is in stuck but is not waiting for anyone",
            "fix": "`gt update dddd --awaiting escalation` makes it a person's turn, and clears the rest",
            "repair": None,
            "topic": "tasks",
            "task": "dddd",
            "commit": None,
        }
    ]
    assert body["fixed"] == []
    assert body["looked_at"][0] == "machine"


def test_a_range_is_looked_at_alone(project: Project) -> None:
    assert project.gt("doctor", "--range", "gitticks/state", "--fix").code == 2
    assert project.gt("doctor", "--range", "nowhere").code == 1
