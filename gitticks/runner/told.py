"""Which turns of people's were told and when, kept in the clone so that the next run does not tell them again."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from gitticks.document.times import format_time, parse_time
from gitticks.model.ids import TaskId, is_valid_id
from gitticks.model.task import Task
from gitticks.plainfile import read_plain_text

FILE = "notices.json"


@dataclass(frozen=True, slots=True)
class ToldTurn:
    """A person's turn, known by the time at which it began (empty if that is not known), and when it was told last."""

    asked_at: str
    at: datetime

    @classmethod
    def now(cls, task: Task, now: datetime) -> ToldTurn:
        """Returns a turn that is told now."""
        return cls(_began(task), now)

    def is_over(self, task: Task) -> bool:
        """True if the task has gone on since."""
        return task.awaiting is None or not task.is_open or _began(task) != self.asked_at


def _began(task: Task) -> str:
    return format_time(task.asked_at) if task.asked_at else ""


def read_told(own_dir: Path) -> dict[TaskId, ToldTurn]:
    """Returns what was told; what cannot be read was not."""
    told: dict[TaskId, ToldTurn] = {}
    with contextlib.suppress(OSError, ValueError, RecursionError):
        found = json.loads(read_plain_text(own_dir / FILE))
        for name, entry in found.items() if isinstance(found, dict) else ():
            match entry:
                case [str(asked_at), str(at)] if is_valid_id(name) and (time := parse_time(at)) is not None:
                    told[TaskId(name)] = ToldTurn(asked_at, time)
    return told


def write_told(own_dir: Path, told: Mapping[TaskId, ToldTurn], unsaid: Collection[TaskId] = ()) -> None:
    """Keeps what was told, less what is still `unsaid`; where that fails, it is told once more."""
    body = {name: [turn.asked_at, format_time(turn.at)] for name, turn in told.items() if name not in unsaid}
    with contextlib.suppress(OSError):
        part = own_dir / f"{FILE}.part"
        part.unlink(missing_ok=True)  # whatever lies there, a pipe even
        part.write_text(json.dumps(body))
        part.replace(own_dir / FILE)
