"""`gt board`."""

from __future__ import annotations

from gitticks.actions.board_columns import RECENT_DAYS, Columns, sort_into_columns
from gitticks.actions.context import Context
from gitticks.cli.at_once import JSON, Argument, ReadingCommand, Switch
from gitticks.cli.render import NO_TASKS, hint, say, screen
from gitticks.cli.views.board import MOST_CARDS, board_lines
from gitticks.cli.views.tasks import warn_of_broken
from gitticks.errors import Exit


def answer(context: Context, *, epic: str | None, with_all: bool, as_json: bool) -> int:
    """Show tasks as cards in columns.

    Open, in progress, in review, and closed in the last 14 days, each in the order in which they would be picked. With
    ID: what is below that epic. A narrow terminal gets the columns one below the other.
    """
    found = sort_into_columns(context, epic, with_closed=with_all, with_json=as_json)
    warn_of_broken(found.broken)
    if as_json:
        _print_json(found)
    elif not found.has_tasks:
        say(NO_TASKS, err=True)
    else:
        on = screen()
        say(*board_lines(on, found.columns, None if with_all else MOST_CARDS))
        if on.is_terminal and not with_all and any(len(one.standings) > MOST_CARDS for one in found.columns):
            hint("`gt board --all` shows every card, `gt list --status in_progress` lists one column")
    return Exit.DONE


def _print_json(found: Columns) -> None:
    from gitticks.cli.json import print_object, task_object

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
