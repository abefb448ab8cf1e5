"""`gt board`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import repeat, zip_longest

from gitticks.actions.context import Context
from gitticks.actions.derived_state import Standing
from gitticks.actions.listing import RECENT_DAYS, Columns, sort_into_columns
from gitticks.actions.listing import Column as PhaseColumn
from gitticks.cli.at_once import JSON, Argument, ReadingCommand, Switch
from gitticks.cli.json import print_object, task_object
from gitticks.cli.render import GAP, NO_TASKS, Screen, Style, hint, say, screen
from gitticks.cli.table import Cell, Column, line_of, table_of
from gitticks.cli.text import cut, visible, width, wrap
from gitticks.cli.views.tasks import waits_for
from gitticks.model.status import Phase
from gitticks.model.task_row import TaskRow

MOST_CARDS = 10
NARROWEST_COLUMN = 16
_TITLE_LINES = 2


def answer(context: Context, *, epic: str | None, with_all: bool) -> None:
    """Show tasks as cards in columns.

    Open, in progress, in review, and closed in the last 14 days, each in the order in which they would be picked. With
    ID: what is below that epic. A narrow terminal gets the columns one below the other.
    """
    found = sort_into_columns(context, epic, with_closed=with_all)
    if context.as_json:
        _print_json(found)
    elif not context.index.has_tasks():
        say(NO_TASKS, err=True)
    else:
        on = screen()
        say(*board_lines(on, found.columns, None if with_all else MOST_CARDS))
        if on.is_terminal and not with_all and any(len(one.standings) > MOST_CARDS for one in found.columns):
            hint("`gt board --all` shows every card, `gt list --status in_progress` lists one column")


def _print_json(found: Columns) -> None:
    print_object(
        columns=[
            {
                "phase": column.phase,
                "left_out": column.left_out,
                "tasks": [task_object(one) for one in column.standings],
            }
            for column in found.columns
        ],
        recent_days=RECENT_DAYS,
    )


board_command = ReadingCommand(
    "board",
    answer,
    (
        Argument("epic", "[ID]"),
        Switch("with_all", ("-a", "--all"), "Show every card, including all closed tasks."),
        JSON,
    ),
    examples=("gt board", "gt board e0pc --all"),
)


def board_lines(on: Screen, columns: Sequence[PhaseColumn], most: int | None) -> list[str]:
    """Returns the lines of the board, with at most so many cards in a column, or with all."""
    room = (on.columns - len(GAP) * (len(columns) - 1)) // len(columns)
    if not on.is_terminal or room < NARROWEST_COLUMN:
        return [line for column in columns for line in _stacked(on, column, most)]
    stacks = [list(_cards(on, column, room, most)) for column in columns]
    return [line_of(on, cells, repeat(room)) for cells in zip_longest(*stacks, fillvalue=Cell(""))]


def _heading(column: PhaseColumn) -> str:
    count = len(column.standings)
    if column.phase == Phase.CLOSED and column.left_out:
        return f"closed recently {count}"
    return f"{column.phase.replace('_', ' ')} {count}"


def _cards(on: Screen, column: PhaseColumn, room: int, most: int | None) -> Iterator[Cell]:
    yield Cell(cut(_heading(column), room), Style.STRONG)
    for one in column.standings[:most]:
        yield from _card(on, one, room)
        yield Cell("")
    left = len(column.standings[most:]) if most is not None else 0
    if left:
        yield Cell(cut(f"… {left} more", room), Style.FAINT)


def _card(on: Screen, one: Standing[TaskRow], room: int) -> Iterator[Cell]:
    """Yields a card's lines: id and priority, with what it waits for if that has room there, and the title."""
    task, waits = one.task, waits_for(one)
    head = f"{on.glyph(task.status)} {task.id}{GAP}p{task.priority}"
    is_short = bool(waits) and width(head) + len(GAP) + width(waits) <= room
    style = Style.WAITS if task.awaiting else Style.FAINT if waits else Style.PLAIN
    yield Cell(cut(f"{head}{GAP}{waits}" if is_short else head, room), style)
    yield from map(Cell, _title(visible(task.title), room))
    if waits and not is_short:
        yield Cell(cut(waits, room), style)


def _title(text: str, room: int) -> list[str]:
    lines = wrap(" ".join(text.split()), room)
    if len(lines) > _TITLE_LINES:
        lines[_TITLE_LINES - 1 :] = [cut(" ".join(lines[_TITLE_LINES - 1 :]), room)]
    return lines


def _stacked(on: Screen, column: PhaseColumn, most: int | None) -> Iterator[str]:
    """Yields a column as a heading and one line for each task below it, whole where it is piped."""
    yield on.styled(_heading(column), Style.STRONG)
    shown = column.standings[:most] if on.is_terminal else column.standings
    tasks = [one.task for one in shown]
    styles = [Style.WAITS if task.awaiting else Style.FAINT for task in tasks]
    columns = [
        Column("id", [f"{on.glyph(task.status)} {task.id}" for task in tasks], ours=True),
        Column("pri", [f"p{task.priority}" for task in tasks], ours=True),
        Column("title", [task.title for task in tasks]),
        Column("waits", [waits_for(one) for one in shown], styles, ours=True),
    ]
    lines = table_of(on.narrower(len(GAP)), columns, flexible="title", with_heading=False)
    yield from (GAP + line for line in lines)
    if len(shown) < len(column.standings):
        yield f"{GAP}… {len(column.standings) - len(shown)} more"
