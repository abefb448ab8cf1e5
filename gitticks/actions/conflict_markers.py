"""Finds tasks that git merged line by line, as a clone without our driver does, and merges them by meaning.

On the state branch that is a change like any other. On the board, where a merge waits for a person to continue, the file
is joined and marked as resolved; the person concludes the merge.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from gitticks.actions.changing import record
from gitticks.actions.context import Context
from gitticks.board.edits import wait_until_quiet
from gitticks.board.place import board_checkout
from gitticks.board.step import WORKTREE_BOARD
from gitticks.document.taskfile import read_file
from gitticks.errors import DocumentError
from gitticks.git.checkouts import Checkout
from gitticks.git.files import CheckoutFiles, NotPlainError
from gitticks.model.event import Event, EventType
from gitticks.model.ids import TaskId, task_path
from gitticks.store.index import open_index
from gitticks.store.layout import CONFIG_PATH, TASKS_FOLDER, task_of_path
from gitticks.store.merging.checkout import first_marker, join_marked
from gitticks.store.merging.files import merge_file
from gitticks.store.transaction import Transaction

_BASE, _SIDES = 1, (2, 3)


class Unmerged(NamedTuple):
    """A task's file on the board, or the settings, over which a merge waits.

    Attributes:
        path: where it is on the branch.
        line: that of the first marker; None where one side deleted what the other changed.
        data: what it holds now.
        base: the blob that both sides began with, if any.
        joined: what the settings are to hold, of which each side set another key; None for a task.
    """

    path: str
    line: int | None
    data: bytes
    base: str | None
    joined: bytes | None = None


def marked_tasks(context: Context) -> dict[TaskId, int]:
    """Returns the tasks on the state branch that git merged by lines, each with the line of the first marker.

    None whose two sides cannot be told apart, or hold less than every task does: these are a person's to fix.
    """
    with open_index(context.repository) as index:
        named = [*(one.task_id for one in index.broken()), *index.conflicts()]
        files = {task_id: index.data(task_id) for task_id in named if task_id is not None}
    lines = {
        task_id: first_marker(data)
        for task_id, data in files.items()
        if data is not None and _join(data, task_path(task_id)) is not None
    }
    return {task_id: line for task_id, line in lines.items() if line is not None}


def unmerged_on_board(context: Context) -> tuple[Unmerged, ...]:
    """Returns the tasks' files on the board that a merge left with markers, or that only one side still has."""
    checkout = board_checkout(context.repository)
    return () if checkout is None else tuple(_unmerged(context, checkout))


def join_all(context: Context) -> None:
    """Joins what can be joined; what cannot stays as it is."""
    for task_id in marked_tasks(context):
        _join_on_branch(context, task_id)
    on_board = [one.path for one in unmerged_on_board(context) if _join_on_board(context, one)]
    if on_board:  # the branch may have moved on since the merge began
        wait_until_quiet(context.repository, on_board)
        WORKTREE_BOARD.bring_in_step(context.repository)


def _join_on_branch(context: Context, task_id: TaskId) -> None:
    def operation(transaction: Transaction) -> None:
        path = task_path(task_id)
        data = transaction.read(path)
        merged = None if data is None else _join(data, path)
        if merged is None:
            return
        transaction.write(path, merged)
        event = Event(
            EventType.TEXT_CHANGED, context.now, context.actor, reason="git's conflict markers were resolved"
        )
        record(transaction, task_id, "merged by meaning what git had merged line by line", event)

    context.store.transact(operation, author=context.author)


def _join(data: bytes, path: str, base: bytes | None = None) -> bytes | None:
    """Returns the file that both sides make; None where they make none, or one that was never a task of gitticks."""
    merged = join_marked(data, path, base)
    with contextlib.suppress(DocumentError):
        if merged is not None and read_file(merged.data, path).task.created is not None:
            return merged.data
    return None


def _unmerged(context: Context, checkout: Checkout) -> Iterator[Unmerged]:
    files = CheckoutFiles.at(checkout.path, context.repository.own_dir, "board")
    asked = ["ls-files", "--unmerged", "-z"]
    listed = checkout.git(asked)
    entries: dict[str, dict[int, str]] = {}
    for entry in filter(None, os.fsdecode(listed.stdout).split("\0")):
        about, _, path = entry.partition("\t")
        _, object_id, stage = about.split(" ")
        entries.setdefault(path, {})[int(stage)] = object_id
    for path, stages in entries.items():
        if path == CONFIG_PATH and stages.keys() >= {*_SIDES}:
            yield from _unmerged_settings(context, stages, _read(files, path))
            continue
        is_of_one_side = not stages.keys() >= {*_SIDES} and _BASE in stages
        data = _read(files, path) if path.startswith(f"{TASKS_FOLDER}/") else None
        if data is None:
            continue
        line = first_marker(data)
        if is_of_one_side or (task_of_path(path) is not None and line is not None):
            yield Unmerged(path, None if is_of_one_side else line, data, stages.get(_BASE))


def _unmerged_settings(context: Context, stages: Mapping[int, str], data: bytes | None) -> Iterator[Unmerged]:
    """Yields the settings if both sides can stand; where both set one key, a person has to choose."""
    line = None if data is None else first_marker(data)
    if data is None or line is None:
        return
    read = context.store.objects.read_blob
    base = stages.get(_BASE)
    ours, theirs = (read(stages[one]) for one in _SIDES)
    merged = merge_file(CONFIG_PATH, None if base is None else read(base), ours, theirs)
    if not merged.conflicts:
        yield Unmerged(CONFIG_PATH, line, data, base, merged.data)


def _read(files: CheckoutFiles, path: str) -> bytes | None:
    try:
        return files.read(path)
    except NotPlainError:
        return None


def _join_on_board(context: Context, found: Unmerged) -> bool:
    checkout = board_checkout(context.repository)
    # It is to hold both sides, or what one side changed, which no deletion takes away.
    data: bytes | None = found.joined or found.data
    if found.line is not None and found.joined is None:
        base = None if found.base is None else context.store.objects.read_blob(found.base)
        data = _join(found.data, found.path, base)
    if data is None or checkout is None:
        return False
    files = CheckoutFiles.at(checkout.path, context.repository.own_dir, "board")
    if data != found.data and not files.replace(found.path, found.data, data).is_done:
        return False  # a person saves it at this moment
    entry = f"100644,{context.store.objects.write_blob(data)},{found.path}"
    # Without the refresh the file looks edited, and `git merge --abort` refuses; it fails where other files still wait.
    for asked in (["--cacheinfo", entry], ["-q", "--refresh"]):
        checkout.git(["update-index", *asked], check="--refresh" not in asked)
    return True
