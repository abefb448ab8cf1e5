"""Rows of epics that run side by side: title and figures, who is at which task, where, and the last line said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from gitticks.actions.inbox import Asked
from gitticks.model.ids import WORK_BRANCH, TaskId
from gitticks.model.status import Role
from gitticks.model.task import SessionRecord
from gitticks.model.task_row import TaskRow
from gitticks.tui.messages import Snapshot
from gitticks.tui.theme import STATUS_COLOUR, glyph
from gitticks.tui.widgets.lines import Line, Span, line
from gitticks.tui.widgets.meters import meter
from gitticks.tui.widgets.tasks import age, state_of

_WIDE, _MEDIUM, _FOR_STATE = 90, 50, 60
_INDENT = "      "


class Running(NamedTuple):
    """An epic, or a task on its own, with what is below it, the sessions there and who is asked."""

    row: TaskRow
    below: tuple[TaskRow, ...]
    sessions: tuple[SessionRecord, ...]
    asked: tuple[Asked, ...]

    @property
    def done(self) -> int:
        """Returns how many of its tasks are done."""
        return sum(one.status == "done" for one in self.below)


def running(snapshot: Snapshot) -> list[Running]:
    """Returns the epics and single tasks that were started, in picking order."""
    found = []
    for row in snapshot.roots:
        below = tuple(snapshot.work_of(row.id))
        if row.is_begun or any(one.is_begun for one in below):
            ids = {row.id, *(one.id for one in below)}
            sessions = tuple(one for task_id, one in snapshot.sessions.items() if task_id in ids)
            asked = tuple(one for one in snapshot.inbox if one.standing.task.id in ids)
            found.append(Running(row, below, sessions, asked))
    return found


def rows(
    snapshot: Snapshot,
    epics: Sequence[Running],
    said: Mapping[TaskId, str],
    now: datetime,
    size: tuple[int, int],
) -> list[Line]:
    """Returns the rows for this width and height; `said` holds the last line of each agent at work.

    If not all of it fits, an agent or a task has one row.
    """
    width, height = size
    bodies = [_body(snapshot, one, said, now, width, is_short=False) for one in epics]
    is_short = sum(map(len, bodies)) + 2 * len(epics) - 1 > height
    if is_short:
        bodies = [_body(snapshot, one, said, now, width, is_short=True) for one in epics]
    found: list[Line] = []
    for number, (one, body) in enumerate(zip(epics, bodies, strict=True), 1):
        title = _title(snapshot, one, number, width)
        found += [title, *(part._replace(key=one.row.id) for part in body)]
        if not is_short:
            found.append(line())
    return found[:-1] if found and not is_short else found


def _title(snapshot: Snapshot, one: Running, number: int, width: int) -> Line:
    state, says = state_of(snapshot, one.row, one.below)
    colour = STATUS_COLOUR[state]
    details = [snapshot.details[row.id] for row in (one.row, *one.below) if row.id in snapshot.details]
    if one.row in one.below:
        details = details[1:]
    at_work = sum(each.role is Role.WORKER for each in one.sessions)
    iterations, cost = at_work + sum(each.iterations for each in details), sum(each.cost for each in details)
    right: list[Span | str] = []
    if width >= _WIDE and iterations:
        right.append((f"iteration {iterations:>2}  ", "muted"))
    if width >= _MEDIUM and cost:
        right.append((f"${cost:.2f}  ", "fg"))
    bar = max(6, min(20, width // 6))
    token = "good" if one.done == len(one.below) else colour
    right += [*meter(one.done, len(one.below), bar, token), (f"  {one.done} of {len(one.below)}", "muted")]
    if width >= _FOR_STATE:
        right.append((f"  {says:<9}", colour))
    sign = f"{number}" if number <= 9 else " "  # noqa: PLR2004 (there are nine such keys)
    left: tuple[Span | str, ...] = (
        (f"{sign}  ", "*focus"),
        (f"{glyph(state)} ", f"*{colour}"),
        (one.row.id, "muted"),
        "  ",
        (one.row.title, "*strong"),
    )
    return line(*left, right=right, key=one.row.id)


def _body(
    snapshot: Snapshot, one: Running, said: Mapping[TaskId, str], now: datetime, width: int, *, is_short: bool
) -> list[Line]:
    found: list[Line] = []
    dot = f" {glyph('dot')} "
    for session in one.sessions:
        row = snapshot.find(session.task)
        title = row.title if row is not None else ""
        verb = " reviews" if session.role.value == "reviewer" else ""
        who = f"{dot}{session.agent}{verb}{dot}{age(session.started, now)}"
        last = said.get(session.task, "")
        place = _place(snapshot, session.workspace) if width >= _FOR_STATE else ()
        if is_short:
            said_last = (f"  {glyph('in')} {last}" if last else "", "faint")
            found.append(line(_INDENT, (session.task, "muted"), (who, "muted"), said_last, right=place))
            continue
        is_beside = width >= _WIDE
        head = (_INDENT, (session.task, "muted"), "  ", title, (who, "muted"))
        found.append(line(*head, right=place if is_beside else ()))
        if place and not is_beside:
            found.append(line(_INDENT, *place))
        if last:
            found.append(line(_INDENT, (f"{glyph('in')} ", "busy"), (last, "muted")))
    for asked in one.asked:
        task = asked.standing.task
        workspace = snapshot.workspaces.get(task.id)
        place = _place(snapshot, workspace) if workspace and width >= _FOR_STATE else ()
        found.append(
            line(
                _INDENT,
                (f"{glyph('in')} waits for you: ", "waits"),
                (task.id, "muted"),
                "  ",
                (task.title, "waits"),
                right=place if width >= _WIDE else (),
            )
        )
        if place and width < _WIDE and not is_short:
            found.append(line(_INDENT, *place))
    if not found:
        state, says = state_of(snapshot, one.row, one.below)
        found.append(line(_INDENT, (f"{glyph('in')} {says}", STATUS_COLOUR[state])))
    return found


def _place(snapshot: Snapshot, workspace: str) -> tuple[Span, ...]:
    """Returns where work is done: the branch of its workspace, and the folder."""
    branch = next(
        (f"{WORK_BRANCH}{task} " for task, place in snapshot.workspaces.items() if place == workspace), ""
    )
    folder = workspace.removeprefix(f"{snapshot.project_place}/") if snapshot.project_place else workspace
    return ((f"{branch}in {folder}", "faint"),)
