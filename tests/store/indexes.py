"""Tasks for the query index, and all that an index holds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from gitticks.git.repository import Repository
from gitticks.model.ids import TaskId
from gitticks.model.status import Awaiting, Status
from gitticks.store.branch import Store
from gitticks.store.index import open_index
from gitticks.store.index_database import index_path
from tests.support.tasks import make_store, make_task

K7F2 = TaskId("k7f2")
TASKS = [
    replace(
        make_task("k7f2", "Login loses the return URL"), awaiting=Awaiting.REVIEW, status=Status.REVIEWING
    ),
    replace(make_task("m3a9", "Closed"), status=Status.DONE),
    replace(make_task("k7zz", "Child"), parent=TaskId("e111"), priority=0),
    make_task("e111", "Epic"),
]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return make_store(tmp_path / "r", TASKS)


@pytest.fixture
def repository(store: Store) -> Repository:
    return store.repository


def rows(repository: Repository) -> dict[str, list[tuple[object, ...]]]:
    """Returns all that the index holds."""
    with open_index(repository) as index:
        return {
            name: index._connection.execute(f"SELECT * FROM {name} ORDER BY 1").fetchall()  # noqa: S608
            for name in ("state", "task", "fields", "file", "conflict", "broken")
        }


@contextmanager
def left_behind(repository: Repository) -> Iterator[None]:
    """Leaves the index where it is while commits are made, as after commits of other programs."""
    open_index(repository).close()
    content = index_path(repository).read_bytes()
    yield
    index_path(repository).write_bytes(content)


def fresh_rows(repository: Repository) -> dict[str, list[tuple[object, ...]]]:
    index_path(repository).unlink(missing_ok=True)
    return rows(repository)
