"""The board follows the state branch, and no edit of a person is lost on the way."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitticks.errors import GitticksError
from gitticks.git.locks import hold_lock
from gitticks.git.objects import Change, Objects
from gitticks.git.repository import discover
from gitticks.store.board import (
    WORKTREE_BOARD,
    BoardReport,
    PendingKind,
    WorktreeBoard,
    board_path,
    create_board,
    is_in_step,
    pending,
)
from gitticks.store.branch import Store
from tests.support.boards import ENGINE, LINES, PATH, BoardOfTest, make_board, write_to_branch
from tests.support.repositories import fsck_problems, git, make_repository

NEW = LINES.replace("line 2\n", "line two\n")
EDITED = LINES.replace("line 19\n", "line nineteen\n")
BOTH = NEW.replace("line 19\n", "line nineteen\n")
OTHER_EDIT = LINES.replace("line 2\n", "line 2, mine\n")


@pytest.fixture
def board(tmp_path: Path) -> BoardOfTest:
    return make_board(tmp_path / "project")


def rescued(board: BoardOfTest) -> list[str]:
    folder = board.repository.own_dir / "rescue"
    return [file.read_text() for file in sorted(folder.iterdir())] if folder.exists() else []


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


def test_following_starts_no_git_and_leaves_it_nothing_to_look_up(
    board: BoardOfTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    board.git("status")
    with monkeypatch.context() as without_programs:
        without_programs.setenv("PATH", "")
        write_to_branch(board.store, {PATH: NEW, "tasks/f2/k7f2/TASK.md": "one\n", "a": "a\n"})
        write_to_branch(board.store, {PATH: None, "tasks/f2/k7f2/TASK.md": "two\n", "a": "aa\n"})
    assert is_in_step(board.repository)
    assert board.git("diff-files") == ""
    assert board.status() == ""
    assert board.git("write-tree") == board.git("rev-parse", "HEAD^{tree}")


@pytest.mark.parametrize("form", [("--split-index",), ("--index-version", "4")])
def test_an_index_in_another_form_is_followed_too(board: BoardOfTest, form: tuple[str, ...]) -> None:
    board.git("update-index", *form)
    board.write(NEW)
    assert board.status() == ""
    assert WORKTREE_BOARD.bring_in_step(board.repository) == BoardReport()
    assert board.git("diff-files") == ""
    assert board.git("write-tree") == board.git("rev-parse", "HEAD^{tree}")


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


def test_a_file_that_is_being_written_waits(board: BoardOfTest) -> None:
    board.save(EDITED)
    os.utime(board.folder / PATH)
    board.write(NEW)
    assert board.read() == EDITED
    assert pending(board.repository)[PATH].kind is PendingKind.DEFERRED
    board.save(EDITED)
    assert WORKTREE_BOARD.bring_in_step(board.repository) == BoardReport()
    assert board.read() == BOTH
    assert board.status() == f" M {PATH}"


def test_a_file_that_waited_through_several_commits_is_no_staged_edit(board: BoardOfTest) -> None:
    for number in range(3):
        board.save(EDITED)
        os.utime(board.folder / PATH)
        board.write(NEW + f"{number}\n")
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


def test_edits_are_joined_as_the_board_was_told(board: BoardOfTest) -> None:
    def joined(path: str, base: bytes, ours: bytes, theirs: bytes) -> bytes:
        assert (path, base) == (PATH, LINES.encode())
        return ours + b"joined with\n" + theirs

    store = Store.open(board.repository, WorktreeBoard(joined))
    board.save("mine\n")
    write_to_branch(store, {PATH: "theirs\n"})
    assert board.read() == "mine\njoined with\ntheirs\n"


def test_a_commit_of_the_person_is_where_the_board_goes_on(board: BoardOfTest) -> None:
    board.save(EDITED)
    board.git("commit", "-qam", "mine")
    board.write(BOTH)
    assert board.read() == BOTH
    assert board.status() == ""


def test_a_leftover_lock_of_ours_is_cleared(board: BoardOfTest) -> None:
    lock = Path(board.git("rev-parse", "--absolute-git-dir")) / "index.lock"
    lock.write_bytes(b"gitticks 1\n")
    board.write(NEW)
    assert not lock.exists()
    assert board.status() == ""


def test_a_foreign_lock_makes_the_board_wait_and_not_the_branch(board: BoardOfTest) -> None:
    lock = Path(board.git("rev-parse", "--absolute-git-dir")) / "index.lock"
    lock.write_bytes(b"")
    tip = board.write(NEW)
    assert git("rev-parse", "gitticks/state", at=board.folder) == tip
    assert board.read() == LINES
    assert not is_in_step(board.repository)
    assert WORKTREE_BOARD.bring_in_step(board.repository) == BoardReport(is_in_step=False)
    assert lock.exists()
    lock.unlink()
    assert WORKTREE_BOARD.bring_in_step(board.repository) == BoardReport()
    assert board.read() == NEW
    assert board.status() == ""


def test_a_foreign_lock_that_goes_is_waited_for(board: BoardOfTest) -> None:
    lock = Path(board.git("rev-parse", "--absolute-git-dir")) / "index.lock"
    lock.write_bytes(b"")
    writer = threading.Thread(
        target=lambda: write_to_branch(Store.open(board.repository, WORKTREE_BOARD), {PATH: NEW})
    )
    writer.start()
    while board.repository.own_dir.joinpath("lock").read_bytes() == b"":
        pass
    lock.unlink()
    writer.join()
    assert board.read() == NEW


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
    write_to_branch(Store.open(board.repository), {PATH: NEW, "other.md": "other\n"})
    assert WORKTREE_BOARD.bring_in_step(board.repository) == BoardReport()
    assert (board.read(), board.read("other.md")) == (BOTH, "other\n")
    assert board.status() == f" M {PATH}"


@pytest.mark.parametrize(
    "damage",
    ["", "{", '{"base": 1}', '{"base": "' + "0" * 40 + '", "pending": {}, "index": "", "stale": false}'],
)
def test_without_its_journal_the_board_tells_edits_from_old_files(board: BoardOfTest, damage: str) -> None:
    write_to_branch(board.store, {"edited.md": LINES, "gone.md": "x\n"})
    board.save(LINES + "mine\n", "edited.md")
    write_to_branch(Store.open(board.repository), {PATH: NEW, "new.md": "new\n"})
    (board.repository.own_dir / "board.json").write_text(damage)
    WORKTREE_BOARD.bring_in_step(board.repository)
    assert board.read() == NEW
    assert board.read("edited.md") == LINES + "mine\n"
    assert " M edited.md" in board.status()


def test_a_second_look_changes_nothing(board: BoardOfTest) -> None:
    board.write(NEW)
    WORKTREE_BOARD.bring_in_step(board.repository)
    index = Path(board.git("rev-parse", "--absolute-git-dir")) / "index"
    before = index.stat().st_ino
    assert WORKTREE_BOARD.bring_in_step(board.repository) == BoardReport()
    assert index.stat().st_ino == before


@pytest.mark.parametrize("bare", [True, False])
def test_no_board_is_no_trouble(tmp_path: Path, bare: bool) -> None:
    store = Store.open(discover(make_repository(tmp_path / "project", bare=bare)), WORKTREE_BOARD)
    store.initialise(ENGINE, "version: 1\n")
    write_to_branch(store, {PATH: LINES})
    assert store.read(PATH) == LINES.encode()
    assert WORKTREE_BOARD.bring_in_step(store.repository) is None
    assert pending(store.repository) == {}


def test_without_a_journal_a_new_file_is_not_taken_for_one_that_a_person_deleted(board: BoardOfTest) -> None:
    (board.folder / PATH).unlink()
    (board.repository.own_dir / "board.json").unlink()
    board.write(NEW, "notes/new.md")
    assert board.read("notes/new.md") == NEW
    assert board.status() == f" D {PATH}"


def test_a_passing_failure_to_read_is_no_deletion_by_a_person(
    board: BoardOfTest, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> Iterator[Change]:
        raise GitticksError("too many open files")

    with monkeypatch.context() as failing:
        failing.setattr(Objects, "changed_files", fail)
        board.write(NEW, "notes/new.md")
    assert not is_in_step(board.repository)
    board.write(NEW)
    assert board.read("notes/new.md") == NEW
    assert board.status() == ""


def test_a_board_that_was_deleted_is_made_again(board: BoardOfTest) -> None:
    subprocess.run(["rm", "-rf", str(board.folder)], check=True)
    board.write(NEW)
    assert board_path(board.repository) is None
    assert create_board(board.repository) == board.folder
    assert (board.read(), board.status()) == (NEW, "")


def test_rescued_leftovers_of_a_killed_process(board: BoardOfTest) -> None:
    scratch = board.repository.own_dir / "tmp" / "board"
    scratch.mkdir(parents=True, exist_ok=True)
    (scratch / "1-1").write_text("a person had just saved this\n")
    (scratch / "1-2").write_text(LINES)
    board.write(NEW)
    assert list(scratch.iterdir()) == []
    assert rescued(board) == ["a person had just saved this\n"]


KILLED = """
import os, sys
from pathlib import Path
from gitticks.git.repository import discover
from gitticks.store.board import WORKTREE_BOARD, step, sync
from gitticks.store.branch import Store
from tests.support.boards import write_to_branch
root, moment = sys.argv[1:]

