"""Rows for tasks, epics and the inbox."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from datetime import datetime

from gitticks.model.task_row import TaskRow
from gitticks.tui.messages import Snapshot
from gitticks.tui.theme import STATUS_COLOUR, glyph
from gitticks.tui.widgets.lines import Line, Span, line
from gitticks.world import in_largest_unit

_WORD_COLUMNS = 10
_ROOM_FOR_WORDS, _ROOM_FOR_PRIORITY = 50, 58


def age(then: datetime | None, now: datetime) -> str:
    """Returns how long ago that was: `48 s`, `2 min`, `3 h`, `5 d`."""
    if then is None:
        return ""
    count, unit = in_largest_unit((now - then).total_seconds())
    return f"{count} {'d' if unit == 'day' else unit}"


def listed(snapshot: Snapshot, rows: Sequence[TaskRow], width: int) -> list[Line]:
    """Returns some tasks, their titles below one another."""
    ids = _longest_id(rows)
    return [task(snapshot, row, width, ids) for row in rows]


def _longest_id(rows: Iterable[TaskRow]) -> int:
    return max((len(row.id) for row in rows), default=0)


def task(snapshot: Snapshot, row: TaskRow, width: int, ids: int = 0) -> Line:
    """One task: glyph, id in so many columns, title; at the right who is at it, or what it waits for."""
    mark = snapshot.mark(row)
    colour = STATUS_COLOUR[mark]
    said = note_of(snapshot, row, mark)
    title = "muted" if mark in ("done", "blocked", "cancelled") else "fg"
    right: list[Span | str] = [(said, colour)] if said and width >= len(said) + 26 else []
    return line(
        (f"{glyph(mark)} ", f"*{colour}"),
        (f"{row.id:<{ids}}", "muted"),
        "  ",
        (row.title, title),
        right=right,
        key=row.id,
    )


def note_of(snapshot: Snapshot, row: TaskRow, mark: str) -> str:
    """Returns who is at a task, or what it waits for."""
    session = snapshot.sessions.get(row.id)
    if session is not None:
        verb = " reviews" if session.role.value == "reviewer" else ""
        return f"{session.agent}{verb} {age(session.started, snapshot.around.now)}"
    if row.awaiting and mark != "stuck":
        return {
            "review": "your review",
            "input": "asks you",
            "approval": "your approval",
            "work": "your work",
            "escalation": "needs you",
        }.get(row.awaiting, f"{row.awaiting}: you")
    if mark == "blocked":
        blockers = snapshot.graph.open_blockers(row, 2)
        return f"after {', '.join(blockers)}" if blockers else ""
    if left := snapshot.left(row):
        return left
    return {"stuck": "stuck", "agent-review": "to be reviewed"}.get(mark, "merging" if row.is_merging else "")


def roots(snapshot: Snapshot, width: int, chosen: Collection[str]) -> list[Line]:
    """Returns what can be started: the epics, and below them the tasks that belong to none."""
    found: list[Line] = []
    ids = _longest_id(snapshot.roots)
    for at, row in enumerate(snapshot.roots):
        if at and not snapshot.is_epic(row) and snapshot.is_epic(snapshot.roots[at - 1]):
            found += [line(), line(("tasks in no epic", "faint"))]
        found.append(root(snapshot, row, width, ids, is_chosen=row.id in chosen))
    return found


def root(snapshot: Snapshot, row: TaskRow, width: int, ids: int, *, is_chosen: bool) -> Line:
    """One epic or single task that can be selected: title, priority, counts and state."""
    below = snapshot.work_of(row.id)
    done = sum(one.status == "done" for one in below)
    state, says = state_of(snapshot, row, below)
    colour = STATUS_COLOUR[state]
    is_epic = snapshot.is_epic(row)
    counts = (f"{done}/{len(below)}" if below[0].id != row.id else "empty") if is_epic else ""
    right: list[Span | str] = [
        (
            f"P{row.priority}" if width >= _ROOM_FOR_PRIORITY else "",
            "strong" if row.priority == 0 else "muted",
        ),
        (f"{counts:>6}", "muted"),
        " " * (2 - max(0, len(says) - _WORD_COLUMNS)),
        (f"{glyph(state)} ", f"*{colour}"),
        (f"{says:<{_WORD_COLUMNS}}", colour),
    ]
    if width < _ROOM_FOR_WORDS:
        right = [(f"{counts} ", "muted"), (glyph(state), f"*{colour}")]
    box: tuple[Span, ...] = (("[", "faint"), ("x" if is_chosen else " ", "*focus"), ("] ", "faint"))
    title = "muted" if state == "blocked" else "*fg" if is_epic else "fg"
    return line(*box, (f"{row.id:<{ids}}", "muted"), "  ", (row.title, title), right=right, key=row.id)


def state_of(snapshot: Snapshot, row: TaskRow, below: Sequence[TaskRow]) -> tuple[str, str]:
    """Returns the glyph's name and the word for how an epic stands."""
    if any(one.id in snapshot.sessions for one in below):
        return "working", "running"
    asked = {one.standing.task.id for one in snapshot.inbox}
    if row.id in asked or any(one.id in asked for one in below):
        return "reviewing", "for you"
    if snapshot.graph.is_blocked(row):
        blockers = snapshot.graph.open_blockers(row, 1)
        return "blocked", f"after {blockers[0]}" if blockers else "blocked"
    left = next(filter(None, map(snapshot.left, below)), None)
    if left is not None:
        return "pending", left
    if any(snapshot.graph.is_ready(one, snapshot.around) for one in below):
        return "pending", "ready"
    if any(one.is_begun for one in below):
        return "agent-review", "in progress"
    return ("blocked", "waits") if any(one.is_open for one in below) else ("done", "all closed")
