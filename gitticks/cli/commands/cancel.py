"""`gt cancel`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gitticks.actions.context import Context
from gitticks.actions.lifecycle import cancel_task
from gitticks.cli.decisions import Decided, decide_each, split_named, tasks_and_text
from gitticks.cli.options import Command, json_option, pass_context
from gitticks.cli.writing import read_text

if TYPE_CHECKING:
    from gitticks.model.ids import TaskId


@click.command("cancel", cls=Command, examples=('gt cancel k7f2 "the page is gone"',))
@tasks_and_text("REASON")
@json_option
@pass_context
def command(context: Context, *, words: tuple[str, ...], message: str | None, as_json: bool) -> int:
    """Give up on tasks.

    An agent that works on one is stopped. Their files and branches stay; `gt reopen` takes them up again.
    """
    context.require_person("cancel a task")
    ids, typed = split_named(context, words, message)
    reason = read_text(typed, "the reason")

    def decide(task_id: TaskId) -> Decided:
        moved = cancel_task(context, task_id, reason)
        if moved.orphans:
            context.warnings.append(f"`{task_id}` leaves open children: {', '.join(moved.orphans)}")
        return Decided(moved.after, ("cancelled",))

    return decide_each(context, ids, decide, as_json=as_json)
