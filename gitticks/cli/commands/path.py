"""`gt path`."""

from __future__ import annotations

import click

from gitticks.actions.context import Context
from gitticks.actions.path import find_task_path
from gitticks.cli.json import print_object
from gitticks.cli.options import Command, json_option, pass_context, task_argument
from gitticks.cli.render import say


@click.command("path", cls=Command, examples=('$EDITOR "$(gt path k7f2)"',))
@task_argument(required=False)
@json_option
@pass_context
def command(context: Context, task: str | None, as_json: bool) -> None:
    """Print the path of a task's file.

    Without ID: of the task whose workspace this is.
    """
    path = find_task_path(context, task)
    if as_json:
        print_object(path=path)
    else:
        say(str(path))
