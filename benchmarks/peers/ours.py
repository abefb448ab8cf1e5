"""gitticks among its peers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.branch import write_branch
from benchmarks.dataset import Record
from benchmarks.peers.base import Prepared, Work, open_task, repository_in


class Gitticks:
    """gitticks itself; the warm-up round builds its index."""

    program = "gt"

    def prepare(self, folder: Path, tasks: Sequence[Record]) -> Prepared:
        """Writes the state branch and leaves the board out, which no command here needs."""
        place = repository_in(folder)
        write_branch(folder, tasks)
        chosen = open_task(tasks).id
        return Prepared(
            place,
            {
                (Work.NEXT, "gitticks"): (("gt", "next"),),
                (Work.LIST, "gitticks"): (("gt", "list"),),
                (Work.SHOW, "gitticks"): (("gt", "show", chosen),),
                (Work.UPDATE, "gitticks, with its commit"): tuple(
                    ("gt", "update", chosen, "-p", p) for p in "13"
                ),
                (Work.CREATE, "gitticks, with its commit"): (("gt", "create", "x"),),
            },
        )
