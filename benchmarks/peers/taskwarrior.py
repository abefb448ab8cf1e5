"""taskwarrior among the peers."""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from pathlib import Path

from benchmarks.dataset import Record
from benchmarks.measure import Place
from benchmarks.peers.base import LARGEST, Job, Prepared, Work, open_names, open_task, place_in, run_once


class Taskwarrior:
    """taskwarrior: one text file in the home, in C++; no git."""

    program = "task"
    largest = LARGEST

    def prepare(self, folder: Path, tasks: Sequence[Record]) -> Prepared:
        """Imports the tasks as JSON by its own `import`."""
        place = place_in(folder)
        data = folder / "data"
        data.mkdir()
        (folder / "taskrc").write_text(
            f"data.location={data}\nconfirmation=off\nverbose=nothing\nrecurrence=off\ndefaultwidth=250\n"
        )
        place = Place(folder, {**place.environment, "TASKRC": str(folder / "taskrc")})
        (folder / "tasks.json").write_text(json.dumps([self._entry(task) for task in tasks]))
        run_once(("task", "import", "tasks.json"), place)
        task = open_task(tasks)
        chosen = str(_identity(task.id))
        updates = tuple(("task", chosen, "modify", f"priority:{priority}") for priority in "HL")
        titles = open_names(tasks, lambda task: task.title)
        return Prepared(
            place,
            {
                (Work.NEXT, "taskwarrior"): Job((("task", "next", "limit:1"),), titles),
                (Work.READY, "taskwarrior"): Job((("task", "ready"),), (task.title,)),
                (Work.LIST, "taskwarrior"): Job((("task", "list"),), (task.title,)),
                (Work.SHOW, "taskwarrior"): Job((("task", chosen, "information"),), (chosen,)),
                (Work.UPDATE, "taskwarrior"): Job(updates, ('"priority":"H"',), ("task", chosen, "export")),
                (Work.CREATE, "taskwarrior"): Job((("task", "add", "x"),)),
            },
        )

    def _entry(self, task: Record) -> dict[str, object]:
        entry: dict[str, object] = {
            "uuid": str(_identity(task.id)),
            "description": task.title,
            "status": "pending" if task.closed is None else "completed",
            "entry": f"{task.created:%Y%m%dT%H%M%SZ}",
            "tags": list(task.labels),
            "depends": [str(_identity(blocker)) for blocker in task.blocked_by],
            "annotations": [{"entry": f"{task.created:%Y%m%dT%H%M%SZ}", "description": task.summary}],
        }
        if task.priority != 2:
            entry["priority"] = "HHMLL"[task.priority]
        if task.closed is not None:
            entry["end"] = f"{task.closed:%Y%m%dT%H%M%SZ}"
        return entry


def _identity(task_id: str) -> uuid.UUID:
    return uuid.uuid5(uuid.NAMESPACE_OID, task_id)
