"""`gt unblock`."""

from __future__ import annotations

import click

from gitticks.actions.changing import find_task_to_change
from gitticks.actions.context import Context
from gitticks.actions.update import set_field
from gitticks.cli.options import Command, Completes, json_option, pass_context, task_argument
from gitticks.cli.writing import print_change


@click.command("unblock", cls=Command, examples=("gt unblock k7f2 m3xq",))
@task_argument()
@click.argument("others", metavar="OTHER…", nargs=-1, required=True, shell_complete=Completes("task*"))
@json_option
@pass_context
def command(context: Context, *, task: str, others: tuple[str, ...], as_json: bool) -> None:
    """Stop a task from waiting for others."""
    context.require_person("say what a task waits for")
    task_id = find_task_to_change(context, task)
    updated = set_field(context, task_id, "blocked_by", tuple(f"-{other}" for other in others))
    left = ", ".join(updated.after.blocked_by) or "nothing"
    words = f"waits for {left}" if updated.is_changed else f"waits for {left}, nothing was changed"
    print_change(context, task_id, words, as_json=as_json)
