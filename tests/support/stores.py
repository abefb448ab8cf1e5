"""Builds repositories with tasks and their histories in them, as commands find them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from gitticks.document.taskfile import new_task_file
from gitticks.git.identity import Identity
from gitticks.git.repository import discover
from gitticks.model.event import Actor, Event, EventType
from gitticks.model.ids import TaskId, new_id, task_path
from gitticks.model.status import ActorKind
from gitticks.model.task import Task
from gitticks.store.branch import Board, Store
from gitticks.store.transaction import Transaction
from tests.support.repositories import make_repository

ADA = Identity("Ada Lovelace", "ada@example.org")
ADA_ACTOR = Actor(ActorKind.HUMAN, ADA.name)
CREATED = datetime(2026, 3, 4, 5, 0, 0, tzinfo=UTC)
CONFIG = "version: 1\n"


@dataclass(slots=True)
class _Draws:
    """Numbers for ids that are the same in every run."""

    last: int = 0

    def __call__(self, below: int) -> int:
        self.last += 7
        return self.last % below


def make_store(path: Path, *, board: Board | None = None, config: str = CONFIG) -> Store:
    """Makes a repository with one commit and an empty state branch at `path`; without a board unless one is given."""
    store = Store.open(discover(make_repository(path)), board)
    store.initialise(ADA, config)
    return store


def make_task(
    store: Store,
    title: str = "Login loses the return URL",
    *,
    id: str | None = None,  # noqa: A002
    body: str = "",
    events: Iterable[Event] = (),
    **fields: Any,
) -> Task:
    """Commits a task with the text `body` below its frontmatter, and its history with `events`; returns it.

    Without an `id` it gets one that depends only on the tasks there are; it is created at `CREATED` by Ada.
    """

    def create(transaction: Transaction) -> Task:
        taken = transaction.task_ids()
        task_id = TaskId(id) if id else new_id(taken, len(taken), _Draws(len(taken)))
        usual = {"created": CREATED, "created_by": ADA.name, "updated": CREATED}
        task = Task(task_id, title, **{**usual, **fields})
        transaction.put_task(new_task_file(task, body))
        born = Event(EventType.CREATED, task.created or CREATED, ADA_ACTOR)
        transaction.append_events(task_id, (born, *events))
        transaction.describe(f"{task_id}: created", [("Task", task_id), ("Actor", f"human {ADA.name}")])
        return task

    return store.transact(create, author=ADA)


def change_task(store: Store, task_id: str, **fields: Any) -> Task:
    """Commits other values for some of a task's fields, whatever they are, and returns the task."""

    def change(transaction: Transaction) -> Task:
        file = transaction.task_file(TaskId(task_id))
        changed = file.with_task(replace(file.task, **fields))
        transaction.put_task(changed)
        transaction.describe(f"{task_id}: {', '.join(fields)}")
        return changed.task

    return store.transact(change, author=ADA)


def write_task_file(store: Store, task_id: str, text: str) -> None:
    """Commits any text as a task's file, also one that cannot be read."""

    def write(transaction: Transaction) -> None:
        transaction.write(task_path(TaskId(task_id)), text.encode())
        transaction.describe(f"{task_id}: written by hand")

    store.transact(write, author=ADA)
