"""Two people change the same lines by hand: what the other one wrote is never replaced without a word."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from gitticks.model.ids import TaskId, task_path
from gitticks.store.layout import STATE_BRANCH
from tests.support.clones import Clone, make_clones, make_first_clone, on_path
from tests.support.repositories import git, run_git_command

__all__ = ["on_path"]

TASK = TaskId("k7f2")
PATH = task_path(TASK)
NOW = datetime(2031, 5, 4, 12, 0, 0, tzinfo=UTC)

LOOKS = {
    "status": ("status",),
    "watch": ("watch", "--once"),
    "run": ("run", "--max-iterations", "1"),
    "sync": ("sync",),
    "a change of the task": ("note", TASK, "A note."),
    "a change of another": ("note", "m3xq", "A note."),
}
"""Every kind of command that takes up what is saved."""


def _commit(clone: Clone) -> object:
    return run_git_command("commit", "--quiet", "-am", "by hand", at=clone.board)


Look = Callable[[Clone], object]
looks = pytest.mark.parametrize(
    "look",
    [
        *(
            pytest.param(lambda clone, words=words: clone.gt(*words), id=name)
            for name, words in LOOKS.items()
        ),
        pytest.param(_commit, id="git commit"),
    ],
)


@pytest.fixture
def clones(tmp_path: Path, on_path: Path) -> list[Clone]:
    first = make_first_clone(tmp_path)
    first.make(TASK, body="Text.\n\n## Context\n\none\ntwo\n\nthree\n")
    first.make("m3xq")
    return make_clones(tmp_path, first, 2)


def _save(clone: Clone, text: str) -> None:
    """Saves a whole buffer, as an editor did some seconds ago."""
    clone.board_file(TASK).write_text(text)
    os.utime(clone.board_file(TASK), (0, 0))


def _share(theirs: Clone, old: str, new: str) -> None:
    """Lets the other one change lines by hand, with no command beside but the sync."""
    theirs.save(TASK, old, new)
    theirs.ok("sync")


def _on_branch(clone: Clone) -> str:
    return git("show", f"{STATE_BRANCH}:{PATH}", at=clone.path)


@contextmanager
def _index_locked(clone: Clone) -> Iterator[None]:
    """Lets the board follow nothing, as while somebody writes the message of a `git commit`."""
    lock = clone.path / ".git/worktrees/-gitticks/index.lock"
    lock.touch()
    os.utime(lock, (0, 0))
    yield
    lock.unlink()


def _assert_kept(clone: Clone, theirs: str, mine: str) -> None:
    """Asserts that the branch has their text, the file mine, and that both git and `gt status` speak of a conflict."""
    clone.gt("status")
    assert theirs in _on_branch(clone)
    assert mine in clone.board_file(TASK).read_text()
    assert clone.board_status() == f"UU {PATH}"
    assert "conflict" in clone.ok("status")
    assert run_git_command("commit", "--quiet", "-am", "by hand", at=clone.board).returncode != 0
    assert theirs in _on_branch(clone)


@looks
@pytest.mark.parametrize("new", ["theirs\nalso theirs\n\nthree", "theirs\ntwo\n\ntheirs as well"])
def test_an_open_editor_takes_back_nothing_that_came_by_sync(
    clones: list[Clone], look: Look, new: str
) -> None:
    ours, theirs = clones
    buffer = ours.board_file(TASK).read_text()
    _share(theirs, "one\ntwo\n\nthree", new)
    ours.ok("sync")
    _save(ours, buffer.replace("one", "mine"))
    look(ours)
    _assert_kept(ours, new, "mine\ntwo\n\nthree")


@pytest.mark.parametrize("words", LOOKS.values(), ids=LOOKS)
def test_so_it_is_where_the_board_could_not_follow(clones: list[Clone], words: tuple[str, ...]) -> None:
    ours, theirs = clones
    _share(theirs, "one", "theirs")
    with _index_locked(ours):
        ours.ok("sync")
        _save(ours, ours.board_file(TASK).read_text().replace("one", "mine"))
        ours.gt(*words)
    _assert_kept(ours, "theirs", "mine")


@looks
def test_an_open_editor_takes_back_nothing_that_a_command_of_the_same_second_wrote(
    clones: list[Clone], look: Look
) -> None:
    ours, _ = clones
    ours.ok("update", TASK, "-p", "1", now=NOW)
    buffer = ours.board_file(TASK).read_text()
    ours.ok("update", TASK, "--title", "Theirs", "-p", "3", now=NOW)
    _save(ours, buffer.replace("priority: 1", "priority: 4"))
    look(ours)
    _assert_kept(ours, "title: Theirs", "priority: 4")


@looks
def test_who_saves_once_more_changes_their_own_text(clones: list[Clone], look: Look) -> None:
    ours, _ = clones
    for text in ("mine\nand more", "mine", "mine, after all\n\nadded", "mine, after all"):
        before = ours.board_file(TASK).read_text()
        start = before.index("## Context\n\n") + len("## Context\n\n")
        _save(ours, f"{before[:start]}{text}\n\nthree\n")
        look(ours)
        ours.ok("status")
        assert ours.board_status() == ""
        assert f"## Context\n\n{text}\n\nthree\n" in _on_branch(ours) + "\n"
