"""`gt current`."""

from __future__ import annotations

from gitticks.actions.context import Context
from gitticks.actions.current import InWork, current_tasks
from gitticks.cli.at_once import JSON, ReadingCommand
from gitticks.cli.json import print_object, task_object
from gitticks.cli.render import Screen, Style, elapsed, say, screen
from gitticks.cli.table import Cell, table
from gitticks.errors import Exit


def answer(context: Context, *, as_json: bool) -> int:
    """List what is being worked on in this clone."""
    found = current_tasks(context, with_json=as_json)
    if as_json:
        print_object(
            tasks=[
                {**task_object(one.standing), "session": one.session, "workspace": one.workspace}
                for one in found
            ]
        )
    elif found:
        say(*in_work_table(screen(), context, found))
    else:
        say("nothing is in work here: `gt run` starts agents, `gt start` begins a task by hand", err=True)
    return Exit.DONE


def in_work_table(
    on: Screen, context: Context, found: list[InWork], *, with_heading: bool = True
) -> list[str]:
    """Returns one line for each task in work: who works on it, for how long, and where."""
    rows: list[list[Cell | str]] = [
        [
            Cell(one.standing.task.id, Style.STRONG),
            one.session.agent if one.session else "by hand",
            one.session.role.value if one.session else "",
            elapsed((context.now - one.session.started).total_seconds()) if one.session else "",
            one.standing.task.title,
            _workspace(context, one),
        ]
        for one in found
    ]
    return table(
        on,
        ["id", "who", "as", "for", "title", "workspace"],
        rows,
        flexible="title",
        with_heading=with_heading,
    )


def _workspace(context: Context, one: InWork) -> str:
    """Returns where it is worked on, from the top of the checkout."""
    return (one.workspace or "").removeprefix(f"{context.repository.project_place}/")


command = ReadingCommand("current", answer, (JSON,), examples=("gt current",))
