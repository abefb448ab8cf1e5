"""seeds among the peers."""

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

_ALL = ("--limit", "1000000")


class Seeds:
    """seeds: one JSON file of lines in the checkout, in TypeScript run by bun; `sync` makes the commit."""

    program = "sd"
    largest = LARGEST

    def prepare(self, folder: Path, tasks: Sequence[Record]) -> Prepared:
        """Writes the lines that `sd create` would write and commits them by its own `sync`."""
        place = repository_in(folder)
        run_once(("sd", "init"), place)
        lines = "".join(f"{json.dumps(_issue(task))}\n" for task in tasks)
        (folder / ".seeds" / "issues.jsonl").write_text(lines)
        run_once(("sd", "sync"), place)
        chosen = _name(open_task(tasks))
        updates = tuple(("sd", "update", chosen, "--priority", priority) for priority in "13")
        synced = tuple(("sh", "-c", f"{' '.join(update)} && sd sync") for update in updates)
        shown, proof = ("High",), ("sd", "show", chosen)
        return Prepared(
            place,
            {
                (Work.NEXT, "seeds"): Job((("sd", "ready", "--limit", "1"),), open_names(tasks, _name)),
                (Work.READY, "seeds"): Job((("sd", "ready", *_ALL),), (chosen,)),
                (Work.LIST, "seeds"): Job((("sd", "list", *_ALL),), (chosen,)),
                (Work.SHOW, "seeds"): Job((("sd", "show", chosen),), (chosen,)),
                (Work.UPDATE, "seeds"): Job(updates, shown, proof),
                (Work.UPDATE, "seeds, with a commit"): Job(synced, shown, proof),
                (Work.CREATE, "seeds"): Job((("sd", "create", "--title", "x"),)),
            },
        )


def _name(task: Record) -> str:
    return f"bench-{task.id}"


def _issue(task: Record) -> dict[str, object]:
    issue: dict[str, object] = {
        "id": _name(task),
        "title": task.title,
        "status": "open" if task.closed is None else "closed",
        "type": kind_of(task),
        "priority": task.priority,
        "description": task.summary,
        "createdAt": f"{task.created:%Y-%m-%dT%H:%M:%S.000Z}",
        "updatedAt": f"{task.closed or task.created:%Y-%m-%dT%H:%M:%S.000Z}",
    }
    if task.labels:
        issue["labels"] = list(task.labels)
    if task.blocked_by:
        issue["blockedBy"] = [f"bench-{blocker}" for blocker in task.blocked_by]
    if task.closed:
        issue["closedAt"] = f"{task.closed:%Y-%m-%dT%H:%M:%S.000Z}"
    return issue
