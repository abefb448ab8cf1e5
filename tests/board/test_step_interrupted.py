"""The board when a call is killed, locks stand, the journal is gone, or saves and commits come at once."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from gitticks.board import step
from gitticks.board.older import MOST_VERSIONS
from gitticks.board.place import BoardReport
from gitticks.board.step import WORKTREE_BOARD, is_in_step
from gitticks.errors import GitticksError
from gitticks.git.indexfile import hold_index_lock
from gitticks.git.locks import hold_lock
from gitticks.git.objects import Change, Objects
from gitticks.store.branch import Store
from tests.board.edits import NEW, board, rescued
from tests.support.boards import ENGINE, LINES, PATH, BoardOfTest, write_to_branch
from tests.support.repositories import fsck_problems, git
from tests.support.waiting import LONGEST_SECONDS, until

__all__ = ["board"]


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
    assert WORKTREE_BOARD.bring_in_step(board.repository) == BoardReport()
    assert lock.exists()
    lock.unlink()
    assert WORKTREE_BOARD.bring_in_step(board.repository) == BoardReport()
    assert board.read() == NEW
    assert board.status() == ""


def test_a_foreign_lock_that_goes_is_waited_for(board: BoardOfTest, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(step, "hold_index_lock", partial(hold_index_lock, wait_seconds=LONGEST_SECONDS))
    lock = Path(board.git("rev-parse", "--absolute-git-dir")) / "index.lock"
    lock.write_bytes(b"")
    writer = threading.Thread(
        target=lambda: write_to_branch(Store(board.repository, WORKTREE_BOARD), {PATH: NEW})
    )
    writer.start()
    until(lock.with_name("gitticks-index-lock").exists, "the writer")
    lock.unlink()
    writer.join()
    assert board.read() == NEW


@pytest.mark.parametrize(
    "damage",
    ["", "{", '{"base": 1}', '{"base": "' + "0" * 40 + '", "pending": {}, "index": "", "stale": false}'],
)
def test_without_its_journal_the_board_tells_edits_from_old_files(board: BoardOfTest, damage: str) -> None:
    write_to_branch(board.store, {"edited.md": LINES, "gone.md": "x\n"})
    board.save(LINES + "mine\n", "edited.md")
    write_to_branch(Store(board.repository), {PATH: NEW, "new.md": "new\n"})
    (board.repository.own_dir / "board.json").write_text(damage)
    WORKTREE_BOARD.bring_in_step(board.repository)
    assert board.read() == NEW
    assert board.read("edited.md") == LINES + "mine\n"
    assert " M edited.md" in board.status()


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
from gitticks.board.step import WORKTREE_BOARD
from gitticks.board import step, sync
from gitticks.store.branch import Store
from tests.support.boards import write_to_branch
root, moment = sys.argv[1:]

def die(*_, **__):
    os.kill(os.getpid(), 9)

moments = {
    "before the files": (sync.Sync, "run", die),
    "before the index": (sync.Sync, "_write_entries", die),
    "before the journal": (step, "save_journal", die),
}
setattr(*moments[moment])
store = Store(discover(Path(root)), WORKTREE_BOARD)
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
def test_sixty_saves_while_commits_come_lose_nothing(
    board: BoardOfTest, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gitticks.git.files._TIMES_LONGER", 100_000)
    person = subprocess.Popen([sys.executable, "-c", PERSON, str(board.folder / PATH), way])
    number, saved, before = 0, 0, 0
    while person.poll() is None:
        if (found := board.read().count("saved")) != saved:
            saved, before = found, number
        if number - before > MOST_VERSIONS // 2:  # a person who is as slow as that is no longer followed
            continue
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
        store = Store(board.repository, WORKTREE_BOARD)
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
