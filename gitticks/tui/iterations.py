"""What each session of some tasks came to, read from their histories: the newest first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from gitticks.actions.context import Context
from gitticks.cli.text import clock
from gitticks.model.event import Event, EventType
from gitticks.model.ids import TaskId
from gitticks.model.status import Role, Status
from gitticks.tui.widgets.lines import Line, line
from gitticks.workflow.budget import spent_by

_MOST_TASKS, _MOST_ROWS = 200, 300
_WORDS = {
    Status.AGENT_REVIEW: ("handed off", "good"),
    Status.REVIEWING: ("handed off", "good"),
    Status.CLARIFICATION: ("asks", "waits"),
    Status.STUCK: ("stuck", "bad"),
    Status.DONE: ("done", "good"),
    Status.WORKING: ("sent back", "bad"),
}
_REVIEWED = {Status.REVIEWING: ("passed", "good"), Status.WORKING: ("failed", "bad")}
_MERGES = {EventType.MERGED: ("merged", "good"), EventType.MERGE_FAILED: ("not merged", "bad")}
_WIDE, _WORD_COLUMNS = 60, 13


class Iteration(NamedTuple):
    """One session that ended, or a merge: its number on the task, a word for what it came to, and what it took."""

    task: TaskId
    at: datetime
    number: int
    agent: str
    word: str
    colour: str
    said: str
    cost: float = 0.0
    seconds: float = 0.0


def iterations_of(context: Context, task_ids: Sequence[TaskId]) -> list[Iteration]:
    """Returns the sessions of these tasks, the newest first."""
    from gitticks.document.history import read_history

    found: list[Iteration] = []
    with context.index as index:
        for task_id in task_ids[:_MOST_TASKS]:
            history = index.history(task_id)
            if history:
                found += _of_task(task_id, read_history(history).events)
    # Of the same second the one that was recorded later is the newer one.
    return sorted(found, key=lambda one: one.at)[::-1][:_MOST_ROWS]


def _of_task(task_id: TaskId, events: Sequence[Event]) -> list[Iteration]:
    found: list[Iteration] = []
    moved: Event | None = None
    number = 0
    for event in events:
        if event.type is EventType.SESSION_STARTED:
            moved = None
        elif event.type is EventType.SESSION_ENDED:
            number += event.data.get("role") == Role.WORKER.value
            found.append(_session(task_id, number, event, moved))
        elif event.type in _MERGES:
            word, colour = _MERGES[event.type]
            found.append(Iteration(task_id, event.at, 0, event.actor.name, word, colour, event.reason or ""))
        if event.to_status is not None and event.to_status != event.from_status:
            moved = event
    return found


def _session(task_id: TaskId, number: int, ended: Event, moved: Event | None) -> Iteration:
    ending = str(ended.data.get("ending", ""))
    is_review = ended.data.get("role") == Role.REVIEWER.value
    word, colour, said = ("goes on", "muted", ended.reason or "")
    known: tuple[str, str] | None = None
    if moved is not None and moved.to_status is not None:
        known = _REVIEWED.get(moved.to_status) if is_review else None
        word, colour = known or _WORDS.get(moved.to_status, (str(moved.to_status), "muted"))
        said = ended.reason or (moved.reason if colour in ("waits", "bad") else "") or ""
    elif ending not in ("clean", ""):
        word, colour = ending, "bad"
    if is_review:
        word, said = f"review {word}" if known else word, "" if said in ("PASS", "FAIL") else said
    spent = spent_by(ended)
    return Iteration(
        task_id,
        ended.at,
        number,
        ended.actor.name,
        word,
        colour,
        said,
        spent.cost,
        spent.seconds,
    )


def rows(found: Sequence[Iteration], titles: Mapping[TaskId, str], width: int) -> list[Line]:
    """Returns one row an iteration: what was said of it, or else the task's title."""
    shown = []
    for at, one in enumerate(found):
        cost = f"${one.cost:.2f}" if one.cost else ""
        took = clock(one.seconds) if one.number else ""
        shown.append(
            line(
                (f"{one.number or '':>3}  ", "faint"),
                (f"{one.task}  ", "muted"),
                (f"{one.word[:_WORD_COLUMNS]:<{_WORD_COLUMNS}}  ", one.colour),
                (one.said or titles.get(one.task, ""), "fg" if one.said else "muted"),
                right=[(f"{cost:>7}", "muted"), (f"{took:>8}", "muted")] if width >= _WIDE else [],
                key=f"{one.task} {len(found) - at}",
            )
        )
    return shown
