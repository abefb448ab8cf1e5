"""What a person saved on the board without committing it."""

from __future__ import annotations

import os
import time
from collections.abc import Collection
from pathlib import Path

import pytest

from gitticks.board import edits
from gitticks.board.edits import (
    edits_to_take_up,
    saved_edits,
)
from gitticks.board.journal import PendingKind, load_journal, save_journal
from gitticks.board.judge_edit import SavedEdit
from gitticks.board.place import BoardError
from gitticks.board.step import WORKTREE_BOARD, pending
from gitticks.flocks import is_lock_held
from gitticks.git.checkouts import Changes, Checkout, changed_paths
from gitticks.git.files import CheckoutFiles
from gitticks.git.follow import QUIET_SECONDS
from gitticks.store.branch import Store
from tests.support.boards import LINES, PATH, BoardOfTest, make_board, write_to_branch
from tests.support.stores import make_store

NEW = LINES.replace("line 2\n", "line two\n")


@pytest.fixture
def board(tmp_path: Path) -> BoardOfTest:
    return make_board(tmp_path / "project")


def test_a_board_in_step_has_none(board: BoardOfTest) -> None:
    board.write(NEW)
    assert saved_edits(board.repository) == ()


def test_changed_new_staged_and_deleted_files_are_named(board: BoardOfTest) -> None:
    write_to_branch(board.store, {"gone.md": "x\n", "staged.md": "x\n"})
    board.save("mine\n")
    board.save("mine\n", "tasks/ü.md")
    board.save("mine\n", "staged.md")
    board.git("add", "staged.md")
    (board.folder / "gone.md").unlink()
    assert saved_edits(board.repository) == (
        SavedEdit("gone.md", b"x\n", None),
        SavedEdit(PATH, LINES.encode(), b"mine\n"),
        SavedEdit("staged.md", b"x\n", b"mine\n"),
        SavedEdit("tasks/ü.md", None, b"mine\n"),
    )


def test_what_lags_behind_the_branch_is_no_edit(board: BoardOfTest) -> None:
    write_to_branch(Store(board.repository), {PATH: NEW, "new.md": "new\n"})
    assert saved_edits(board.repository) == ()


def test_an_edit_merged_with_the_branch_counts_from_the_new_version(board: BoardOfTest) -> None:
    board.save(LINES + "mine\n")
    board.write(NEW)
    assert saved_edits(board.repository) == (SavedEdit(PATH, NEW.encode(), (NEW + "mine\n").encode()),)


def test_an_edit_that_waits_counts_from_where_it_began(board: BoardOfTest) -> None:
    board.save(LINES.replace("line 2\n", "line 2, mine\n"))
    board.write(NEW)
    (edit,) = saved_edits(board.repository)
    assert edit.base == LINES.encode()


def test_an_old_buffer_counts_from_the_version_it_showed(board: BoardOfTest) -> None:
    newest = NEW.replace("line 10\n", "line ten\n")
    board.write(newest)
    board.save(LINES + "mine\n")
    (edit,) = saved_edits(board.repository)
    assert edit.base == LINES.encode()


def test_of_versions_that_are_as_near_the_oldest_counts_unless_one_is_the_present(board: BoardOfTest) -> None:
    one, other = (LINES + f"\n## {name}\n\nText of {name}\n" for name in ("One", "Other"))
    board.write(one)
    board.save(other)
    assert [edit.base for edit in saved_edits(board.repository)] == [one.encode()]
    board.git("checkout", "--", ".")
    board.write(f"A line above\n{one}")
    board.save(other)
    assert [edit.base for edit in saved_edits(board.repository)] == [LINES.encode()]


def test_a_value_that_was_just_set_and_is_edited_began_from_the_line_that_has_it(board: BoardOfTest) -> None:
    board.write(f"{LINES}assignee: ann\n")
    board.save(f"{LINES}assignee: bob\n")
    assert [edit.base for edit in saved_edits(board.repository)] == [f"{LINES}assignee: ann\n".encode()]


