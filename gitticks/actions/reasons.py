"""Why a task is where it is, out of its history, read from the end and no further than needed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from gitticks.model.ids import TaskId
from gitticks.model.words import STUCK

if TYPE_CHECKING:
    from gitticks.model.queued import Listed
    from gitticks.store.index import Index

_STUCK = STUCK.encode()


def stuck_reason(history: bytes) -> str | None:
    """Returns why a task became stuck last, on one line; None if its history does not tell."""
    import json  # for the few tasks that are

    for line in reversed(history.split(b"\n")):
        if _STUCK not in line:
            continue
        try:
            event = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(event, dict) and event.get("to") == STUCK:
            reason = event.get("reason")
            return " ".join(reason.split()) if isinstance(reason, str) else None
    return None


def reasons_of(index: Index, tasks: Iterable[Listed]) -> dict[TaskId, str]:
    """Returns why those of the tasks are stuck that are, as far as their histories tell."""
    stuck = [task.id for task in tasks if task.status == STUCK]
    found = {task_id: stuck_reason(index.history(task_id)) for task_id in stuck}
    return {task_id: reason for task_id, reason in found.items() if reason}