def die(*_, **__):
    os.kill(os.getpid(), 9)

moments = {
    "before the files": (sync.Sync, "run", die),
    "before the index": (sync, "write_entries", die),
    "before the journal": (step, "save_journal", die),
}
setattr(*moments[moment])
store = Store.open(discover(Path(root)), WORKTREE_BOARD)
write_to_branch(store, {"notes/a.md": sys.stdin.read(), "new.md": "new"})
"""


@pytest.mark.parametrize("moment", ["before the files", "before the index", "before the journal"])
@pytest.mark.parametrize("next_call", ["a look", "a commit"])
def test_a_kill_after_the_ref_moved_is_made_good(board: BoardOfTest, moment: str, next_call: str) -> None:
    board.save("mine\n", "mine.md")
    root = board.folder.parent
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(root), moment], input=NEW, text=True, check=False
    )
    assert done.returncode == -9
    if next_call == "a look":
        assert WORKTREE_BOARD.bring_in_step(board.repository) == BoardReport()
    else:
        board.write(NEW + "newer\n")
    assert board.read() == (NEW if next_call == "a look" else NEW + "newer\n")
    assert board.read("new.md") == "new"
    assert board.status() == "?? mine.md"
    assert rescued(board) == []
    assert fsck_problems(root) == ""


PERSON = """
import sys, time
from pathlib import Path
file, way = Path(sys.argv[1]), sys.argv[2]
for number in range(60):
    while True:
        text = file.read_text()
        if text.endswith("\\n"):
            break
    text += f"saved {number}\\n"
    if way == "rename":
        aside = file.with_name(".a.md.swp")
        aside.write_text(text)
        aside.replace(file)
    else:
        file.write_text(text)
    time.sleep(0.01)
