"""`gt handoff`."""

from __future__ import annotations

import click

from gitticks.actions.changing import find_task_to_change
from gitticks.actions.context import Context
from gitticks.actions.handover import HandoffParts, current_session, request_handoff, write_handoff
from gitticks.cli.options import Command, json_option, pass_context
from gitticks.cli.writing import (
    check_text,
    print_change,
    print_request,
    read_text,
    read_text_file,
    split_words,
    words_argument,
)
from gitticks.errors import UsageError


@click.command(
    "handoff",
    cls=Command,
    examples=('gt handoff --done "keeps the path; test added" --uncertain "old bookmarks"',),
)
@words_argument
@click.option("--done", metavar="TEXT", help="What is finished.")
@click.option("--remaining", metavar="TEXT", help="What is left to do.")
@click.option("--decisions", metavar="TEXT", help="What was decided, and why.")
@click.option("--uncertain", metavar="TEXT", help="What may be wrong.")
@json_option
@pass_context
def command(
    context: Context,
    *,
    words: tuple[str, ...],
    file: str | None,
    as_json: bool,
    done: str | None,
    remaining: str | None,
    decisions: str | None,
    uncertain: str | None,
) -> None:
    """Write the hand-off.

    As a text, from stdin with `-`, from a file, or by its four parts. It replaces one that is there.
    """
    parts = check_text(HandoffParts(done, remaining, decisions, uncertain).text)
    named, typed = split_words(context, words, has_text=bool(parts) or file is not None)
    if sum(map(bool, (parts, file, typed))) > 1:
        raise UsageError("the hand-off is given twice", hint="give a text, `--file` or the four parts")
    session = current_session(context, named)
    task_id = find_task_to_change(context, named) if session is None else None
    text = parts or read_text_file(file) or read_text(typed) or ""
    if session is not None:
        said = "hand-off written; `gt complete` hands the work over"
        print_request(session, request_handoff(session, text), said, as_json=as_json)
    elif task_id is not None:
        write_handoff(context, task_id, text)
        print_change(context, task_id, "hand-off written", as_json=as_json)
