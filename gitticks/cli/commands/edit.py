"""`gt edit`."""

from __future__ import annotations

import click

from gitticks.actions.changing import find_task_to_change
from gitticks.actions.context import Context
from gitticks.actions.editing import finish_edit, start_edit
from gitticks.cli.decisions import finish_approval
from gitticks.cli.editor import write_in_editor
from gitticks.cli.options import Command, json_option, pass_context, task_argument
from gitticks.cli.writing import moved_words, print_change


@click.command("edit", cls=Command, examples=("gt edit k7f2",))
@task_argument(required=False)
@json_option
@pass_context
def command(context: Context, *, task: str | None, as_json: bool) -> int:
    """Open a task in your editor.

    The file opens at its first problem, if it has one. Text and fields are taken as you leave them; a changed
    status, verdict or awaiting is a request that the gates decide about.
    """
    return edit_task(context, task, as_json=as_json)


def edit_task(context: Context, task: str | None, *, as_json: bool) -> int:
    """Opens a task in the person's editor, takes up what was changed, and says what became of it."""
    task_id = find_task_to_change(context, task, may_be_broken=True)
    draft = start_edit(context, task_id)
    if not write_in_editor(context, draft):
        print_change(context, task_id, "not changed", as_json=as_json)
        return 0
    edited = finish_edit(context, task_id, draft)
    before, after = edited.before or edited.after, edited.after
    is_moved = (before.status, before.awaiting) != (after.status, after.awaiting)
    words = "fixed" if edited.before is None else moved_words(before, after) if is_moved else "changed"
    return finish_approval(context, after, words, is_left=before.is_merging, as_json=as_json)
