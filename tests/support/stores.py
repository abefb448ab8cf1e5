"""Builds repositories with tasks and their histories in them, as commands find them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

from gitticks.document.taskfile import new_task_file
from gitticks.git.identity import Identity
from gitticks.git.repository import Repository, discover
from gitticks.model.event import Actor, Event, EventType
from gitticks.model.ids import TaskId, new_id, task_path
from gitticks.model.status import ActorKind, Awaiting, Status, TaskType
from gitticks.model.task import Task
from gitticks.store.branch import Store
from gitticks.store.publishing import Board
from gitticks.store.transaction import Transaction
from tests.support import prepared
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
    if board is None and config == CONFIG and prepared.copied(prepared.STORE, path):
        return Store(discover_for_much(path))
    store = Store(discover_for_much(make_repository(path)), board)
    store.initialise(ADA, config)
    return store


def discover_for_much(path: Path) -> Repository:
    """Returns the repository of a process that has loaded libgit2 already, as that of tests has."""
    repository = discover(path)
    repository.does_much = True
    return repository


def make_task(store: Store, title: str = "Login loses the return URL", **how: Any) -> Task:
    """Commits a task, as `put_task` makes it, and returns it."""
    return store.transact(lambda transaction: put_task(transaction, title, **how), author=ADA)


def put_task(
    transaction: Transaction,
    title: str = "Login loses the return URL",
    *,
    id: str | None = None,  # noqa: A002
    body: str = "",
    events: Iterable[Event] = (),
    **fields: Any,
) -> Task:
    """Puts a task with the text `body` below its frontmatter, and its history with `events`; returns it.

    Without an `id` it gets one that depends only on the tasks there are; it is created at `CREATED` by Ada.
    """
    task_id = TaskId(id) if id else _free_id(transaction.task_ids())
    usual = {"created": CREATED, "created_by": ADA.name, "updated": CREATED}
    task = Task(task_id, title, **{**usual, **fields})
    transaction.put_task(new_task_file(task, body))
    born = Event(EventType.CREATED, task.created or CREATED, ADA_ACTOR)
    transaction.append_events(task_id, (born, *events))
    transaction.describe(f"{task_id}: created", [("Task", task_id), ("Actor", f"human {ADA.name}")])
    return task


def _free_id(taken: frozenset[TaskId]) -> TaskId:
    return new_id(taken.__contains__, len(taken), _Draws(len(taken)))


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


NOW = datetime(2026, 3, 4, 6, 0, 0, tzinfo=UTC)
"""When the queue below is looked at: an hour after its tasks were created."""

QUESTION = """\
## Questions

### 2026-03-04T05:58:00Z · agent · claude

Which tone: friendly or formal?
The page has both now.
"""


def make_queue(path: Path, *, board: Board | None = None) -> Store:
    """Makes a repository with a task of each sort: ready, asking, blocked, put off, in review, in an epic, done."""
    if board is None and prepared.copied(prepared.QUEUE, path):
        return Store(discover_for_much(path))
    store = make_store(path, board=board)
    store.transact(_put_queue, author=ADA)
    return store


def _put_queue(transaction: Transaction) -> None:
    put_task(
        transaction,
        id="k7f2",
        priority=1,
        labels=("auth", "web"),
        body="After SSO people land on / instead of where they were.",
    )
    put_task(
        transaction,
        "Rename the error page",
        id="m3xq",
        status=Status.CLARIFICATION,
        awaiting=Awaiting.INPUT,
        asked_at=NOW - timedelta(minutes=2),
        reviewer="Grace",
        body=QUESTION,
    )
    put_task(transaction, "Log in by passkey", id="b1kd", blocked_by=(TaskId("k7f2"),), agent="codex")
    put_task(transaction, "Thank the testers", id="d3fr", priority=3, defer_until=date(2099, 5, 1))
    put_task(
        transaction,
        "Faster start",
        id="r3vw",
        priority=0,
        status=Status.REVIEWING,
        awaiting=Awaiting.REVIEW,
        asked_at=NOW - timedelta(hours=3),
        review_round=1,
    )
    put_task(transaction, "Accounts", id="e0pc", type=TaskType.EPIC)
    put_task(transaction, "Delete an account", id="c0de", parent=TaskId("e0pc"))
    put_task(transaction, "Say hello", id="d0ne", status=Status.DONE, closed=NOW - timedelta(minutes=30))
