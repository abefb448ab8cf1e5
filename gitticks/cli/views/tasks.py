"""Tasks in listings: one line each, with the open question if there is one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from gitticks.actions.context import Context
from gitticks.actions.derived_state import Standing
from gitticks.cli.render import (
    GAP,
    NO_TASKS,
    Screen,
    Style,
    age_in_short,
    status_style,
    status_word,
)
from gitticks.cli.table import Column, table_of
from gitticks.cli.text import called, cut, visible, width
from gitticks.model.ids import BOARD_FOLDER, TaskId
from gitticks.model.status import ANSWERED, Status

if TYPE_CHECKING:
    from gitticks.actions.merges_by_hand import FoundMerge
    from gitticks.model.notes import Entry
    from gitticks.model.task_row import AnyTask
    from gitticks.workflow.merging import LeftMerge

INDENT = " " * 8
NARROW, ROOM_FOR_AGE = 60, 72
_SHORTEST_QUESTION = 12
_LONGEST_REASON = 40
_MOST_BLOCKERS, _MOST_COUNTED = 3, 100
_BY_HAND = "work"
_BEGINS = (Status.PENDING, Status.WORKING)
_NO_DATES: Mapping[TaskId, str] = {}


def task_table(
    on: Screen,
    standings: Sequence[Standing[AnyTask]],
    now: datetime | None = None,
    reasons: Mapping[TaskId, str] | None = None,
    questions: Mapping[TaskId, tuple[Entry, ...]] | None = None,
    *,
    due: Mapping[TaskId, str] = _NO_DATES,
    overdue: Mapping[TaskId, str] = _NO_DATES,
    strangers: Mapping[TaskId, str] | None = None,
) -> Iterator[str]:
    """Yields one line for each task below a heading: glyph, id, priority, status, title and what it waits for.

    A terminal with room for it, and a `now`, get the age as well. `reasons` say why tasks are stuck. Of `questions` a
    terminal gets the first line of each, as far as all the rest leaves room for it. `due` dates follow
    what a task waits for, those that have passed, `overdue`, too. `strangers` are named.
    """
    tasks = [standing.task for standing in standings]
    glyphs = {status: f"{on.glyph(status)} " for status in {task.status for task in tasks}}
    states = [status_style(task) for task in tasks] if on.has_colour else Style.PLAIN
    urgency = (
        [Style.WAITS if task.awaiting else Style.FAINT for task in tasks] if on.has_colour else Style.PLAIN
    )
    by = {task_id: f" (by {name})" for task_id, name in (strangers or {}).items()}
    titles = (
        [f"{task.title}{by.get(task.id, '')}" for task in tasks] if by else [task.title for task in tasks]
    )
    columns = [
        Column("  id", [glyphs[task.status] + task.id for task in tasks], Style.STRONG, ours=True),
        Column("pri", [str(task.priority) for task in tasks], ours=True),
        Column("status", list(map(status_word, tasks)), states, ours=True),
        Column("title", titles),
        Column(
            "waits",
            [
                _waits(on, standing, reasons or {}, due, overdue)
                if reasons or due or may_wait or standing.task.is_epic or standing.task.id in overdue
                else ""
                for standing, may_wait in zip(standings, Standing.may_wait(standings), strict=True)
            ],
            urgency,
            ours=not reasons,
        ),
    ]
    if now is not None and on.is_terminal and on.columns >= ROOM_FOR_AGE:
        ages = [age_in_short(task.born, now) for task in tasks]
        columns.insert(3, Column("age", ages, Style.FAINT, ours=True))
    if questions and has_room_for_questions(on):
        columns[-1] = _with_questions(on, columns, [questions.get(task.id, ()) for task in tasks])
    return table_of(on, columns, flexible="title")


def has_room_for_questions(on: Screen) -> bool:
    """True if a table could show the beginning of a question."""
    return on.is_terminal and on.columns >= ROOM_FOR_AGE


def _with_questions(on: Screen, columns: Sequence[Column], asked: Sequence[Sequence[Entry]]) -> Column:
    """Returns the last column with the first line of each question, where the others leave it room at the right edge."""
    *others, waits = columns
    room = on.columns - sum(max(len(column.name), column.width) + len(GAP) for column in others)
    texts = []
    for text, questions in zip(waits.texts, asked, strict=True):
        first = (
            next((line for line in questions[0].text.splitlines() if line.strip()), "") if questions else ""
        )
        left = room - width(text) - len(": ")
        texts.append(
            f"{text}: {cut(visible(first.strip()), left)}" if first and left >= _SHORTEST_QUESTION else text
        )
    return Column(waits.name, texts, waits.styles)


def _waits(
    on: Screen,
    standing: Standing[AnyTask],
    reasons: Mapping[TaskId, str],
    due: Mapping[TaskId, str],
    overdue: Mapping[TaskId, str],
) -> str:
    """Returns what a task waits for, and why, and when it is due; on a terminal with the sign of what awaits a person."""
    waits, reason = waits_for(standing), reasons.get(standing.task.id)
    if standing.task.is_epic:
        waits = f"epic, {waits}" if waits else "epic"
    if standing.task.awaiting and on.is_terminal:
        waits = f"{on.flag} {waits}"
    if reason is not None:
        reason = cut(visible(reason), _LONGEST_REASON) if on.is_terminal else reason
        waits = f"{waits}: {reason}" if waits else reason
    day, past = due.get(standing.task.id), overdue.get(standing.task.id)
    when = f"overdue since {past}" if past else day and f"due {day}"
    return ", ".join(filter(None, [waits, when]))


def waits_for(standing: Standing[AnyTask]) -> str:
    """Returns in a few words what keeps a task from going on; empty if nothing does."""
    task = standing.task
    if standing.is_conflicted:
        return "conflict"
    if task.awaiting is not None:
        return str(task.awaiting)
    blockers = standing.some_blockers(_MOST_COUNTED)
    if blockers:
        shown = ", ".join(blockers[:_MOST_BLOCKERS])
        left = len(blockers) - _MOST_BLOCKERS
        or_more = "+" if len(blockers) == _MOST_COUNTED else ""
        return f"after {shown}{f' and {left}{or_more} more' if left > 0 else ''}"
    if task.defer_until is not None and standing.is_deferred:
        return f"until {task.defer_until.isoformat()}"
    if standing.is_held and task.is_open:
        return "held"
    epic = standing.holder
    if epic is not None:
        return f"like {epic.id}: {epic.awaiting or f'until {epic.defer_until}'}"
    return standing.left or ""


def resuming(task_id: TaskId, *, is_active: bool) -> str:
    """Returns what lets a held task go on, in the run that is active or in a new one."""
    return f"`gt run --add {task_id}`" if is_active else f"`gt run {task_id}`"


def indent_of(on: Screen) -> str:
    """Returns what is before the lines below a task's own: less on a narrow terminal."""
    return INDENT if on.columns > NARROW or not on.is_terminal else GAP


