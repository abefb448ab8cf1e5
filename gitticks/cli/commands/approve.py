"""`gt approve`."""

from __future__ import annotations

import click

from gitticks.actions.context import Context
from gitticks.cli.options import Command, json_option, pass_context, task_argument
from gitticks.cli.writing import STDIN, agent_name, kept, moved_words, print_change, read_text
from gitticks.errors import Exit
from gitticks.model.task import Task


@click.command("approve", cls=Command, examples=("gt approve k7f2", 'gt approve k7f2 "nice, thank you"'))
@task_argument(completes="awaiting")
@click.argument("note", required=False)
@click.option("--no-wait", is_flag=True, help="Leave the merge to a run or `gt merge`.")
@json_option
@pass_context
def command(context: Context, *, task: str, note: str | None, no_wait: bool, as_json: bool) -> int:
    """Approve what a task awaits, and merge it.

    What you approve is what the task awaits now; if that changes meanwhile, nothing is approved.
    """
    from gitticks.actions.changing import find_task_to_change
    from gitticks.actions.verdict import approve_task, look_at
    from gitticks.cli.merging import finish_approval

    context.require_person("give a verdict")
    task_id = find_task_to_change(context, task)
    seen = look_at(context, task_id)
    text = read_text(note, "the note")
    with kept(context, text if note == STDIN else None):
        judged = approve_task(context, task_id, text, seen)
    if judged.is_repeated and not judged.after.is_merging:
        print_change(context, task_id, _when_approved(judged.after), as_json=as_json)
        return Exit.DONE
    words = (
        _given_back(context, judged.after)
        if judged.after.is_open
        else moved_words(judged.before, judged.after)
    )
    return finish_approval(context, judged.after, words, is_left=no_wait, as_json=as_json)


def _when_approved(task: Task) -> str:
    when = f" since {task.closed:%Y-%m-%d %H:%M} UTC" if task.closed is not None else ""
    return f"done already{when}, nothing was changed"


def _given_back(context: Context, task: Task) -> str:
    turn = (
        f", awaits {task.awaiting}" if task.awaiting is not None else f"; back to {agent_name(context, task)}"
    )
    return f"approved{turn}"
