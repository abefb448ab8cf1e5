"""Ids for new tasks: free, and as long as the queue demands."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from gitticks.git.repository import discover
from gitticks.model.ids import TaskId, id_length, task_path
from gitticks.store.branch import Store
from gitticks.store.free_ids import free_id
from gitticks.store.transaction import Transaction
from tests.support.repositories import git, loose_file
from tests.support.tasks import ADA, make_store, make_task


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return make_store(tmp_path / "r", [make_task("k7f2"), make_task("m3a9")])


def drawing(*ids: str) -> Iterator[int]:
    """Yields the numbers that draw these ids, as `new_id` draws them: the tail, then the first letter."""
    alphabet = "0123456789abcdefghjkmnpqrstvwxyz"
    for task_id in ids:
        yield from (alphabet.index(letter) for letter in task_id[1:])
        yield alphabet[10:].index(task_id[0])


def test_taken_ids_are_passed_over(store: Store) -> None:
    seen = store.snapshot()
    numbers = drawing("k7f2", "m3a9", "new2", "b1kd")
    seen.write(task_path(TaskId("new2")), b"x")
    assert free_id(seen, lambda _below: next(numbers)) == "b1kd"


def test_a_removed_task_frees_its_id(store: Store) -> None:
    seen = store.snapshot()
    assert (seen.has_task(TaskId("k7f2")), seen.has_task(TaskId("b1kd"))) == (True, False)
    seen.remove(task_path(TaskId("k7f2")))
    assert not seen.has_task(TaskId("k7f2"))


@pytest.mark.parametrize("count", [0, 1, 150, 700])
def test_ids_are_as_long_as_the_queue_demands(store: Store, count: int) -> None:
    def fill(transaction: Transaction) -> None:
        for number in range(count):
            transaction.write(task_path(TaskId(f"t{number:03x}")), b"x")

    store.transact(fill, author=ADA)
    assert len(free_id(store.snapshot(), lambda below: below - 1)) == id_length(count + 3)


@pytest.mark.damages
def test_a_damaged_folder_keeps_nobody_from_creating(store: Store) -> None:
    shard = git("rev-parse", "gitticks/state:tasks/f2", at=store.repository.common_dir)
    loose_file(store.repository.common_dir, shard).unlink()
    numbers = drawing("nnf2", "b1kd")
    afresh = Store.open(discover(store.repository.common_dir.parent))
    assert free_id(afresh.snapshot(), lambda _below: next(numbers)) == "b1kd"
