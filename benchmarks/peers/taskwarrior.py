"""taskwarrior among the peers."""

from __future__ import annotations

import json
import uuid
from collections.abc import Sequence
from pathlib import Path

from benchmarks.dataset import Record
from benchmarks.measure import Place
from benchmarks.peers.base import LARGEST, Job, Prepared, Work, open_names, open_task, place_in

_PRIORITIES = ("H", "M", "", "L", "L")


class Taskwarrior:
    """taskwarrior: one text file in the home, in C++; no git."""

    program = "task"
    largest = LARGEST

    def prepare(self, folder: Path, tasks: Sequence[Record]) -> Prepared:
        """Writes its two data files as its own `import` would, which takes minutes for it."""
        place = place_in(folder)
        data = folder / "data"
        data.mkdir()
        (folder / "taskrc").write_text(
            f"data.location={data}\nconfirmation=off\nverbose=nothing\nrecurrence=off\ndefaultwidth=250\n"
        )
        place = Place(folder, {**place.environment, "TASKRC": str(folder / "taskrc")})
        for name, is_open in (("pending", True), ("completed", False)):
            lines = "".join(_line(task) for task in tasks if (task.closed is None) is is_open)
            (data / f"{name}.data").write_text(lines)
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


def _line(task: Record) -> str:
    """Returns a task in the format of version 2: one line of quoted attributes."""
    blockers = [str(_identity(blocker)) for blocker in task.blocked_by]
    created = str(int(task.created.timestamp()))
    attributes = {
        f"annotation_{created}": json.dumps(task.summary, ensure_ascii=False)[1:-1],
        **{f"dep_{blocker}": "x" for blocker in blockers},
        "depends": ",".join(blockers),
        "description": task.title,
        "end": str(int(task.closed.timestamp())) if task.closed else "",
        "entry": created,
        "modified": created,
        "priority": _PRIORITIES[task.priority],
        "status": "pending" if task.closed is None else "completed",
        "tags": ",".join(task.labels),
        **{f"tags_{label}": "x" for label in task.labels},
        "uuid": str(_identity(task.id)),
    }
    written = " ".join(f'{key}:"{value}"' for key, value in attributes.items() if value)
    return f"[{written}]\n"


def _identity(task_id: str) -> uuid.UUID:
    return uuid.uuid5(uuid.NAMESPACE_OID, task_id)