"""


@pytest.mark.parametrize("way", ["rename", "in place"])
def test_sixty_saves_while_commits_come_lose_nothing(board: BoardOfTest, way: str) -> None:
    person = subprocess.Popen([sys.executable, "-c", PERSON, str(board.folder / PATH), way])
    number = 0
    while person.poll() is None:
        number += 1
        board.write(LINES.replace("line 2\n", f"line 2, version {number}\n"))
    board.save(board.read())
    last = LINES.replace("line 2\n", "line 2, last version\n")
    board.write(last)
    WORKTREE_BOARD.bring_in_step(board.repository)
    lines = board.read().splitlines()
    assert person.returncode == 0
    assert [line for line in lines if line.startswith("saved")] == [f"saved {number}" for number in range(60)]
    assert lines[1] == "line 2, last version"
    assert rescued(board) == []


def test_the_board_waits_for_the_stores_lock(board: BoardOfTest) -> None:
    with hold_lock(board.repository.own_dir / "lock"):
        late = threading.Thread(target=WORKTREE_BOARD.bring_in_step, args=[board.repository])
        late.start()
        late.join(0.05)
        assert late.is_alive()
    late.join()


def test_writers_side_by_side_leave_the_board_in_step(board: BoardOfTest) -> None:
    def write(name: str) -> None:
        store = Store.open(board.repository, WORKTREE_BOARD)
        for number in range(8):
            write_to_branch(store, {f"{name}.md": f"{number}\n"})

    writers = [threading.Thread(target=write, args=[f"w{number}"]) for number in range(4)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [board.read(f"w{number}.md") for number in range(4)] == ["7\n"] * 4
    assert board.status() == ""
    assert is_in_step(board.repository)
    assert ENGINE.name in board.git("log", "-1", "--format=%an")
