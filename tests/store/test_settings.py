from __future__ import annotations

from pathlib import Path

from gitticks.board.hooks import install_board_hooks
from gitticks.board.place import create_board
from gitticks.git.checkouts import checkout_at
from gitticks.git.repository import discover
from gitticks.model.ids import TaskId
from gitticks.runner.workspace_setup import install_hooks
from gitticks.store.settings import load_settings
from tests.support.repositories import add_linked_worktree, git
from tests.support.stores import make_store


def test_the_configuration_of_git_goes_over_the_file(tmp_path: Path) -> None:
    store = make_store(tmp_path, config="version: 1\nparallel: 5\niterations: 4\n")
    git("config", "gitticks.parallel", "7", at=tmp_path)
    settings = load_settings(store.repository, {}, {}).settings
    assert (settings.parallel, settings.iterations) == (7, 4)


def test_what_gitticks_keeps_for_its_hooks_in_a_workspace_is_no_setting(tmp_path: Path) -> None:
    make_store(tmp_path / "main")
    workspace = discover(add_linked_worktree(tmp_path / "main", tmp_path / "workspace", "work"))
    install_hooks(workspace, checkout_at(workspace, tmp_path / "workspace"), TaskId("k7f2"))
    assert git("config", "gitticks.task", at=tmp_path / "workspace") == "k7f2"
    assert load_settings(workspace, {}, {}).settings.parallel == 3


def test_what_gitticks_keeps_for_its_hooks_on_the_board_is_no_setting(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    board = create_board(store.repository)
    git("config", "--worktree", "core.hooksPath", "mine", at=board)
    install_board_hooks(store.repository)
    assert git("config", "gitticks.hiddenHooksPath", at=board) == "mine"
    assert load_settings(discover(board), {}, {}).settings.parallel == 3
