"""`gt start`."""

from __future__ import annotations

import click

from gitticks.actions.changing import find_or_take_up_task
from gitticks.actions.context import Context
from gitticks.cli.json import print_object
from gitticks.cli.options import Command, json_option, pass_context, task_argument
from gitticks.cli.render import hint, say


@click.command("start", cls=Command, examples=('cd "$(gt start k7f2)"',))
@task_argument()
@json_option
@pass_context
def command(context: Context, *, task: str, as_json: bool) -> None:
    """Begin a task by hand in a workspace of its own.

    Prints the workspace's path. Runners leave the task alone until it is handed over with `gt complete`.
    """
    from gitticks.actions.start import start_task

    started = start_task(context, find_or_take_up_task(context, task))
    if as_json:
        print_object(id=started.task.id, path=started.path, branch=started.task.branch)
        return
    say(str(started.path))
    hint(f"commit there, `gt handoff` says what you did, `gt complete` hands {started.task.id} over")
