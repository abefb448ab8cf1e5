"""Tasks as people see them in listings: one line each, or with the question that awaits an answer."""

from __future__ import annotations

from gitticks.cli.render import GAP, Style, ago, opposite, say, status_style, status_word, warn
from gitticks.cli.table import Column, table_of
from gitticks.cli.text import visible
from gitticks.model.ids import BOARD_FOLDER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from gitticks.actions.standing import Standing
    from gitticks.cli.render import Screen
    from gitticks.model.notes import Entry
    from gitticks.model.queued import Listed
    from gitticks.store.index import BrokenFile

INDENT = " " * 8
NARROW = 60
_MOST_BLOCKERS = 3
_ANSWERED = frozenset({"input", "escalation", "checkpoint"})
_BY_HAND = "work"


def task_table(on: Screen, standings: Sequence[Standing[Listed]]) -> list[str]:
    """Returns one line for each task below a heading: glyph, id, priority, status, title and what it waits for."""
    tasks = [standing.task for standing in standings]
    glyphs = {status: on.glyph(status) for status in {task.status for task in tasks}}
    states = [status_style(task) for task in tasks] if on.has_colour else Style.PLAIN
    urgency = (
        [Style.WAITS if task.awaiting else Style.FAINT for task in tasks] if on.has_colour else Style.PLAIN
    )
    columns = [
        Column("  id", [f"{glyphs[task.status]} {task.id}" for task in tasks], Style.STRONG, ours=True),
        Column("pri", [str(task.priority) for task in tasks], ours=True),
        Column("status", [status_word(task) for task in tasks], states, ours=True),
        Column("title", [task.title for task in tasks]),
        Column("waits", [waits_for(standing) for standing in standings], urgency, ours=True),
    ]
    return table_of(on, columns, flexible="title")


def waits_for(standing: Standing[Listed]) -> str:
    """Returns in a few words what keeps a task from going on; empty if nothing does."""
    task = standing.task
    if task.awaiting is not None:
        return str(task.awaiting)
    blockers = standing.blockers
    if blockers:
        shown = ", ".join(blockers[:_MOST_BLOCKERS])
        left = len(blockers) - _MOST_BLOCKERS
        return f"after {shown}{f' and {left} more' if left > 0 else ''}"
    if task.defer_until is not None and standing.is_deferred:
        return f"until {task.defer_until.isoformat()}"
    return "held" if standing.is_held and task.is_open else ""


def awaiting_lines(
    on: Screen, standing: Standing[Listed], questions: Sequence[Entry], now: datetime
) -> list[str]:
    """Returns a task that awaits a person: its line with kind and age, its open questions, and the next commands."""
    task = standing.task
    kind = str(task.awaiting) if task.awaiting else ""
    asked = f"{kind}, asked {ago(task.asked_at, now)}" if task.asked_at else kind
    head = f"{on.glyph(task.status)} {task.id}  {visible(task.title)}"
    texts = [line for entry in questions for line in entry.text.splitlines() if line.strip()]
    return [
        *opposite(on, head, asked),
        *(on.fit(INDENT + visible(line), on.columns) for line in texts),
        INDENT + on.styled(answer_commands(standing), Style.FAINT),
    ]


def indent_of(on: Screen) -> str:
    """Returns what stands before the lines below a task's own: less on a narrow terminal."""
    return INDENT if on.columns > NARROW or not on.is_terminal else GAP


def answer_commands(standing: Standing[Listed]) -> str:
    """Returns the commands that answer what a task awaits."""
    task_id, awaiting = standing.task.id, standing.task.awaiting
    if awaiting in _ANSWERED:
        return f'gt respond {task_id} "…"'
    if awaiting == _BY_HAND:
        return f"gt start {task_id} · gt close {task_id}"
    return f'gt review {task_id} · gt approve {task_id} · gt reject {task_id} "…"'


def warn_of_broken(files: Iterable[BrokenFile]) -> None:
    """Names the task files that could not be read, on stderr."""
    for file in files:
        warn(f"{BOARD_PREFIX}{file.message}")


BOARD_PREFIX = f"{BOARD_FOLDER}/"
"""What stands before a path on the state branch where a person opens it."""


def print_tasks_or(on: Screen, standings: Sequence[Standing[Listed]], nothing: str) -> None:
    """Prints the table, or what to do next where there is nothing to list, which goes to stderr."""
    if standings:
        say(*task_table(on, standings))
    else:
        say(nothing, err=True)
