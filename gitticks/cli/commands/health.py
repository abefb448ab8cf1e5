"""`gt health`."""

from __future__ import annotations

import click

from gitticks.actions.context import Context
from gitticks.cli.json import print_object
from gitticks.cli.options import Command, json_option, pass_context
from gitticks.cli.render import ago, say, screen
from gitticks.cli.text import visible


@click.command("health", cls=Command, examples=("gt health",))
@json_option
@pass_context
def command(context: Context, *, as_json: bool) -> None:
    """Find dead sessions and finish what they left.

    A session is dead if its runner was killed. What its agent wrote is judged as if the runner had seen its end.
    """
    from gitticks.actions.run import check_health
    from gitticks.cli.views.run import RunLines

    health = check_health(context, (lambda _event: None) if as_json else RunLines(screen(), context.world))
    if as_json:
        print_object(run=health.run_is_alive, live=list(health.live), finished=list(health.finished))
        return
    for record in health.live:
        say(
            f"{record.task}  {visible(record.agent)}  {record.role}, started {ago(record.started, context.now)}"
        )
    for task_id in health.finished:
        say(f"{task_id}  its dead session was finished")
    if not health.live and not health.finished:
        say("no session is alive, and none is dead")
