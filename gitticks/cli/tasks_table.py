"""Tasks as people see them in listings: one line each, or with the question that awaits an answer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from gitticks.actions.standing import Standing
from gitticks.cli.render import Cell, Screen, Style, ago, opposite, say, status_cell, table, warn
from gitticks.cli.text import visible
from gitticks.model.ids import BOARD_FOLDER
from gitticks.model.notes import Entry
from gitticks.model.status import Awaiting
from gitticks.store.index import BrokenFile

INDENT = " " * 8
_MOST_BLOCKERS = 3
_ANSWERED = {Awaiting.INPUT, Awaiting.ESCALATION, Awaiting.CHECKPOINT}


def task_table(on: Screen, standings: Iterable[Standing]) -> list[str]:
    """Returns one line for each task below a heading: glyph, id, priority, status, title and what it waits for."""
    rows: list[list[Cell | str]] = [
        [
            Cell(f"{on.glyph(one.task.status)} {one.task.id}", Style.STRONG),
            str(one.task.priority),
            status_cell(one.task),
            one.task.title,
            Cell(waits_for(one), Style.WAITS if one.task.awaiting else Style.FAINT),
        ]
        for one in standings
    ]
    return table(on, ["  id", "pri", "status", "title", "waits"], rows, flexible="title")


def waits_for(standing: Standing) -> str:
    """Returns in a few words what keeps a task from going on; empty if nothing does."""
    task = standing.task
    if task.awaiting is not None:
        return task.awaiting.value
    if standing.blockers:
        shown = ", ".join(standing.blockers[:_MOST_BLOCKERS])
        left = len(standing.blockers) - _MOST_BLOCKERS
        return f"after {shown}{f' and {left} more' if left > 0 else ''}"
    if standing.is_deferred and task.defer_until is not None:
        return f"until {task.defer_until.isoformat()}"
    return "held" if standing.is_held and task.is_open else ""


def awaiting_lines(on: Screen, standing: Standing, questions: Sequence[Entry], now: datetime) -> list[str]:
    """Returns a task that awaits a person: its line with kind and age, its open questions, and the next commands."""
    task = standing.task
    kind = task.awaiting.value if task.awaiting else ""
    asked = f"{kind}, asked {ago(task.asked_at, now)}" if task.asked_at else kind
    head = f"{on.glyph(task.status)} {task.id}  {visible(task.title)}"
    texts = [line for entry in questions for line in entry.text.splitlines() if line.strip()]
    return [
        *opposite(on, head, asked),
        *(on.fit(INDENT + visible(line), on.columns) for line in texts),
        INDENT + on.styled(answer_commands(standing), Style.FAINT),
    ]


def answer_commands(standing: Standing) -> str:
    """Returns the commands that answer what a task awaits."""
    task_id, awaiting = standing.task.id, standing.task.awaiting
    if awaiting in _ANSWERED:
        return f'gt respond {task_id} "…"'
    if awaiting is Awaiting.WORK:
        return f"gt start {task_id} · gt close {task_id}"
    return f'gt review {task_id} · gt approve {task_id} · gt reject {task_id} "…"'


def warn_of_broken(files: Iterable[BrokenFile]) -> None:
    """Names the task files that could not be read, on stderr."""
    for file in files:
        warn(f"{BOARD_PREFIX}{file.message}")


BOARD_PREFIX = f"{BOARD_FOLDER}/"
"""What stands before a path on the state branch where a person opens it."""


def print_tasks_or(on: Screen, standings: Sequence[Standing], nothing: str) -> None:
    """Prints the table, or what to do next where there is nothing to list, which goes to stderr."""
    if standings:
        say(*task_table(on, standings))
    else:
        say(nothing, err=True)
