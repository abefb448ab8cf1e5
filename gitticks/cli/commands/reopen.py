"""`gt reopen`."""

from __future__ import annotations

import click

from gitticks.actions.context import Context
from gitticks.cli.options import Command, json_option, pass_context, task_argument
from gitticks.cli.writing import moved_words, print_change


@click.command("reopen", cls=Command, examples=("gt reopen k7f2",))
@task_argument(completes="closed")
@json_option
@pass_context
def command(context: Context, *, task: str, as_json: bool) -> None:
    """Take a closed task up again.

    It begins anew as pending; its hand-off and review are kept in `rounds/`.
    """
    from gitticks.actions.changing import find_task_to_change
    from gitticks.actions.lifecycle import reopen_task

    context.require_person("reopen a task")
    task_id = find_task_to_change(context, task)
    moved = reopen_task(context, task_id)
    print_change(context, task_id, moved_words(moved.before, moved.after), as_json=as_json)
