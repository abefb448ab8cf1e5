"""ticket among the peers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from benchmarks.dataset import Record
from benchmarks.peers.base import LARGEST, Job, Prepared, Work, kind_of, open_task, repository_in


class Ticket:
    """ticket: markdown files in the checkout, read by bash and awk; it makes no commits."""

    program = "tk"
    largest = LARGEST

    def prepare(self, folder: Path, tasks: Sequence[Record]) -> Prepared:
        """Writes the files that `tk create` would write; priorities have no command, so `update` sets the status."""
        place = repository_in(folder)
        (folder / ".tickets").mkdir()
        for task in tasks:
            (folder / ".tickets" / f"{task.id}.md").write_text(_file(task))
        chosen = open_task(tasks).id
        updates = tuple(("tk", "status", chosen, status) for status in ("in_progress", "open"))
        ready = Job((("tk", "ready"),), (f"{chosen} ",))
        return Prepared(
            place,
            {
                (Work.NEXT, "ticket"): ready,
                (Work.READY, "ticket"): ready,
                (Work.LIST, "ticket"): Job((("tk", "ls", "--status=open"),), (f"{chosen} ",)),
                (Work.SHOW, "ticket"): Job((("tk", "show", chosen),), (f"id: {chosen}",)),
                (Work.UPDATE, "ticket"): Job(updates, ("status: in_progress",), ("tk", "show", chosen)),
                (Work.CREATE, "ticket"): Job((("tk", "create", "x"),)),
            },
        )


def _file(task: Record) -> str:
    status = "open" if task.closed is None else "closed"
    parent = f"parent: {task.parent}\n" if task.parent else ""
    return (
        f"---\nid: {task.id}\nstatus: {status}\ndeps: [{', '.join(task.blocked_by)}]\nlinks: []\n"
        f"created: {task.created:%Y-%m-%dT%H:%M:%SZ}\ntype: {kind_of(task)}\npriority: {task.priority}\n"
        f"{parent}tags: [{', '.join(task.labels)}]\n---\n# {task.title}\n\n{task.summary}\n"
    )
