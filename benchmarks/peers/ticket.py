"""ticket among the peers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.dataset import Record
from benchmarks.peers.base import Prepared, Work, kind_of, open_task, repository_in


class Ticket:
    """ticket: markdown files in the checkout, read by bash and awk; it makes no commits."""

    program = "tk"

    def prepare(self, folder: Path, tasks: Sequence[Record]) -> Prepared:
        """Writes the files that `tk create` would write; priorities have no command, so `update` sets the status."""
        place = repository_in(folder)
        (folder / ".tickets").mkdir()
        for task in tasks:
            status = "open" if task.closed is None else "closed"
            parent = f"parent: {task.parent}\n" if task.parent else ""
            (folder / ".tickets" / f"{task.id}.md").write_text(
                f"---\nid: {task.id}\nstatus: {status}\ndeps: [{', '.join(task.blocked_by)}]\nlinks: []\n"
                f"created: {task.created:%Y-%m-%dT%H:%M:%SZ}\ntype: {kind_of(task)}\npriority: {task.priority}\n"
                f"{parent}tags: [{', '.join(task.labels)}]\n---\n# {task.title}\n\n{task.summary}\n"
            )
        chosen = open_task(tasks).id
        updates = tuple(("tk", "status", chosen, status) for status in ("in_progress", "open"))
        return Prepared(
            place,
            {
                (Work.NEXT, "ticket"): (("tk", "ready"),),
                (Work.LIST, "ticket"): (("tk", "ls"),),
                (Work.SHOW, "ticket"): (("tk", "show", chosen),),
                (Work.UPDATE, "ticket"): updates,
                (Work.CREATE, "ticket"): (("tk", "create", "x"),),
            },
        )
