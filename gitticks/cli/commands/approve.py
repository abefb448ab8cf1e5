"""`gt approve`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gitticks.actions.context import Context
from gitticks.actions.verdict import approve_task, look_at
from gitticks.cli.decisions import Decided, decide_each, merge_now, split_named, tasks_and_text
from gitticks.cli.options import Command, json_option, pass_context
from gitticks.cli.writing import STDIN, agent_name, kept, moved_words, read_text
from gitticks.model.task import Task

if TYPE_CHECKING:
    from gitticks.model.ids import TaskId


@click.command(
    "approve",
    cls=Command,
    examples=("gt approve k7f2", 'gt approve k7f2 "nice, thank you"', 'gt approve k7f2 m3xq -m "nice"'),
)
@tasks_and_text("NOTE", completes="awaiting")
@click.option("--no-wait", is_flag=True, help="Leave the merge to a run or `gt merge`.")
@json_option
@pass_context
def command(
    context: Context, *, words: tuple[str, ...], message: str | None, no_wait: bool, as_json: bool
) -> int:
    """Approve what tasks await, and merge them.

    What you approve is what a task awaits now; if that changes meanwhile, it is not approved.
    """
    context.require_person("give a verdict")
    ids, typed = split_named(context, words, message)
    seen = {task_id: look_at(context, task_id) for task_id in ids}
    text = read_text(typed, "the note")

    def decide(task_id: TaskId) -> Decided:
        with kept(context, text if typed == STDIN else None):
            judged = approve_task(context, task_id, text, seen[task_id])
        before, after = judged.before, judged.after
        if judged.is_repeated and not after.is_merging:
            return Decided(after, (_when_approved(after),))
        words = _given_back(context, after) if after.is_open else moved_words(before, after)
        return merge_now(context, after, words, is_left=no_wait)

    return decide_each(context, ids, decide, as_json=as_json)


def _when_approved(task: Task) -> str:
    when = f" since {task.closed:%Y-%m-%d %H:%M} UTC" if task.closed is not None else ""
    return f"done already{when}, nothing was changed"


def _given_back(context: Context, task: Task) -> str:
    turn = (
        f", awaits {task.awaiting}" if task.awaiting is not None else f"; back to {agent_name(context, task)}"
    )
    return f"approved{turn}"
