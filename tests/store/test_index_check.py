"""The index compared with one that is made anew: every table, and only at the branch's own commit."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from gitticks.git.repository import Repository
from gitticks.model.ids import TaskId, task_path
from gitticks.store.branch import Store
from gitticks.store.index import open_index
from gitticks.store.index_database import index_path
from gitticks.store.indexing import differing_row
from tests.store.indexes import repository, store
from tests.support.tasks import make_task, put_tasks, write_files

__all__ = ["repository", "store"]


def change(repository: Repository, statement: str) -> None:
    with closing(sqlite3.connect(index_path(repository), isolation_level=None)) as connection:
        connection.execute(statement)


@pytest.mark.parametrize(
    ("statement", "key"),
    [
        ("UPDATE task SET title = 'Another' WHERE id = 'k7f2'", "k7f2"),
        ("UPDATE fields SET json = '{}' WHERE id = 'k7f2'", "k7f2"),
        ("UPDATE file SET history = x'00' WHERE id = 'k7f2'", "k7f2"),
        ("DELETE FROM file WHERE id = 'm3a9'", "m3a9"),
        ("INSERT INTO conflict VALUES ('e111', 5)", "e111"),
        ("DELETE FROM broken", "tasks/d1/bad1/TASK.md"),
    ],
)
def test_a_row_that_the_branch_does_not_have_so_is_named(
    store: Store, repository: Repository, statement: str, key: str
) -> None:
    write_files(store, {task_path(TaskId("bad1")): b"no task"})
    assert differing_row(repository) is None
    open_index(repository).close()
    assert differing_row(repository) is None
    change(repository, statement)
    assert differing_row(repository) == key


def test_an_index_of_an_earlier_commit_is_not_compared(store: Store, repository: Repository) -> None:
    open_index(repository).close()
    before = index_path(repository).read_bytes()
    put_tasks(store, [make_task("new1")])
    index_path(repository).write_bytes(before)
    assert differing_row(repository) is None