def answer_commands(task: AnyTask, to_merge: LeftMerge | None = None) -> list[str]:
    """Returns the commands that answer what a task awaits; `to_merge` is what a person is to merge of it."""
    gt = called()
    if to_merge is not None:
        return [visible(to_merge.command(gt)), f'{gt} close {task.id} "…"']
    if task.awaiting in ANSWERED:
        return [f'{gt} respond {task.id} "…"']
    if task.awaiting == _BY_HAND:
        can_begin = task.status in _BEGINS and not task.is_epic
        return [*([f"{gt} start {task.id}"] if can_begin else []), f"{gt} close {task.id}"]
    return [f"{gt} review {task.id}", f"{gt} approve {task.id}", f'{gt} reject {task.id} "…"']


BOARD_PREFIX = f"{BOARD_FOLDER}/"
"""What is before a path on the state branch where a person opens it."""


def or_no_tasks(context: Context, words: str) -> str:
    """Returns the words; in a repository without any task how to create the first one."""
    return words if context.index.has_tasks() else NO_TASKS


def joined(on: Screen, parts: Sequence[str], between: str) -> Iterator[str]:
    """Yields the parts on one line, or on several of a terminal that is too narrow; what has to be typed stays whole."""
    line = ""
    for part in parts:
        longer = f"{line}{between}{part}" if line else part
        if line and on.is_terminal and width(longer) > on.columns:
            yield f"{line}{between}".rstrip(" ·")
            longer = part
        line = longer
    if line:
        yield line


def merged_lines(merged: Iterable[FoundMerge]) -> Iterator[str]:
    """Yields what was found merged by hand, and what became of it."""
    for one in merged:
        yield f"{one.id}  found merged into {visible(one.base)} as {one.commit[:7]}: {one.outcome}"
