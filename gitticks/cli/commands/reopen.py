"""`gt reopen`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from gitticks.actions.changing import find_tasks_to_decide
from gitticks.actions.context import Context
from gitticks.actions.lifecycle import reopen_task
from gitticks.cli.decisions import Decided, decide_each
from gitticks.cli.options import Command, json_option, pass_context, task_argument
from gitticks.cli.writing import moved_words

if TYPE_CHECKING:
    from gitticks.model.ids import TaskId


@click.command("reopen", cls=Command, examples=("gt reopen k7f2",))
@task_argument(many=True, name="tasks", completes="closed")
@json_option
@pass_context
def command(context: Context, *, tasks: tuple[str, ...], as_json: bool) -> int:
    """Reopen closed tasks.

    They begin anew as pending; their hand-offs and reviews are kept in `rounds/`.
    """
    context.require_person("reopen a task")

    def decide(task_id: TaskId) -> Decided:
        moved = reopen_task(context, task_id)
        return Decided(moved.after, (moved_words(moved.before, moved.after),))

    return decide_each(context, find_tasks_to_decide(context, tasks), decide, as_json=as_json)