def test_an_old_version_put_back_on_purpose_is_an_edit_of_the_present_one(board: BoardOfTest) -> None:
    board.write(NEW)
    board.save(LINES)
    assert saved_edits(board.repository) == (SavedEdit(PATH, NEW.encode(), LINES.encode()),)


def test_nobody_moves_branch_and_board_between_the_looks(
    board: BoardOfTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    board.save("mine\n")
    held: list[bool] = []

    def look_at_lock(checkout: Checkout, among: Collection[str] | None) -> Changes:
        held.append(is_lock_held(board.repository.own_dir / "lock"))
        return changed_paths(checkout, among)

    monkeypatch.setattr(edits, "changed_paths", look_at_lock)
    assert saved_edits(board.repository)
    assert held == [True]


def test_what_is_asked_for_is_found_and_no_other_edit(board: BoardOfTest) -> None:
    write_to_branch(board.store, {"other.md": "x\n", "folder/inner.md": "y\n"})
    for path in (PATH, "other.md", "folder/inner.md"):
        board.save("mine\n", path)

    def found(*among: str) -> list[str]:
        return [edit.path for edit in edits_to_take_up(board.repository, among)]

    assert found(PATH) == [PATH]
    assert found("folder", "missing.md", ":(glob)*", "*.md") == ["folder/inner.md"]
    assert found() == []
    assert load_journal(board.repository).seen.keys() == {PATH, "folder/inner.md"}


def test_links_have_no_text_and_missing_boards_hold_no_edits(board: BoardOfTest, tmp_path: Path) -> None:
    (board.folder / "link.md").symlink_to(tmp_path)
    assert saved_edits(board.repository) == (SavedEdit("link.md", None, None, is_plain=False),)
    assert saved_edits(make_store(tmp_path / "other", board=WORKTREE_BOARD).repository) == ()


@pytest.mark.damages
def test_a_damaged_index_hides_what_was_saved_and_no_task(board: BoardOfTest) -> None:
    board.save(NEW)
    (board.repository.common_dir / "worktrees/-gitticks/index").write_bytes(b"garbage")
    with pytest.raises(BoardError, match="it cannot be determined what was saved"):
        saved_edits(board.repository)
    board.write("something else\n", "another.md")
    with pytest.raises(BoardError, match="the board cannot be updated"):
        WORKTREE_BOARD.bring_in_step(board.repository)
    assert board.read() == NEW


def test_what_is_saved_while_an_edit_is_taken_up_is_the_next_edit(board: BoardOfTest) -> None:
    first = LINES.replace("line 2\n", "line 2, mi\n")
    board.save(first)
    (edit,) = edits_to_take_up(board.repository)
    board.save(LINES.replace("line 2\n", "line 2, mine\n"))
    board.write(first)
    assert pending(board.repository) == {}
    assert saved_edits(board.repository) == (
        SavedEdit(PATH, first.encode(), LINES.replace("line 2\n", "line 2, mine\n").encode()),
    )
    assert edit.content == first.encode()


def test_that_is_so_also_after_our_own_change_on_top(board: BoardOfTest) -> None:
    first = LINES.replace("line 2\n", "line 2, mi\n")
    board.save(first)
    edits_to_take_up(board.repository)
    second = LINES.replace("line 2\n", "line 2, mine\n")
    file = board.folder / PATH
    (board.folder / ".git").rename(board.folder / "git-aside")  # nobody follows, as if the writer were killed
    board.write(first)
    board.write(first.replace("line 10\n", "line ten\n"))
    (board.folder / "git-aside").rename(board.folder / ".git")
    board.save(second)
    WORKTREE_BOARD.bring_in_step(board.repository)
    assert file.read_text() == second.replace("line 10\n", "line ten\n")
    assert pending(board.repository) == {}


def test_that_is_so_also_where_somebody_looked_again_before_the_board_followed(board: BoardOfTest) -> None:
    texts = [LINES.replace("line 2\n", f"line 2, {word}\n") for word in ("m", "mi", "min")]
    lock = Path(board.git("rev-parse", "--git-path", "index.lock"))
    (board.folder / lock).touch()
    os.utime(board.folder / lock, (0, 0))  # a person's editor has it, so that nobody follows
    board.save(texts[0])
    edits_to_take_up(board.repository)
    board.write(texts[0])
    board.save(texts[1])
    edits_to_take_up(board.repository)
    board.write(texts[0].replace("line 12\n", "line twelve\n"))
    (board.folder / lock).unlink()
    board.save(texts[2])
    WORKTREE_BOARD.bring_in_step(board.repository)
    assert board.status() == f" M {PATH}"


def test_an_old_buffer_is_joined_in_the_file_before_it_is_taken_up(board: BoardOfTest) -> None:
    newest = NEW.replace("line 10\n", "line ten\n")
    board.write(newest)
    board.save(LINES + "mine\n")
    joined = (newest + "mine\n").encode()
    assert edits_to_take_up(board.repository) == (SavedEdit(PATH, newest.encode(), joined),)
    assert board.read().encode() == joined


def test_a_link_is_named(board: BoardOfTest) -> None:
    (board.folder / PATH).unlink()
    (board.folder / PATH).symlink_to("/etc/hostname")
    (edit,) = edits_to_take_up(board.repository)
    assert (edit.path, edit.is_plain) == (PATH, False)


def test_an_editor_that_saves_again_began_from_what_it_saved_before(board: BoardOfTest) -> None:
    for number in range(3):
        board.write(f"{(board.store.read(PATH) or b'').decode()}note {number}\n")
        board.save(
            LINES.replace("line 9\n", "line 9\n" + "".join(f"mine {one}\n" for one in range(number + 1)))
        )
        (edit,) = edits_to_take_up(board.repository)
        assert edit.content is not None
        assert edit.base == board.store.read(PATH)
        board.write(edit.content.decode())
    assert board.read().count("mine") == 3
    assert board.read().endswith("note 0\nnote 1\nnote 2\n")
    assert not load_journal(board.repository).pending


def test_what_git_has_removed_of_it_is_no_failure(board: BoardOfTest) -> None:
    journal = load_journal(board.repository)
    save_journal(board.repository, journal._replace(typed={PATH: (("0123456789" * 4, "0123456789" * 4),)}))
    board.save(LINES.replace("line 9\n", "line nine\n"))
    assert [edit.path for edit in edits_to_take_up(board.repository)] == [PATH]


def test_a_file_that_was_emptied_a_moment_ago_is_being_written(
    board: BoardOfTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A program that is kept waiting between emptying a file and writing it is met on a busy machine."""
    monkeypatch.setattr("gitticks.git.files._TIMES_LONGER", 100_000)
    file = board.folder / PATH
    file.write_text("")
    moment = time.time() - 2 * QUIET_SECONDS
    os.utime(file, (moment, moment))
    board.write(NEW)
    assert [one.kind for one in pending(board.repository).values()] == [PendingKind.DEFERRED]
    file.write_text(LINES + "mine\n")
    os.utime(file, (0, 0))
    WORKTREE_BOARD.bring_in_step(board.repository)
    assert pending(board.repository) == {}
    assert board.read() == NEW + "mine\n"


def test_what_was_read_as_its_editor_began_to_write_is_young_however_long_the_look_took(
    board: BoardOfTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is whole and at rest by the end of the look, which read it empty."""
    file, read = board.folder / PATH, CheckoutFiles.read

    def read_and_grown(files: CheckoutFiles, path: str) -> bytes | None:
        content = read(files, path)
        if path == PATH and content == b"":
            file.write_text(NEW + "mine\n")
            moment = time.time() - 3 * QUIET_SECONDS
            os.utime(file, (moment, moment))
        return content

    file.write_text("")
    monkeypatch.setattr(CheckoutFiles, "read", read_and_grown)
    (edit,) = edits_to_take_up(board.repository)
    assert edit.content == (NEW + "mine\n").encode()
