"""`gt reject`."""

from __future__ import annotations

import click

from gitticks.actions.context import Context
from gitticks.cli.options import Command, json_option, pass_context, task_argument
from gitticks.cli.writing import STDIN, agent_name, kept, print_change, read_text


@click.command("reject", cls=Command, examples=('gt reject k7f2 "the test does not fail without the fix"',))
@task_argument(completes="awaiting")
@click.argument("feedback", required=False)
@json_option
@pass_context
def command(context: Context, *, task: str, feedback: str | None, as_json: bool) -> None:
    """Send a task back with feedback.

    `-` reads the feedback from stdin. A rejected question or escalation cancels the task.
    """
    from gitticks.actions.changing import find_task_to_change
    from gitticks.actions.verdict import look_at, reject_task

    context.require_person("give a verdict")
    task_id = find_task_to_change(context, task)
    seen = look_at(context, task_id)
    text = read_text(feedback, "the feedback")
    with kept(context, text if feedback == STDIN else None):
        after = reject_task(context, task_id, text, seen).after
    if not after.is_open:
        print_change(context, task_id, "cancelled", as_json=as_json)
        return
    with_what = " with your feedback" if text else ""
    print_change(
        context, task_id, f"rejected; back to {agent_name(context, after)}{with_what}", as_json=as_json
    )
