"""Finds tasks that git merged by lines, as a clone without our driver does, and joins them by meaning.

On the state branch that is a change like any other. On the board, where a merge waits for a person to go on, the file
is joined and marked as resolved; the person concludes the merge.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from gitticks.actions.changing import record
from gitticks.actions.context import Context
from gitticks.git.files import CheckoutFiles
from gitticks.git.folders import NotPlainError
from gitticks.model.event import Event, EventType
from gitticks.model.ids import TaskId, task_path
from gitticks.store.layout import task_of_path
from gitticks.store.merging.mending import first_marker, join_marked

if TYPE_CHECKING:
    from gitticks.git.checkouts import Checkout
    from gitticks.store.transaction import Transaction

_BASE = 1


@dataclass(frozen=True, slots=True)
class Unmerged:
    """A task's file on the board that a merge left with markers: the line of the first, and its base as far as known."""

    path: str
    line: int
    data: bytes
    base: str | None


def marked_tasks(context: Context) -> dict[TaskId, int]:
    """Returns the tasks on the state branch whose files hold markers of git, each with the line of the first."""
    from gitticks.store.index import open_index

    with open_index(context.repository) as index:
        named = [*(one.task_id for one in index.broken()), *index.conflicts()]
        files = {task_id: index.data(task_id) for task_id in named if task_id is not None}
    lines = {task_id: first_marker(data or b"") for task_id, data in files.items()}
    return {task_id: line for task_id, line in lines.items() if line is not None}


def unmerged_on_board(context: Context) -> tuple[Unmerged, ...]:
    """Returns the tasks' files on the board that a merge left with markers, sorted by path."""
    from gitticks.store.board import board_checkout

    checkout = board_checkout(context.repository)
    return () if checkout is None else tuple(_unmerged(context, checkout))


def join_all(context: Context) -> tuple[str, ...]:
    """Joins what can be joined, and returns the paths; what cannot stays as it is."""
    joined = [task_path(one) for one in marked_tasks(context) if _join_on_branch(context, one)]
    return (*joined, *(one.path for one in unmerged_on_board(context) if _join_on_board(context, one)))


def _join_on_branch(context: Context, task_id: TaskId) -> bool:
    def operation(transaction: Transaction) -> bool:
        path = task_path(task_id)
        data = transaction.read(path)
        merged = None if data is None else join_marked(data, path)
        if merged is None:
            return False
        transaction.write(path, merged.data)
        event = Event(
            EventType.TEXT_CHANGED, context.now, context.actor, reason="git's conflict markers were joined"
        )
        record(transaction, task_id, "joined what git merged by lines", [event], context.actor)
        return True

    return context.store.transact(operation, author=context.author)


def _unmerged(context: Context, checkout: Checkout) -> Iterator[Unmerged]:
    from gitticks.git.process import run_git

    files = CheckoutFiles.at(checkout.path, context.repository.own_dir, "board")
    asked = ["ls-files", "--unmerged", "-z"]
    listed = run_git(asked, repository_dir=checkout.git_dir, work_tree=checkout.path, directory=checkout.path)
    bases: dict[str, str | None] = {}
    for entry in filter(None, os.fsdecode(listed.stdout).split("\0")):
        about, _, path = entry.partition("\t")
        _, object_id, stage = about.split(" ")
        bases.setdefault(path, None)
        if int(stage) == _BASE:
            bases[path] = object_id
    for path, base in bases.items():
        if task_of_path(path) is None:
            continue
        try:
            data = files.read(path)
        except NotPlainError:
            continue
        line = first_marker(data or b"")
        if data is not None and line is not None:
            yield Unmerged(path, line, data, base)


def _join_on_board(context: Context, found: Unmerged) -> bool:
    from gitticks.git.process import run_git
    from gitticks.store.board import board_checkout

    checkout = board_checkout(context.repository)
    objects = context.store.objects
    base = None if found.base is None else objects.read_blob(found.base)
    merged = join_marked(found.data, found.path, base)
    if merged is None or checkout is None:
        return False
    files = CheckoutFiles.at(checkout.path, context.repository.own_dir, "board")
    if not files.replace(found.path, found.data, merged.data).is_done:
        return False  # a person saves it at this moment
    entry = f"100644,{objects.write_blob(merged.data)},{found.path}"
    run_git(
        ["update-index", "--cacheinfo", entry],
        repository_dir=checkout.git_dir,
        work_tree=checkout.path,
        directory=checkout.path,
    )
    return True
