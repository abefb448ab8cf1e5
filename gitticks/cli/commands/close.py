"""`gt close`."""

from __future__ import annotations

import click

from gitticks.actions.context import Context
from gitticks.cli.options import Command, json_option, pass_context, task_argument
from gitticks.cli.writing import moved_words, read_text


@click.command("close", cls=Command, examples=('gt close k7f2 "fixed by hand in 3f2a91c"',))
@task_argument()
@click.argument("reason", required=False)
@click.option("--no-wait", is_flag=True, help="Leave a merge that follows to a run or `gt merge`.")
@json_option
@pass_context
def command(context: Context, *, task: str, reason: str | None, no_wait: bool, as_json: bool) -> int:
    """Say that you did a task yourself.

    Commits on its branch are merged as if they had been approved.
    """
    from gitticks.actions.changing import find_task_to_change
    from gitticks.actions.lifecycle import close_task
    from gitticks.cli.merging import finish_approval

    context.require_person("close a task")
    task_id = find_task_to_change(context, task)
    moved = close_task(context, task_id, read_text(reason, "the reason"))
    return finish_approval(
        context, moved.after, moved_words(moved.before, moved.after), is_left=no_wait, as_json=as_json
    )
