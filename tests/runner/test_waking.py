"""An idle run wakes when the state branch moves, when it is told to, and when its time is up."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path

from gitticks.git.repository import discover
from gitticks.runner.waking import wait_for_change
from gitticks.store.branch import Store
from tests.support.repositories import git
from tests.support.tasks import make_store, make_task, put_tasks
from tests.support.waiting import LONGEST_SECONDS


def change(store: Store) -> Callable[[], bool]:
    """Returns what a wait asks each time whether it is over; the first time it moves the branch under the wait."""
    left = [make_task("k7f2")]

    def ask() -> bool:
        if left:
            put_tasks(store, [left.pop()])
        return False

    return ask


def test_it_wakes_when_the_branch_moves(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    assert wait_for_change(discover(tmp_path), LONGEST_SECONDS, threading.Event(), change(store))


def test_it_wakes_when_refs_are_packed_away(tmp_path: Path) -> None:
    store = make_store(tmp_path)
    git("pack-refs", "--all", at=tmp_path)
    assert wait_for_change(discover(tmp_path), LONGEST_SECONDS, threading.Event(), change(store))


def test_it_ends_when_it_is_told_to(tmp_path: Path) -> None:
    make_store(tmp_path)
    over = threading.Event()
    threading.Timer(0.1, over.set).start()
    assert not wait_for_change(discover(tmp_path), LONGEST_SECONDS, over, lambda: False)
    assert not wait_for_change(discover(tmp_path), LONGEST_SECONDS, threading.Event(), lambda: True)


def test_it_ends_when_the_time_is_up(tmp_path: Path) -> None:
    make_store(tmp_path)
    assert not wait_for_change(discover(tmp_path), 0.2, threading.Event(), lambda: False)
