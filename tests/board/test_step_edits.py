"""What a person edited, staged, deleted or put in the way, when the branch moves."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from gitticks.board import sync
from gitticks.board.journal import PendingKind
from gitticks.board.place import BoardReport
from gitticks.board.step import WORKTREE_BOARD, is_in_step, pending
from gitticks.git.follow import Follower, merge_text
from tests.board.edits import BOTH, EDITED, NEW, OTHER_EDIT, board, rescued
from tests.support.boards import LINES, PATH, BoardOfTest, write_to_branch

__all__ = ["board"]


def test_an_edit_elsewhere_in_the_file_is_merged(board: BoardOfTest) -> None:
    board.save(EDITED)
    board.write(NEW)
    assert board.read() == BOTH
    assert board.status() == f" M {PATH}"
    assert board.git("diff", "--shortstat").strip() == "1 file changed, 1 insertion(+), 1 deletion(-)"


def test_an_edit_of_the_same_line_stays_and_is_a_conflict(board: BoardOfTest) -> None:
    board.save(OTHER_EDIT)
    board.write(NEW)
    assert board.read() == OTHER_EDIT
    assert board.status() == f"UU {PATH}"
    assert pending(board.repository)[PATH].kind is PendingKind.CONFLICT
    assert board.store.read(PATH) == NEW.encode()


def test_a_conflict_is_over_once_the_person_took_the_branchs_text(board: BoardOfTest) -> None:
    board.save(OTHER_EDIT)
    board.write(NEW)
    board.save(NEW)
    assert WORKTREE_BOARD.bring_in_step(board.repository) == BoardReport()
    assert board.status() == ""
    assert not pending(board.repository)


@pytest.mark.parametrize("looks", [1, 3])
def test_a_conflict_that_is_being_fixed_takes_nothing_of_the_branchs_back(
    board: BoardOfTest, looks: int
) -> None:
    board.save(OTHER_EDIT)
    board.write(NEW)
    for _ in range(looks):
        board.save(EDITED)
        with pytest.MonkeyPatch.context() as patched:
            patched.setattr(Follower, "_is_being_written", lambda *_: True)
            report = WORKTREE_BOARD.bring_in_step(board.repository)
        assert report is not None
        assert (report.conflicts, board.status()) == ((PATH,), f"UU {PATH}")
    board.save(EDITED)
    assert WORKTREE_BOARD.bring_in_step(board.repository) == BoardReport()
    assert (board.read(), board.status()) == (BOTH, f" M {PATH}")


def test_a_conflict_resolved_with_git_add_is_an_ordinary_edit(board: BoardOfTest) -> None:
    board.save(OTHER_EDIT)
    board.write(NEW)
    board.write(NEW + "later\n")
    resolved = LINES.replace("line 2\n", "line two, mine\n")
    board.save(resolved)
    board.git("add", PATH)
    assert WORKTREE_BOARD.bring_in_step(board.repository) == BoardReport()
    assert board.read() == resolved + "later\n"
    board.git("commit", "-qam", "resolved")
    assert WORKTREE_BOARD.bring_in_step(board.repository) == BoardReport()
    assert board.store.read(PATH) == (resolved + "later\n").encode()
    assert board.status() == ""


def test_a_staged_edit_stays_staged(board: BoardOfTest) -> None:
    board.save(EDITED)
    board.git("add", PATH)
    board.write(NEW)
    assert board.read() == BOTH
    assert board.status() == f"M  {PATH}"
    assert board.git("show", f":{PATH}") + "\n" == BOTH


def test_a_staged_edit_stays_staged_however_often_the_branch_moves(board: BoardOfTest) -> None:
    board.save(EDITED)
    board.git("add", PATH)
    for text in (NEW, NEW + "more\n", NEW + "more\nand more\n"):
        board.write(text)
        os.utime(board.folder / PATH, (1e9, 1e9))
    assert board.status() == f"M  {PATH}"
    assert board.git("show", f":{PATH}") + "\n" == BOTH + "more\nand more\n"


def test_staged_and_further_edits_both_stay(board: BoardOfTest) -> None:
    board.save(EDITED)
    board.git("add", PATH)
    board.save(EDITED + "more\n")
    board.write(NEW)
    assert board.read() == BOTH + "more\n"
    assert board.status() == f"MM {PATH}"
    assert board.git("show", f":{PATH}") + "\n" == BOTH


def test_a_staged_edit_that_has_no_place_any_more_is_kept(board: BoardOfTest) -> None:
    board.save(OTHER_EDIT)
    board.git("add", PATH)
    board.save(EDITED)
    board.write(NEW)
    assert board.read() == BOTH
    assert rescued(board) == [OTHER_EDIT]


def test_a_file_that_a_person_deleted_stays_deleted(board: BoardOfTest) -> None:
    (board.folder / PATH).unlink()
    board.write(NEW)
    assert not (board.folder / PATH).exists()
    assert board.status() == f"DU {PATH}" or board.status() == f"UD {PATH}"
    assert pending(board.repository)[PATH].kind is PendingKind.CONFLICT


def test_a_file_that_a_person_edited_is_not_removed(board: BoardOfTest) -> None:
    board.save(EDITED)
    board.write(None)
    assert board.read() == EDITED
    assert pending(board.repository)[PATH].kind is PendingKind.CONFLICT


def test_a_new_file_does_not_replace_an_untracked_one(board: BoardOfTest) -> None:
    board.save("mine\n", "other.md")
    board.write("theirs\n", "other.md")
    assert board.read("other.md") == "mine\n"
    assert board.status() == "AA other.md"


def test_the_same_untracked_file_is_in_step(board: BoardOfTest) -> None:
    board.save("same\n", "other.md")
    board.write("same\n", "other.md")
    assert board.status() == ""
    assert is_in_step(board.repository)


def test_a_link_and_a_folder_in_the_way_stay(board: BoardOfTest, tmp_path: Path) -> None:
    (tmp_path / "outside").write_text("outside\n")
    (tmp_path / "far").mkdir()
    (board.folder / "link.md").symlink_to(tmp_path / "outside")
    (board.folder / "linked").symlink_to(tmp_path / "far")
    (board.folder / "folder.md").mkdir()
    (board.folder / "folder.md" / "mine").write_text("mine\n")
    write_to_branch(board.store, {"link.md": "x\n", "folder.md": "x\n", "linked/a.md": "x\n"})
    assert (tmp_path / "outside").read_text() == "outside\n"
    assert list((tmp_path / "far").iterdir()) == []
    assert board.read("folder.md/mine") == "mine\n"
    assert set(pending(board.repository)) == {"link.md", "folder.md", "linked/a.md"}


def _write_while_somebody_saves(board: BoardOfTest, text: str) -> None:
    """Writes on the branch while the file on the board counts as just saved, however slow the machine is."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Follower, "_is_being_written", lambda *_: True)
        board.write(text)


