"""gitticks among its peers: without a board, with it, with questions that wait, and where tasks are brought in."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from benchmarks.branch import ask_questions, change_task, write_branch
from benchmarks.dataset import Record
from benchmarks.peers.base import (
    LARGEST,
    Job,
    Prepared,
    Work,
    kind_of,
    open_names,
    open_task,
    ready_tasks,
    repository_in,
    run_once,
)

OURS = "gitticks"
WITH_BOARD = "gitticks, with the board"
COMPLETE_AN_ID = ("env", "_GT_COMPLETE=zsh", "gt", "show")
"""What a shell calls at the Tab key behind `gt show` and the beginning of an id."""
ASKING_SHARE = 20


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
                (Work.TREE, OURS): Job((("gt", "tree"),), (chosen.id,)),
                (Work.BOARD, OURS): Job((("gt", "board"),), (chosen.id,)),
                (Work.SEARCH, OURS): Job((("gt", "search", "nightly", "build"),), ("the nightly build",)),
                (Work.STATUS, OURS): Job((("gt", "status"),), (" tasks: ",)),
                (Work.STATS, OURS): Job((("gt", "stats"),), ("all time",)),
                (Work.COMPLETION, OURS): Job(((*COMPLETE_AN_ID, chosen.id[0]),), (chosen.id,)),
                (Work.UPDATE, OURS): update_of(chosen),
                (Work.CREATE, OURS): Job((("gt", "create", "x"),)),
                (Work.COLD, OURS): Job((("gt", "next"),), next_ones, before=without_index),
                (Work.FOREIGN, OURS): Job((("gt", "next"),), next_ones, before=foreign_commit),
            },
        )


class Asking:
    """gitticks in a repository where agents wait for answers."""

    program = "gt"
    largest = LARGEST

    def prepare(self, folder: Path, tasks: Sequence[Record]) -> Prepared:
        """Writes the state branch, with a question on every twentieth of the tasks that are ready, or on one."""
        place = repository_in(folder)
        write_branch(folder, tasks)
        asking = ready_tasks(tasks)[::ASKING_SHARE]
        ask_questions(folder, asking)
        run_once(("gt", "next"), place)
        shown = tuple(task.id for task in asking)
        return Prepared(
            place,
            {
                (Work.INBOX, OURS): Job((("gt", "inbox"),), shown),
                (Work.LIST_AWAITING, OURS): Job((("gt", "list", "--awaiting"),), shown),
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
        status = Job((("gt", "status"),), (" tasks: ",))
        update = update_of(open_task(tasks))
        return Prepared(place, {(Work.STATUS, WITH_BOARD): status, (Work.UPDATE, WITH_BOARD): update})


class Imported:
    """gitticks in a repository that `gt init` has just left, with the tasks in a file of beads."""

    program = "gt"
    largest = LARGEST

    def prepare(self, folder: Path, tasks: Sequence[Record]) -> Prepared:
        """Writes the file; the repository is made for each run."""
        source = folder.with_name(f"{folder.name}.jsonl")
        source.write_text("".join(f"{json.dumps(_issue(task))}\n" for task in tasks), encoding="utf-8")
        place = repository_in(folder)

        def without_tasks(number: int) -> None:
            # Moved, not removed: a file system looks long for room where very many files were just deleted.
            old = folder.with_name(f"{folder.name}-before-{number}")
            old.mkdir()
            for name in (".git", ".gitticks"):
                if (folder / name).exists():
                    (folder / name).rename(old / name)
            repository_in(folder)
            run_once(("gt", "init"), place)

        command = ("gt", "import", "beads", str(source))
        job = Job((command,), (f"{len(tasks)} tasks imported",), before=without_tasks)
        return Prepared(place, {(Work.IMPORT, WITH_BOARD): job})


def _issue(task: Record) -> dict[str, object]:
    links = [(one, "blocks") for one in task.blocked_by]
    links += [(task.parent, "parent-child")] if task.parent is not None else []
    closed = None if task.closed is None else task.closed.isoformat()
    return {
        "id": task.id,
        "title": task.title,
        "description": task.summary,
        "acceptance_criteria": "\n".join(f"- {one}" for one in task.criteria),
        "status": "open" if closed is None else "closed",
        "priority": task.priority,
        "issue_type": kind_of(task),
        "labels": list(task.labels),
        "created_at": task.created.isoformat(),
        "updated_at": closed or task.created.isoformat(),
        "closed_at": closed,
        "dependencies": [
            {"issue_id": task.id, "depends_on_id": target, "type": kind} for target, kind in links
        ],
    }


def update_of(task: Record) -> Job:
    """Returns the change of a task's priority, to and fro."""
    commands = tuple(("gt", "update", task.id, "-p", priority) for priority in "13")
    return Job(commands, ('"priority": 1',), ("gt", "show", "--json", task.id))
