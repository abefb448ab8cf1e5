"""What wakes a watch, with which files, and that it looks at the whole board in the end."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from gitticks.actions.context import Context
from gitticks.actions.watching import EditTaken, Happening, Watcher, in_background
from gitticks.board.watch import wakes
from gitticks.file_watch import Reason, Wake
from gitticks.git.log import LoggedCommit
from gitticks.model.ids import TaskId, task_path
from tests.support.projects import Project, make_project
from tests.support.repositories import git
from tests.support.waiting import LONGEST_SECONDS

ONE, OTHER = (task_path(TaskId(name)) for name in ("k7f2", "m3xq"))
MOST_WAKES = 30


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = make_project(tmp_path)
    for task in ("k7f2", "m3xq"):
        project.make(task)
    return project


def _save(project: Project, task: str) -> None:
    with project.board_file(task).open("a") as end:
        end.write("\nmore\n")


@contextmanager
def _waking(project: Project) -> Iterator[Iterator[Wake]]:
    """Yields what wakes after the first time, which is when the watch is laid."""
    over = threading.Event()
    found = wakes(Context(directory=project.path).repository, over)
    assert next(found) == Wake(Reason.EVENT)
    yield found
    over.set()
    assert list(found) in ([], [Wake(Reason.QUIET)])


def _event(found: Iterator[Wake]) -> Wake:
    """Returns the first wake by something that was written."""
    return next(
        wake for wake, _ in zip(found, range(MOST_WAKES), strict=False) if wake.reason is Reason.EVENT
    )


def _written(found: Iterator[Wake], until: str) -> frozenset[str]:
    """Returns the paths of the events until one of them names a file."""
    paths: set[str] = set()
    for _ in range(MOST_WAKES):
        wake = next(found)
        assert wake.paths is not None or wake.reason is Reason.QUIET
        paths |= wake.paths or set()
        if until in paths:
            return frozenset(paths)
    raise AssertionError(f"`{until}` was not among {paths}")


def test_wakes_name_what_was_written_on_the_board(project: Project) -> None:
    with _waking(project) as found:
        _save(project, "k7f2")
        assert OTHER not in _written(found, ONE)
        aside = project.board_file("m3xq").with_name(".saving")
        aside.write_text("x")
        os.replace(aside, project.board_file("m3xq"))  # noqa: PTH105 - as editors do
        assert OTHER in _written(found, OTHER)


def test_a_move_of_the_branch_wakes_without_a_file_of_the_board(project: Project) -> None:
    with _waking(project) as found:
        git("branch", "gitticks/another", "gitticks/state", at=project.path)
        assert _event(found) == Wake(Reason.EVENT, frozenset())


def test_where_much_is_written_nobody_names_it(project: Project) -> None:
    with _waking(project) as found:
        told = None
        while told != Wake(Reason.EVENT):  # a slow machine may tell of the first few by themselves
            for number in range(400):
                (project.board / f"file-{number}").write_text("x")
            told = _event(found)


def test_after_a_name_that_the_watch_cannot_tell_all_is_looked_at(project: Project) -> None:
    with _waking(project) as found:
        (project.board / os.fsdecode(b"\xff")).write_text("x")
        _save(project, "k7f2")
        told = [next(found) for _ in range(2)]
        while told[-2].reason is not Reason.BLIND:
            told.append(next(found))
            assert len(told) < MOST_WAKES
        assert told[-1] == Wake(Reason.EVENT)


def test_a_look_at_some_files_owes_one_at_all(project: Project) -> None:
    told: list[Happening] = []
    watcher = Watcher(Context(directory=project.path), told.append)
    watcher.begin()
    _save(project, "k7f2")
    _save(project, "m3xq")
    watcher.look((ONE,))
    assert [type(one) for one in told] == [EditTaken, LoggedCommit]
    assert watcher.looks_at_some
    watcher.look()
    assert EditTaken(OTHER) in told
    assert not watcher.looks_at_some


def test_after_many_looks_at_some_files_all_are_looked_at(project: Project) -> None:
    told: list[Happening] = []
    watcher = Watcher(Context(directory=project.path), told.append)
    watcher.begin()
    _save(project, "m3xq")
    looks = 0
    while EditTaken(OTHER) not in told:
        watcher.look((ONE,))
        looks += 1
        assert looks < 100
    assert looks > 1


def test_it_runs_beside_the_block_and_is_over_with_it() -> None:
    begun, ended = threading.Event(), threading.Event()

    def work(over: threading.Event) -> None:
        begun.set()
        over.wait()
        ended.set()

    with in_background(work, "beside"):
        assert begun.wait(LONGEST_SECONDS)
        assert not ended.is_set()
    assert ended.is_set()


def test_it_is_over_too_where_the_block_fails() -> None:
    ended = threading.Event()

    def work(over: threading.Event) -> None:
        over.wait()
        ended.set()

    with pytest.raises(ZeroDivisionError), in_background(work, "beside"):
        raise ZeroDivisionError
    assert ended.is_set()
