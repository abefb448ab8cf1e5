"""`gt complete`."""

from __future__ import annotations

import click

from gitticks.actions.changing import CHARACTERS_TO_DECIDE, find_task_to_change
from gitticks.actions.context import Context
from gitticks.actions.handover import complete_task, current_session, request_complete
from gitticks.cli.decisions import finish_approval
from gitticks.cli.options import Command, json_option, pass_context, task_argument
from gitticks.cli.writing import moved_words, print_request


@click.command("complete", cls=Command, examples=("gt complete",))
@task_argument(required=False)
@json_option
@pass_context
def command(context: Context, *, task: str | None, as_json: bool) -> int:
    """Hand the work over for review.

    `## Handoff` must be written, and the quality gates must pass in the workspace.
    """
    session = current_session(context, task)
    if session is not None:
        words = "handed over to the runner, which checks and decides; end your turn"
        print_request(session, request_complete(session), words, as_json=as_json)
        return 0
    done = complete_task(context, find_task_to_change(context, task, least=CHARACTERS_TO_DECIDE))
    return finish_approval(
        context, done.after, moved_words(done.before, done.after), is_left=False, as_json=as_json
    )
