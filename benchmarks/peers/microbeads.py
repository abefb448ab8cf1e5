"""microbeads among the peers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from benchmarks.dataset import Record
from benchmarks.peers.base import Prepared, Work, kind_of, open_task, repository_in, run_once


class Microbeads:
    """microbeads: JSON files on an orphan branch, in Python; `sync` makes the commit."""

    program = "mb"

    def prepare(self, folder: Path, tasks: Sequence[Record]) -> Prepared:
        """Writes the issues' files into its worktree and commits them by its own `sync`."""
        place = repository_in(folder)
        run_once(("mb", "init"), place)
        issues = folder / ".git" / "microbeads-worktree" / ".microbeads" / "issues"
        for task in tasks:
            group = issues / ("active" if task.closed is None else "closed")
            group.mkdir(parents=True, exist_ok=True)
            (group / f"mb-{task.id}.json").write_text(json.dumps(self._issue(task), indent=2))
        run_once(("mb", "sync"), place)
        chosen = f"mb-{open_task(tasks).id}"
        updates = tuple(("mb", "update", chosen, "-p", priority) for priority in "13")
        synced = tuple(("sh", "-c", f"{' '.join(update)} && mb sync") for update in updates)
        return Prepared(
            place,
            {
                (Work.NEXT, "microbeads"): (("mb", "ready"),),
                (Work.LIST, "microbeads"): (("mb", "list"),),
                (Work.SHOW, "microbeads"): (("mb", "show", chosen),),
                (Work.UPDATE, "microbeads"): updates,
                (Work.UPDATE, "microbeads, with its commit"): synced,
                (Work.CREATE, "microbeads"): (("mb", "create", "x"),),
            },
        )

    def _issue(self, task: Record) -> dict[str, object]:
        blockers = [f"mb-{blocker}" for blocker in task.blocked_by]
        closed = f"{task.closed:%Y-%m-%dT%H:%M:%SZ}" if task.closed else None
        return {
            "acceptance_criteria": "\n".join(task.criteria),
            "closed_at": closed,
            "closed_reason": None,
            "created_at": f"{task.created:%Y-%m-%dT%H:%M:%SZ}",
            "dependencies": blockers,
            "description": task.summary,
            "design": "",
            "id": f"mb-{task.id}",
            "labels": list(task.labels),
            "notes": "",
            "priority": task.priority,
            "status": "open" if task.closed is None else "closed",
            "title": task.title,
            "type": kind_of(task),
            "updated_at": f"{task.created:%Y-%m-%dT%H:%M:%SZ}",
        }
