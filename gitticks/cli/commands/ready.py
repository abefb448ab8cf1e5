"""`gt ready`."""

from __future__ import annotations

import click

from gitticks.actions.context import Context
from gitticks.actions.picking import ready_tasks
from gitticks.cli.json_output import print_tasks
from gitticks.cli.options import Command, json_option, pass_context
from gitticks.cli.render import screen
from gitticks.cli.tasks_table import print_tasks_or


@click.command("ready", cls=Command, examples=("gt ready",))
@json_option
@pass_context
def command(context: Context, as_json: bool) -> None:
    """List what can be worked on now.

    In the order in which a run would begin them: nothing that awaits a person, is blocked, put off or in work.
    """
    found = ready_tasks(context)
    if as_json:
        print_tasks(found)
    else:
        print_tasks_or(screen(), found, "nothing is ready: `gt list` says what each task waits for")
