from __future__ import annotations

import shutil
from pathlib import Path

from gitticks.actions.context import Context
from gitticks.actions.current import workspaces_of
from tests.support.repositories import add_linked_worktree, make_repository


def test_workspaces_are_worktrees_on_a_tasks_branch(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "repository")
    work = add_linked_worktree(root, tmp_path / "k7f2", "gitticks/work/k7f2")
    add_linked_worktree(root, tmp_path / "other", "gitticks/other")
    add_linked_worktree(root, tmp_path / "odd", "gitticks/work/Not_An_Id")
    assert workspaces_of(Context(directory=root)) == {"k7f2": str(work)}
    assert workspaces_of(Context(directory=work)) == {"k7f2": str(work)}


def test_what_is_gone_is_no_workspace(tmp_path: Path) -> None:
    root = make_repository(tmp_path / "repository")
    shutil.rmtree(add_linked_worktree(root, tmp_path / "k7f2", "gitticks/work/k7f2"))
    (root / ".git/worktrees/broken").mkdir()
    assert workspaces_of(Context(directory=root)) == {}


def test_a_repository_without_worktrees(tmp_path: Path) -> None:
    assert workspaces_of(Context(directory=make_repository(tmp_path))) == {}
