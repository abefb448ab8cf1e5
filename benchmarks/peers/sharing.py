"""gitticks beside a remote on the same disk: what a sync costs, and what plain git takes for its fetch alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks.branch import change_tasks, write_branch
from benchmarks.dataset import Record
from benchmarks.measure import Place
from benchmarks.peers.base import LARGEST, Job, Prepared, Work, repository_in, run_once
from benchmarks.peers.ours import WITH_BOARD

GIT = "git"
DIVERGED = 1000
"""So many tasks both sides change, or all that are open and no epics."""


class Shared:
    """gitticks with the board, in step with a bare remote."""

    program = "gt"
    largest = LARGEST

    def prepare(self, folder: Path, tasks: Sequence[Record]) -> Prepared:
        """Makes the repository and its remote."""
        place, _ = _shared(folder, tasks)
        fetch = ("git", "fetch", "--quiet", "origin", "gitticks/state")
        return Prepared(
            place,
            {
                (Work.FETCH, GIT): Job((fetch,)),
                (Work.SYNC, WITH_BOARD): Job((("gt", "sync"),), ("up to date with origin",)),
            },
        )


class Diverged:
    """gitticks with the board, beside a bare remote that has changed the same tasks in another way."""

    program = "gt"
    largest = LARGEST

    def prepare(self, folder: Path, tasks: Sequence[Record]) -> Prepared:
        """Makes the repository and its remote; both are changed before each run."""
        place, remote = _shared(folder, tasks)
        # an epic is moved by what becomes of its children, which would be a change beside those that are counted
        merged = [task for task in tasks if task.closed is None and not task.is_epic][:DIVERGED]

        def diverge(number: int) -> None:
            nonlocal merged
            change_tasks(remote, [replace(task, title=f"Changed there, {number}") for task in merged])
            merged = [replace(task, labels=(f"here-{number}",)) for task in merged]
            change_tasks(folder, merged)
            merged = [replace(task, title=f"Changed there, {number}") for task in merged]
            run_once(("git", "-C", ".gitticks", "reset", "--quiet", "--hard"), place)

        diverge(-1)  # the first time epics follow children that the made-up tasks begin with
        run_once(("gt", "sync"), place)
        came = f"received from origin: {len(merged)} task"
        return Prepared(place, {(Work.JOIN, WITH_BOARD): Job((("gt", "sync"),), (came,), before=diverge)})


def _shared(folder: Path, tasks: Sequence[Record]) -> tuple[Place, Path]:
    """Makes a repository with its board and a bare remote that has the same."""
    place = repository_in(folder)
    write_branch(folder, tasks)
    run_once(("gt", "init"), place)
    remote = folder.with_name(f"{folder.name}.git")
    run_once(("git", "clone", "--quiet", "--bare", str(folder), str(remote)), place)
    run_once(("git", "remote", "add", "origin", str(remote)), place)
    run_once(("gt", "sync"), place)
    return place, remote
