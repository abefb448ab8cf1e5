"""`gt cancel`."""

from __future__ import annotations

import click

from gitticks.actions.context import Context
from gitticks.cli.options import Command, json_option, pass_context, task_argument
from gitticks.cli.writing import print_change, read_text


@click.command("cancel", cls=Command, examples=('gt cancel k7f2 "the page is gone"',))
@task_argument()
@click.argument("reason", required=False)
@json_option
@pass_context
def command(context: Context, *, task: str, reason: str | None, as_json: bool) -> None:
    """Give a task up.

    Its file and its branch stay; `gt reopen` takes it up again.
    """
    from gitticks.actions.changing import find_task_to_change
    from gitticks.actions.lifecycle import cancel_task
    from gitticks.cli.render import warn

    context.require_person("cancel a task")
    task_id = find_task_to_change(context, task)
    moved = cancel_task(context, task_id, read_text(reason, "the reason"))
    print_change(context, task_id, "cancelled", as_json=as_json)
    if moved.orphans:
        warn(f"`{task_id}` leaves open children: {', '.join(moved.orphans)}")
