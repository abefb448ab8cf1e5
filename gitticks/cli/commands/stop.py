"""`gt stop`."""

from __future__ import annotations

import click

from gitticks.actions.changing import CHARACTERS_TO_DECIDE
from gitticks.actions.context import Context
from gitticks.cli.options import Command, pass_context, task_argument
from gitticks.cli.render import hint, say


@click.command("stop", cls=Command, examples=("gt stop", "gt stop k7f2"))
@task_argument(required=False)
@pass_context
def command(context: Context, *, task: str | None) -> None:
    """Stop the run, or one task's agent.

    Without an ID the run ends after its running iterations. With one, its agent is stopped and the task is left
    alone in this clone until `gt run ID`. What was done stays.
    """
    from gitticks.actions.run import stop_run, stop_task

    if task is None:
        stop_run(context)
        say("the run ends after its running iterations")
        return
    task_id = context.resolve(task, least=CHARACTERS_TO_DECIDE)
    was_alive = stop_task(context, task_id)
    say(f"{task_id}  {'its agent is being stopped' if was_alive else 'is not started any more'}")
    hint(f"`gt run {task_id}` takes it up again")
