"""`gt defer`."""

from __future__ import annotations

import click

from gitticks.actions.changing import find_task_to_change
from gitticks.actions.context import Context
from gitticks.actions.update import set_field
from gitticks.cli.options import Command, json_option, pass_context, task_argument
from gitticks.cli.writing import print_change


@click.command("defer", cls=Command, examples=("gt defer k7f2 +3d", "gt defer k7f2 null"))
@task_argument()
@click.argument("day", metavar="DAY")
@json_option
@pass_context
def command(context: Context, *, task: str, day: str, as_json: bool) -> None:
    """Put a task off until a day.

    DAY is 2026-12-24, +3d, +2w, today, tomorrow or a weekday; `null` takes it back.
    """
    context.require_person("put a task off")
    task_id = find_task_to_change(context, task)
    until = set_field(context, task_id, "defer_until", day).after.defer_until
    words = f"put off to {until:%A} {until.isoformat()}" if until is not None else "no longer put off"
    print_change(context, task_id, words, as_json=as_json)
