"""`gt create`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from gitticks.actions.context import Context
from gitticks.cli.options import Command, Completes, json_option, pass_context
from gitticks.cli.writing import check_text, field_options, print_change, read_text, read_text_file, wishes_of

if TYPE_CHECKING:
    from gitticks.actions.create import NewTask
    from gitticks.model.task import Task


@click.command(
    "create",
    cls=Command,
    examples=('gt create "Fix login" -p 1 -l auth', "gt create - < idea.md"),
)
@click.argument("title", required=False, default="")
@click.option("-d", "--description", metavar="TEXT", help="What it is about; `-` reads it from stdin.")
@field_options
@click.option(
    "--script",
    metavar="FILE",
    shell_complete=Completes("file"),
    help="Shell commands that the script agent runs; `-` reads stdin.",
)
@click.option("--edit", "with_editor", is_flag=True, help="Write it in your editor first.")
@json_option
@pass_context
def command(
    context: Context,
    /,
    *,
    title: str,
    description: str | None,
    script: str | None,
    with_editor: bool,
    as_json: bool,
    **fields: Any,
) -> None:
    """Create a task and print its id.

    With `-` as the title, stdin's first line is the title and the rest the description.
    """
    from gitticks.actions.create import NewTask, create_task, require_creator

    require_creator(context)
    body = read_text(description, "the description") or ""
    if title == "-":
        title, _, rest = (read_text(title) or "").lstrip("\n").partition("\n")
        body = body or rest.strip("\n")
    new = NewTask(
        check_text(title, "the title"), wishes_of(fields), body, read_text_file(script, "the script")
    )
    task = _write_in_editor(context, new) if with_editor else create_task(context, new)
    if as_json:
        print_change(context, task.id, "", as_json=True)
    else:
        from gitticks.cli.render import say

        say(task.id)


def _write_in_editor(context: Context, new: NewTask) -> Task:
    from gitticks.actions.create import create_from_text, template
    from gitticks.actions.drafts import make_draft
    from gitticks.actions.editing import kept_on_error
    from gitticks.cli.editor import write_in_editor

    original = template(context, new)
    draft = make_draft(context, original, "TASK.md")
    if not write_in_editor(context, draft):
        return create_from_text(context, original)
    with kept_on_error(draft):
        return create_from_text(context, draft.read())
