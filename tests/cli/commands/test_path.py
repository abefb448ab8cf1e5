from __future__ import annotations

import shutil
from pathlib import Path

from gitticks.board.place import create_board
from tests.cli.support import gt
from tests.support.projects import make_project
from tests.support.repositories import add_linked_worktree, git, make_repository
from tests.support.stores import make_queue


def test_the_path_is_absolute_from_everywhere(tmp_path: Path) -> None:
    root = tmp_path / "repository"
    board = create_board(make_queue(root).repository)
    linked = add_linked_worktree(root, tmp_path / "linked", "other")
    for place in (root, board / "tasks", linked):
        assert gt("path", "k7", at=place).seen == f"{root}/.gitticks/tasks/f2/k7f2/TASK.md\n--- 0\n"


def test_json(tmp_path: Path) -> None:
    create_board(make_queue(tmp_path).repository)
    assert gt("path", "k7f2", "--json", at=tmp_path).out == (
        f'{{"schema": 1, "path": "{tmp_path}/.gitticks/tasks/f2/k7f2/TASK.md"}}\n'
    )


def test_without_an_id_it_is_the_task_of_this_workspace(tmp_path: Path) -> None:
    root = tmp_path / "repository"
    create_board(make_queue(root).repository)
    workspace = add_linked_worktree(root, tmp_path / "k7f2", "gitticks/work/k7f2")
    assert gt("path", at=workspace).out == f"{root}/.gitticks/tasks/f2/k7f2/TASK.md\n"
    assert (
        gt("path", at=root).seen
        == """\
--- 2
error: no task was named, and this is not a task's workspace

hint: `gt list`
"""
    )


def test_without_a_board_it_says_how_to_make_it_again(tmp_path: Path) -> None:
    store = make_queue(tmp_path)
    said = f"""\
--- 1
error: there is no board at `{tmp_path}/.gitticks`

hint: `gt doctor --fix` recreates it
"""
    assert gt("path", "k7f2", at=tmp_path).seen == said
    shutil.rmtree(create_board(store.repository))
    assert gt("path", "k7f2", at=tmp_path).seen == said


def test_a_file_that_was_deleted_on_the_board_is_no_path(tmp_path: Path) -> None:
    board = create_board(make_queue(tmp_path).repository)
    (board / "tasks/f2/k7f2/TASK.md").unlink()
    assert gt("path", "k7f2", at=tmp_path).code == 1


def test_a_bare_repository_has_no_board(tmp_path: Path) -> None:
    store = make_queue(tmp_path / "full")
    bare = make_repository(tmp_path / "bare", bare=True, commits=0)
    git("push", "--quiet", str(bare), "gitticks/state:gitticks/state", at=store.repository.common_dir)
    assert gt("path", "k7f2", at=bare).err == (
        f"error: `{bare}` is a bare repository: the board needs a checkout\n\n"
        f"hint: clone it and work there: `git clone {bare}`\n"
    )


def test_an_unknown_id(tmp_path: Path) -> None:
    make_queue(tmp_path)
    assert gt("path", "k7g2", at=tmp_path).err == (
        "error: there is no task `k7g2`\n\nhint: did you mean `k7f2` (Login loses the return URL)?\n"
    )


def test_the_hint_for_a_deleted_file_brings_it_back(tmp_path: Path) -> None:
    project = make_project(tmp_path)
    project.make("k7f2")
    project.board_file("k7f2").unlink()
    ran = project.gt("path", "k7f2")
    assert ran.err.startswith("error: the board lacks `.gitticks/tasks/f2/k7f2/TASK.md`\n")
    git("-C", ".gitticks", "restore", "tasks/f2/k7f2/TASK.md", at=tmp_path)
    assert "`git -C .gitticks checkout HEAD -- tasks/f2/k7f2/TASK.md` restores it" in ran.err
    assert project.gt("path", "k7f2").code == 0
