"""Builders of tasks and of stores that hold them."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path

from gitticks.document.taskfile import new_task_file
from gitticks.git.identity import Identity
from gitticks.git.repository import discover
from gitticks.model.ids import TaskId
from gitticks.model.task import Task
from gitticks.store.branch import Store
from gitticks.store.transaction import Transaction
from tests.support.repositories import make_repository

ADA = Identity("Ada Lovelace", "ada@example.org")
CREATED = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
CONFIG = "version: 1\n"


def make_task(task_id: str, title: str = "Say hello") -> Task:
    """Returns a pending task; other fields come by `dataclasses.replace`."""
    return Task(id=TaskId(task_id), title=title, created=CREATED, created_by="Ada Lovelace", updated=CREATED)


def make_store(path: Path, tasks: Iterable[Task] = ()) -> Store:
    """Makes a repository with a state branch that holds `tasks`, all put there in one commit."""
    store = Store(discover(make_repository(path)))
    store.initialise(ADA, CONFIG)
    put_tasks(store, tasks)
    return store


def put_tasks(store: Store, tasks: Iterable[Task], body: str = "") -> None:
    """Writes new files for `tasks` in one commit."""

    def operation(transaction: Transaction) -> None:
        for task in tasks:
            transaction.put_task(new_task_file(task, body))

    store.transact(operation, author=ADA)


def task_ids(store: Store, at: str | None = None) -> tuple[TaskId, ...]:
    """Returns the sorted ids of all tasks at the commit `at` (default: the tip), those with unreadable files too."""
    return tuple(sorted(store.snapshot(at).task_ids()))


def write_files(store: Store, files: dict[str, bytes | None]) -> None:
    """Writes and removes files of the state branch in one commit."""

    def operation(transaction: Transaction) -> None:
        for path, content in files.items():
            if content is None:
                transaction.remove(path)
            else:
                transaction.write(path, content)

    store.transact(operation, author=ADA)
