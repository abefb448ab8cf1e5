"""`gt ask`."""

from __future__ import annotations

import click

from gitticks.actions.changing import find_task_to_change
from gitticks.actions.context import Context
from gitticks.actions.handover import ask_question, current_session, request_question
from gitticks.cli.options import Command, Completes, json_option, pass_context
from gitticks.cli.writing import print_change, print_request, read_text, split_words


@click.command("ask", cls=Command, examples=('gt ask "Which tone: friendly or formal?"',))
@click.argument("words", metavar="[ID] QUESTION", nargs=-1, shell_complete=Completes("task", "-"))
@json_option
@pass_context
def command(context: Context, *, words: tuple[str, ...], as_json: bool) -> None:
    """Ask a person a question.

    The task waits for the answer. `-` reads the question from stdin.
    """
    named, typed = split_words(context, words)
    session = current_session(context, named)
    if session is not None:
        request = request_question(session, read_text(typed, "the question") or "")
        print_request(session, request, "question left for a person; end your turn", as_json=as_json)
        return
    task_id = find_task_to_change(context, named)
    ask_question(context, task_id, read_text(typed, "the question") or "")
    print_change(context, task_id, "asked, awaits input", as_json=as_json)
