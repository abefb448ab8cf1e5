"""`gt ask`, `gt complete` and `gt handoff`, for agents in their workspace."""

from __future__ import annotations

import click

from gitticks.actions.context import Context
from gitticks.actions.handover import (
    ask_question,
    complete_task,
    current_session,
    handoff_text,
    request_complete,
    request_handoff,
    request_question,
    write_handoff,
)
from gitticks.actions.task_lookup import CHARACTERS_TO_DECIDE, find_task_to_change
from gitticks.cli.decisions import finish_approval
from gitticks.cli.options import Completes, command, task_argument
from gitticks.cli.writing import (
    check_text,
    moved_words,
    print_change,
    print_request,
    read_text,
    read_text_file,
    split_words,
    words_argument,
)
from gitticks.errors import UsageError


@command("ask", 'gt ask "Which tone: friendly or formal?"')
@click.argument("words", metavar="[ID] QUESTION", nargs=-1, shell_complete=Completes("task", "-"))
def ask_command(context: Context, *, words: tuple[str, ...]) -> None:
    """Ask a person a question.

    The task waits for the answer. `-` reads the question from stdin.
    """
    named, typed = split_words(context, words)
    session = current_session(context, named)
    if session is not None:
        request = request_question(session, read_text(typed, "the question") or "")
        print_request(context, session, request, "question passed on to a person; end your turn")
        return
    task_id = find_task_to_change(context, named)
    ask_question(context, task_id, read_text(typed, "the question") or "")
    print_change(context, task_id, "asked, awaits input")


@command("complete", "gt complete")
@task_argument(required=False)
def complete_command(context: Context, *, task: str | None) -> int:
    """Hand off the work for review.

    `## Handoff` must be written, and the quality gates must pass in the workspace.
    """
    session = current_session(context, task)
    if session is not None:
        words = "handed off to the runner, which checks it; end your turn"
        print_request(context, session, request_complete(session), words)
        return 0
    before, after = complete_task(context, find_task_to_change(context, task, least=CHARACTERS_TO_DECIDE))
    return finish_approval(context, after, moved_words(before, after), is_left=False)


@command("handoff", 'gt handoff --done "keeps the path; test added" --uncertain "old bookmarks"')
@words_argument
@click.option("--done", metavar="TEXT", help="What is finished.")
@click.option("--remaining", metavar="TEXT", help="What is left to do.")
@click.option("--decisions", metavar="TEXT", help="What was decided, and why.")
@click.option("--uncertain", metavar="TEXT", help="What you are not sure about.")
def handoff_command(
    context: Context,
    *,
    words: tuple[str, ...],
    file: str | None,
    **four: str | None,
) -> None:
    """Write the hand-off.

    Give a text, `-` for stdin, a file, or the four parts. It replaces an existing hand-off.
    """
    parts = check_text(handoff_text(four))
    named, typed = split_words(context, words, has_text=bool(parts) or file is not None)
    if sum(map(bool, (parts, file, typed))) > 1:
        raise UsageError("the hand-off is given twice", hint="give a text, `--file`, or the four parts")
    session = current_session(context, named)
    task_id = find_task_to_change(context, named) if session is None else None
    text = parts or read_text_file(file) or read_text(typed) or ""
    if session is not None:
        said = "hand-off written; `gt complete` hands off the work"
        print_request(context, session, request_handoff(session, text), said)
    elif task_id is not None:
        write_handoff(context, task_id, text)
        print_change(context, task_id, "hand-off written")
