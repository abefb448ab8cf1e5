"""`gt next` and `gt ready`."""

from __future__ import annotations

from typing import Any

from gitticks.actions.context import Context
from gitticks.actions.picking import next_task, ready_tasks
from gitticks.cli.at_once import JSON, Argument, ReadingCommand, Switch
from gitticks.cli.filters import AWAITING, REVIEWER, parse_kinds
from gitticks.cli.json import print_task, print_tasks, task_text
from gitticks.cli.render import NOTHING_AWAITS, NOTHING_READY, name_line, say, say_all, screen
from gitticks.cli.views.tasks import or_no_tasks, task_table
from gitticks.errors import Exit
from gitticks.model.status import Awaiting


def answer_next(
    context: Context,
    *,
    awaiting: frozenset[Awaiting] | None,
    reviewer: str | None,
    **reach: Any,
) -> int:
    """Print the next task.

    The one that an agent would start next, in EPIC if one is named. With --awaiting: the one that a person should
    answer first. If there is none, exits with 1 and prints nothing on stdout.
    """
    if reviewer is not None and awaiting is None:
        awaiting = parse_kinds("")
    found = next_task(context, awaiting, reviewer=reviewer, **reach)
    if context.as_json:
        print_task(None if found is None else task_text(found))
    elif found is not None:
        say(name_line(screen(), found.task))
    else:
        say(NOTHING_AWAITS if awaiting else or_no_tasks(context, NOTHING_READY), err=True)
    return Exit.DONE if found is not None else Exit.FAILED


next_command = ReadingCommand(
    "next",
    answer_next,
    (
        Argument("epic", "[EPIC]"),
        AWAITING,
        REVIEWER,
        Switch("in_epics", ("--epic",), "Only tasks of epics."),
        Switch("standalone", ("--standalone",), "Only tasks without a parent."),
        Switch("orphans", ("--orphan",), "Only tasks whose parent is closed."),
        JSON,
    ),
    examples=("gt next", "gt next k7f2 --awaiting review,content", "gt next --standalone"),
)


def answer_ready(context: Context) -> None:
    """List tasks that can be worked on now.

    In the order in which a run would start them. Tasks that await a person, are blocked or deferred, or are being
    worked on are left out.
    """
    found = ready_tasks(context)
    if context.as_json:
        print_tasks(map(task_text, found))
    else:
        say_all(
            task_table(screen(), found, context.now), "" if found else or_no_tasks(context, NOTHING_READY)
        )


ready_command = ReadingCommand("ready", answer_ready, (JSON,), examples=("gt ready",))