def test_a_file_that_is_being_written_waits(board: BoardOfTest) -> None:
    board.save(EDITED)
    _write_while_somebody_saves(board, NEW)
    assert board.read() == EDITED
    assert pending(board.repository)[PATH].kind is PendingKind.DEFERRED
    board.save(EDITED)
    assert WORKTREE_BOARD.bring_in_step(board.repository) == BoardReport()
    assert board.read() == BOTH
    assert board.status() == f" M {PATH}"


def test_a_file_that_waited_through_several_commits_is_no_staged_edit(board: BoardOfTest) -> None:
    for number in range(3):
        board.save(EDITED)
        _write_while_somebody_saves(board, NEW + f"{number}\n")
    board.save(EDITED)
    WORKTREE_BOARD.bring_in_step(board.repository)
    assert board.read() == BOTH + "2\n"
    assert board.status() == f" M {PATH}"
    assert rescued(board) == []


def test_an_old_buffer_saved_over_a_new_version_does_not_win(board: BoardOfTest) -> None:
    board.write(NEW)
    board.save(EDITED)  # an editor that was opened before
    board.write(NEW.replace("line two\n", "line 2!\n"))
    assert board.read() == BOTH.replace("line two\n", "line 2!\n")


def test_logs_take_the_lines_of_both_sides(board: BoardOfTest) -> None:
    board.write('{"n": 1}\n', "log.jsonl")
    board.save('{"n": 1}\n{"mine": 1}\n', "log.jsonl")
    board.write('{"n": 1}\n{"n": 2}\n', "log.jsonl")
    assert sorted(board.read("log.jsonl").splitlines()) == ['{"mine": 1}', '{"n": 1}', '{"n": 2}']


def test_what_takes_long_is_done_before_git_is_locked_out(
    board: BoardOfTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = board.repository.common_dir / "worktrees/-gitticks/index.lock"
    seen: list[bool] = []

    def merge(path: str, base: bytes, ours: bytes, theirs: bytes) -> bytes | None:
        seen.append(lock.exists())
        return merge_text(path, base, ours, theirs)

    monkeypatch.setattr(sync, "merge_saved", merge)
    board.save(EDITED)
    write_to_branch(board.store, {PATH: NEW})
    assert (board.read(), seen) == (BOTH, [False])


def test_a_board_in_step_is_looked_at_while_git_has_the_lock(board: BoardOfTest) -> None:
    lock = board.repository.common_dir / "worktrees/-gitticks/index.lock"
    WORKTREE_BOARD.bring_in_step(board.repository)
    lock.touch()
    assert WORKTREE_BOARD.bring_in_step(board.repository) == BoardReport()
