"""gitticks among its peers, in a repository without a board and in one with it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.branch import change_task, write_branch
from benchmarks.dataset import Record
from benchmarks.peers.base import (
    Job,
    Prepared,
    Work,
    open_names,
    open_task,
    ready_tasks,
    repository_in,
    run_once,
)

OURS = "gitticks"
WITH_BOARD = "gitticks, with the board"


class Gitticks:
    """gitticks itself, its index built but for the rows that are about building it."""

    program = "gt"
    largest = 10**9

    def prepare(self, folder: Path, tasks: Sequence[Record]) -> Prepared:
        """Writes the state branch in one commit and leaves the board out, which no command here needs."""
        place = repository_in(folder)
        write_branch(folder, tasks)
        run_once(("gt", "next"), place)
        chosen, other = open_task(tasks), ready_tasks(tasks)[-1]
        next_ones = open_names(tasks, lambda task: task.id)

        def without_index(_: int) -> None:
            for file in (folder / ".git" / "gitticks").glob("index.sqlite3*"):
                file.unlink()

        def foreign_commit(number: int) -> None:
            change_task(folder, other, f"Changed elsewhere, {number}")

        return Prepared(
            place,
            {
                (Work.NEXT, OURS): Job((("gt", "next"),), next_ones),
                (Work.READY, OURS): Job((("gt", "ready"),), (chosen.id,)),
                (Work.LIST, OURS): Job((("gt", "list"),), (chosen.id,)),
                (Work.LIST_JSON, OURS): Job((("gt", "list", "--json"),), (f'"{chosen.id}"',)),
                (Work.SHOW, OURS): Job((("gt", "show", chosen.id),), (chosen.title,)),
                (Work.UPDATE, OURS): update_of(chosen),
                (Work.CREATE, OURS): Job((("gt", "create", "x"),)),
                (Work.COLD, OURS): Job((("gt", "next"),), next_ones, before=without_index),
                (Work.FOREIGN, OURS): Job((("gt", "next"),), next_ones, before=foreign_commit),
            },
        )


class Boarded:
    """gitticks as `gt init` leaves a repository: with the board, which follows every commit."""

    program = "gt"
    largest = 10**9

    def prepare(self, folder: Path, tasks: Sequence[Record]) -> Prepared:
        """Writes the state branch, fills the board and builds the index."""
        place = repository_in(folder)
        write_branch(folder, tasks)
        run_once(("gt", "init"), place)
        run_once(("gt", "next"), place)
        return Prepared(place, {(Work.UPDATE, WITH_BOARD): update_of(open_task(tasks))})


def update_of(task: Record) -> Job:
    """Returns the change of a task's priority, to and fro."""
    commands = tuple(("gt", "update", task.id, "-p", priority) for priority in "13")
    return Job(commands, ('"priority": 1',), ("gt", "show", "--json", task.id))
