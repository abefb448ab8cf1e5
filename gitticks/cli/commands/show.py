"""`gt show`."""

from __future__ import annotations

import click

from gitticks.actions.context import Context
from gitticks.actions.showing import ShownTask, show_task
from gitticks.cli.json_output import entry_object, event_object, print_task
from gitticks.cli.options import Command, json_option, pass_context, task_argument
from gitticks.cli.render import say, screen, warn
from gitticks.cli.task_page import page


@click.command("show", cls=Command, examples=("gt show k7f2",))
@task_argument(required=False)
@json_option
@pass_context
def command(context: Context, task: str | None, as_json: bool) -> None:
    """Show one task with its hand-off, review and history.

    Without ID: the task whose workspace this is.
    """
    shown = show_task(context, task)
    for warning in shown.warnings:
        warn(warning)
    if as_json:
        _print_json(shown)
    else:
        say(*page(screen(), shown, context.now))


def _print_json(shown: ShownTask) -> None:
    print_task(
        shown.standing,
        summary=shown.summary,
        sections=shown.sections,
        notes=[entry_object(entry) for entry in shown.notes],
        questions=[
            {
                "question": entry_object(pair.question),
                "answer": entry_object(pair.answer) if pair.answer else None,
            }
            for pair in shown.questions
        ],
        history=[event_object(event) for event in shown.history],
    )
