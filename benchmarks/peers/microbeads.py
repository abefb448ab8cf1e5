"""microbeads among the peers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from benchmarks.dataset import Record
from benchmarks.peers.base import (
    LARGEST,
    Job,
    Prepared,
    Work,
    kind_of,
    open_names,
    open_task,
    repository_in,
    run_once,
)


class Microbeads:
    """microbeads: JSON files on an orphan branch, in Python; `sync` makes the commit."""

    program = "mb"
    largest = LARGEST

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
        chosen = _name(open_task(tasks))
        updates = tuple(("mb", "update", chosen, "-p", priority) for priority in "13")
        synced = tuple(("sh", "-c", f"{' '.join(update)} && mb sync") for update in updates)
        shown, proof = (" P1",), ("mb", "show", chosen)
        return Prepared(
            place,
            {
                (Work.NEXT, "microbeads"): Job((("mb", "ready"),), open_names(tasks, _name)),
                (Work.READY, "microbeads"): Job((("mb", "ready"),), (chosen,)),
                (Work.LIST, "microbeads"): Job((("mb", "list", "--status", "open"),), (chosen,)),
                (Work.SHOW, "microbeads"): Job((("mb", "show", chosen),), (chosen,)),
                (Work.UPDATE, "microbeads"): Job(updates, shown, proof),
                (Work.UPDATE, "microbeads, with a commit"): Job(synced, shown, proof),
                (Work.CREATE, "microbeads"): Job((("mb", "create", "x"),)),
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


def _name(task: Record) -> str:
    return f"mb-{task.id}"
