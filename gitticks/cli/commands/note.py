"""`gt note`."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from shlex import quote

import click

from gitticks.actions.context import Context
from gitticks.actions.task_lookup import find_task_to_change
from gitticks.actions.update import check_author, note_task
from gitticks.cli.editor import is_typed_to, note_sheet, written_below
from gitticks.cli.options import command
from gitticks.cli.writing import (
    STDIN,
    kept,
    print_change,
    print_request,
    read_text,
    read_text_file,
    split_words,
    words_argument,
)
from gitticks.errors import UsageError
from gitticks.model.ids import TaskId
from gitticks.model.status import ActorKind
from gitticks.store.task_ids import UnknownTaskError


@command("note", 'gt note k7f2 "The path is in the state parameter."')
@words_argument
@click.option(
    "--from",
    "author",
    type=click.Choice([ActorKind.HUMAN.value, ActorKind.AGENT.value]),
    help="Who it is from; by default an agent inside a session, otherwise a person.",
)
def note_command(context: Context, *, words: tuple[str, ...], file: str | None, author: str | None) -> None:
    """Add a note that the next agent reads.

    `-` reads the text from stdin. Without a text, your editor opens if this is a terminal. In a workspace the id is
    optional.
    """
    named, typed = split_words(context, words, has_text=file is not None)
    if file is not None and typed is not None:
        raise UsageError("the note is given twice, as TEXT and with `--file`", hint="leave out one of them")
    kind = ActorKind(author) if author else None
    check_author(context, kind)
    if context.mailbox is not None:
        from gitticks.actions.handover import (
            current_session,
            request_note,
        )  # loads what checks and sessions need

        session = current_session(context, named)
        if session is not None:
            request = request_note(session, read_text_file(file) or read_text(typed) or "")
            print_request(context, session, request, "note passed on to the runner")
            return
    try:
        task_id = find_task_to_change(context, named)
    except UnknownTaskError as error:
        if named is None or typed is not None or file is not None:
            raise
        raise UsageError(
            f"{error.message}, and there is no text: either the id or the text is missing",
            hint=f"`gt note ID {quote(named)}`, if that is the text; else {error.hint}",
        ) from error
    with _text(context, task_id, typed, file) as text:
        note_task(context, task_id, text, kind=kind)
    print_change(context, task_id, "note added")


def _text(
    context: Context, task_id: TaskId, typed: str | None, file: str | None
) -> AbstractContextManager[str]:
    """Returns the note, to be kept in a file by whoever fails to add it, unless it is somewhere else already."""
    if file is not None or typed is not None:
        text = read_text_file(file) or read_text(typed) or ""
        return kept(context, text) if STDIN in (file, typed) else nullcontext(text)
    if not is_typed_to() or context.world.in_session:
        return nullcontext("")
    return written_below(context, note_sheet(context.store.task_file(task_id).task), "NOTE.md")
