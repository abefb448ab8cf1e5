"""`gt next`."""

from __future__ import annotations

import click

from gitticks.actions.context import Context
from gitticks.actions.picking import Reach, next_task
from gitticks.cli.json_output import print_task
from gitticks.cli.options import Command, awaiting_filter, complete_task, json_option, pass_context
from gitticks.cli.render import name_line, say, screen
from gitticks.errors import Exit
from gitticks.model.status import Awaiting


@click.command(
    "next",
    cls=Command,
    examples=("gt next", "gt next k7f2 --awaiting review,content", "gt next --standalone"),
)
@click.argument("epic", metavar="[EPIC]", required=False, shell_complete=complete_task)
@awaiting_filter
@click.option("--epic", "in_epics", is_flag=True, help="Look at tasks of epics.")
@click.option("--standalone", is_flag=True, help="Look at tasks without a parent.")
@click.option("--orphan", "orphans", is_flag=True, help="Look at tasks whose parent is closed.")
@json_option
@pass_context
def command(
    context: Context,
    *,
    epic: str | None,
    awaiting: frozenset[Awaiting] | None,
    in_epics: bool,
    standalone: bool,
    orphans: bool,
    as_json: bool,
) -> int:
    """Print the task that comes next.

    That is the one an agent would be started on, in EPIC where one is named. With --awaiting: the one that a person
    should answer first. If there is none: exit code 1, and nothing on stdout.
    """
    reach = Reach(epic=epic, in_epics=in_epics, standalone=standalone, orphans=orphans)
    found = next_task(context, reach, awaiting)
    if as_json:
        print_task(found)
    elif found is not None:
        say(name_line(screen(), found.task))
    else:
        say(_nothing(awaiting), err=True)
    return Exit.DONE if found is not None else Exit.FAILED


def _nothing(awaiting: frozenset[Awaiting] | None) -> str:
    if awaiting is not None:
        return "nothing awaits a person: `gt status` says what runs"
    return "nothing is ready: `gt list` says what each task waits for"
