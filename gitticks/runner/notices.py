"""What the command of the setting `notify` is told: one JSON object on its stdin, documented in the reference."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from gitticks.document.times import format_time
from gitticks.model.status import Awaiting, Status
from gitticks.model.task import Task
from gitticks.model.words import ANSWERED

SCHEMA = 1


class NoticeKind(StrEnum):
    """What happened."""

    AWAITING = "task.awaiting"
    STUCK = "task.stuck"
    DONE = "task.done"
    LIMIT = "run.limit"


@dataclass(frozen=True, slots=True)
class Notice:
    """One thing that people may want to know; `again` marks a task that has gone without an answer for long."""

    kind: NoticeKind
    at: datetime
    task: Task | None = None
    reason: str | None = None
    again: bool = False


def kind_of(task: Task) -> NoticeKind | None:
    """Returns what there is to tell of a task as it stands now."""
    if task.awaiting is None or not task.is_open:
        return NoticeKind.DONE if task.status is Status.DONE else None
    return NoticeKind.STUCK if task.status is Status.STUCK else NoticeKind.AWAITING


def notice_text(notice: Notice, place: str, questions: tuple[str, ...] = ()) -> str:
    """Returns a notice as one line of JSON.

    Args:
        notice: what is told.
        place: the repository's checkout.
        questions: the task's open questions.
    """
    body: dict[str, object] = {
        "schema": SCHEMA,
        "event": notice.kind.value,
        "again": notice.again,
        "at": format_time(notice.at),
        "repository": place,
        "reason": notice.reason,
        "task": None if notice.task is None else _task_object(notice.task),
        "questions": list(questions),
        "command": _command(notice.task),
    }
    return json.dumps(body, ensure_ascii=True) + "\n"


def _task_object(task: Task) -> dict[str, object]:
    return {
        "id": task.id,
        "title": task.title,
        "status": task.status.value,
        "awaiting": task.awaiting.value if task.awaiting else None,
        "asked_at": format_time(task.asked_at) if task.asked_at else None,
        "priority": task.priority,
        "labels": list(task.labels),
        "parent": task.parent,
        "reviewer": task.reviewer,
        "agent": task.agent,
        "branch": task.branch,
        "pr": task.pr,
    }


def _command(task: Task | None) -> str | None:
    """Returns what a person types next."""
    if task is None or task.awaiting is None:
        return None
    if task.awaiting in ANSWERED:
        return f"gt respond {task.id}"
    return f"gt close {task.id}" if task.awaiting is Awaiting.WORK else f"gt review {task.id}"
