"""The board follows the state branch, and no edit of a person is lost on the way."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitticks.board import step
from gitticks.board.place import BoardReport, board_path, create_board
from gitticks.board.step import WORKTREE_BOARD, is_in_step, pending, refreshed_aside
from gitticks.board.sync import Sync
from gitticks.git.checkouts import Checkout
from gitticks.git.repository import discover
from gitticks.store.branch import Store
from tests.board.edits import BOTH, EDITED, NEW, board
from tests.support.boards import ENGINE, LINES, PATH, BoardOfTest, write_to_branch
from tests.support.repositories import make_repository

__all__ = ["board"]


def test_an_untouched_file_takes_the_new_version(board: BoardOfTest) -> None:
    board.write(NEW)
    assert board.read() == NEW
    assert board.status() == ""
    assert is_in_step(board.repository)


def test_a_commit_on_the_board_without_hooks_is_followed_back_to_what_was_there_before(
    board: BoardOfTest,
) -> None:
    board.save(EDITED)
    board.git("-c", "core.hooksPath=/dev/null", "commit", "-qam", "by hand")
    board.write(LINES)
    assert board.read() == LINES
    assert board.status() == ""
    assert is_in_step(board.repository)


def test_new_files_appear_and_removed_ones_go_with_their_folders(board: BoardOfTest) -> None:
    write_to_branch(board.store, {PATH: None, "tasks/f2/k7f2/ü x.md": "new\n"})
    assert not (board.folder / "notes").exists()
    assert board.read("tasks/f2/k7f2/ü x.md") == "new\n"
    assert board.status() == ""


def test_only_changed_paths_are_touched(board: BoardOfTest) -> None:
    board.write("other\n", "other.md")
    before = (board.folder / PATH).stat()
    board.write("newer\n", "other.md")
    after = (board.folder / PATH).stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


@pytest.mark.parametrize("form", [("--split-index",), ("--index-version", "4")])
def test_an_index_in_another_form_is_followed_too(board: BoardOfTest, form: tuple[str, ...]) -> None:
    board.git("update-index", *form)
    board.write(NEW)
    assert board.status() == ""
    assert WORKTREE_BOARD.bring_in_step(board.repository) == BoardReport()
    assert board.git("diff-files") == ""
    assert board.git("write-tree") == board.git("rev-parse", "HEAD^{tree}")


def test_a_commit_of_the_person_is_where_the_board_goes_on(board: BoardOfTest) -> None:
    board.save(EDITED)
    board.git("commit", "-qam", "mine")
    board.write(BOTH)
    assert board.read() == BOTH
    assert board.status() == ""


def test_something_else_checked_out_there_is_left_alone(board: BoardOfTest) -> None:
    board.git("checkout", "-q", "--detach")
    board.write(NEW)
    assert board.read() == LINES
    assert board.status() == ""
    board.git("checkout", "-q", "gitticks/state")
    assert WORKTREE_BOARD.bring_in_step(board.repository) == BoardReport()
    assert (board.read(), board.status()) == (NEW, "")


def test_commits_made_without_the_board_are_caught_up_with(board: BoardOfTest) -> None:
    board.save(EDITED)
    write_to_branch(Store(board.repository), {PATH: NEW, "other.md": "other\n"})
    assert WORKTREE_BOARD.bring_in_step(board.repository) == BoardReport()
    assert (board.read(), board.read("other.md")) == (BOTH, "other\n")
    assert board.status() == f" M {PATH}"


def test_a_second_look_changes_nothing(board: BoardOfTest, monkeypatch: pytest.MonkeyPatch) -> None:
    board.write(NEW)
    WORKTREE_BOARD.bring_in_step(board.repository)
    index = Path(board.git("rev-parse", "--absolute-git-dir")) / "index"
    before = index.stat().st_ino
    monkeypatch.setattr(Sync, "of", lambda *_: pytest.fail("the board was looked through"))
    assert WORKTREE_BOARD.bring_in_step(board.repository) == BoardReport()
    assert index.stat().st_ino == before


@pytest.mark.parametrize("bare", [True, False])
def test_no_board_is_no_trouble(tmp_path: Path, bare: bool) -> None:
    store = Store(discover(make_repository(tmp_path / "project", bare=bare)), WORKTREE_BOARD)
    store.initialise(ENGINE, "version: 1\n")
    write_to_branch(store, {PATH: LINES})
    assert store.read(PATH) == LINES.encode()
    assert WORKTREE_BOARD.bring_in_step(store.repository) is None
    assert pending(store.repository) == {}


def test_a_board_that_was_deleted_is_made_again(board: BoardOfTest) -> None:
    subprocess.run(["rm", "-rf", str(board.folder)], check=True)
    board.write(NEW)
    assert board_path(board.repository) is None
    assert create_board(board.repository) == board.folder
    assert (board.read(), board.status()) == (NEW, "")


def test_a_board_that_git_reset_is_in_step(board: BoardOfTest) -> None:
    board.write("one\n")
    board.write("two\n")
    board.git("reset", "-q", "--hard", "HEAD~1")
    assert is_in_step(board.repository)
    board.git("update-ref", "HEAD", "HEAD~1")
    assert not is_in_step(board.repository)


def test_what_is_staged_while_git_compares_stays_staged(
    board: BoardOfTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    @contextlib.contextmanager
    def compared_while_somebody_adds(checkout: Checkout) -> Iterator[Path]:
        with refreshed_aside(checkout) as aside:
            board.save(EDITED)
            board.git("add", PATH)
            yield aside

    board_git_dir = Path(board.git("rev-parse", "--absolute-git-dir"))
    (board_git_dir / "MERGE_HEAD").write_text(f"{board.git('rev-parse', 'HEAD')}\n")
    with monkeypatch.context() as patched:
        patched.setattr(step, "refreshed_aside", compared_while_somebody_adds)
        WORKTREE_BOARD.bring_in_step(board.repository)
    assert board.git("show", f":{PATH}") == EDITED.rstrip("\n")
