"""`gt create`, `gt update`, `gt edit`, `gt note`, `gt block`, `gt unblock` and `gt defer`."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from shlex import quote
from typing import Any

import click

from gitticks.actions.context import Context
from gitticks.actions.field_values import read_word
from gitticks.actions.task_lookup import CHARACTERS_TO_DECIDE, find_task_to_change
from gitticks.actions.update import (
    Changes,
    NewTask,
    Updated,
    check_author,
    create_task,
    note_task,
    require_creator,
    set_field,
    update_task,
)
from gitticks.cli.options import STDIN, Completes, command, task_argument
from gitticks.cli.render import say
from gitticks.cli.writing import (
    check_text,
    field_options,
    moved_words,
    print_change,
    print_request,
    read_text,
    read_text_file,
    split_words,
    wishes_of,
    words_argument,
)
from gitticks.errors import Exit, UsageError
from gitticks.model.ids import TaskId
from gitticks.model.status import ActorKind, Status, Verdict
from gitticks.model.task import Task
from gitticks.store.task_ids import UnknownTaskError


@command("create", 'gt create "Fix login" -p 1 -l auth', "gt create - < idea.md")
@click.argument("title", required=False, default="")
@click.option("-d", "--description", metavar="TEXT", help="What it is about; `-` reads it from stdin.")
@field_options
@click.option(
    "--script",
    metavar="FILE",
    shell_complete=Completes("file"),
    help="Shell commands for the script agent; `-` reads stdin.",
)
@click.option(
    "--edit", "with_editor", is_flag=True, help="Write it in your editor, in a form that explains the fields."
)
def create_command(
    context: Context,
    /,
    *,
    title: str,
    description: str | None,
    script: str | None,
    with_editor: bool,
    **fields: Any,
) -> None:
    """Create a task and print its id.

    With `-` as the title, stdin's first line is the title and the rest the description. A form that --edit kept is
    read as a form.
    """
    require_creator(context)
    body = read_text(description, "the description") or ""
    wishes = wishes_of(fields)
    if title == STDIN:
        from gitticks.actions.editing import is_template, read_template  # seldom needed

        text = (read_text(title) or "").lstrip("\n")
        if is_template(text):
            written = read_template(context, text.encode(), "stdin")
            title, body, wishes = written.title, body or written.description, {**written.wishes, **wishes}
        else:
            title, _, rest = text.partition("\n")
            body = body or rest.strip("\n")
    new = NewTask(check_text(title, "the title"), wishes, body, read_text_file(script, "the script"))
    task = _write_in_editor(context, new) if with_editor else create_task(context, new)
    if context.as_json:
        print_change(context, task.id, "")
    else:
        say(task.id)


def _write_in_editor(context: Context, new: NewTask) -> Task:
    from gitticks.actions.drafts import make_draft
    from gitticks.actions.editing import TITLE_LINE, create_from_draft, nothing_written, template
    from gitticks.cli.editor import write_in_editor

    draft = make_draft(context, template(context, new), "TASK.md", line=TITLE_LINE)
    if not write_in_editor(context, draft):
        raise nothing_written()
    return create_from_draft(context, draft)


@command(
    "update",
    "gt update k7f2 -p 0 -l +auth --parent=null",
    "gt update k7f2 -d - < summary.md",
    "gt update k7f2 --status agent-review",
)
@task_argument(required=False)
@click.option("--title", metavar="TEXT", help="Another title.")
@click.option(
    "-d",
    "--description",
    metavar="TEXT",
    help="A new summary; `-` reads it from stdin. Sections are not changed: use `gt edit` for those.",
)
@click.option("--edit", "with_editor", is_flag=True, help="Open the task in your editor, as `gt edit` does.")
@field_options
@click.option(
    "--status",
    type=read_word(Status, "status"),
    metavar="STATUS",
    shell_complete=Completes("status"),
    help="Ask for a status; the gates decide.",
)
@click.option(
    "--verdict",
    type=read_word(Verdict, "verdict"),
    metavar="WORD",
    shell_complete=Completes("approved|rejected"),
    help="approved or rejected.",
)
@click.option("--note", metavar="TEXT", help="A note to add first; `-` reads it from stdin.")
@click.option("--no-wait", is_flag=True, help="Leave the merge to a run or to `gt merge`.")
def update_command(
    context: Context,
    /,
    *,
    task: str | None,
    title: str | None,
    description: str | None,
    with_editor: bool,
    status: Status | None,
    verdict: Verdict | None,
    note: str | None,
    no_wait: bool,
    **fields: Any,
) -> int:
    """Change a task's fields or ask for a status.

    All options are applied together or not at all. `=null` or an empty value clears a field, and an empty text the
    summary.
    """
    wishes = wishes_of(fields)
    if title is not None:
        wishes["title"] = check_text(title, "the title")
    text = read_text(description, "the description")
    changes = Changes(wishes, status, verdict, read_text(note, "the note"), text)
    if with_editor:
        if not changes.is_empty:
            raise UsageError(
                "`--edit` cannot be combined: change fields in the editor", hint="`gt edit` is the same"
            )
        return edit_task(context, task)
    if _requested_in_session(context, task, changes):
        return Exit.DONE
    if changes.is_empty:
        raise UsageError("no change was given", hint="`gt update --help`")
    least = CHARACTERS_TO_DECIDE if status or verdict else 1
    task_id = find_task_to_change(context, task, least=least)
    updated = update_task(context, task_id, changes)
    if not updated.is_changed:
        print_change(context, task_id, "nothing to change")
        return Exit.DONE
    return _finish(context, updated, changes, no_wait=no_wait)


def _finish(context: Context, updated: Updated, changes: Changes, *, no_wait: bool) -> int:
    from gitticks.cli.decisions import finish_approval

    before, after = updated.before, updated.after
    if (before.status, before.awaiting, before.is_merging) != (
        after.status,
        after.awaiting,
        after.is_merging,
    ):
        return finish_approval(
            context, after, moved_words(before, after), is_left=no_wait or before.is_merging
        )
    words = [
        name.replace("_", " ") for name in changes.wishes if getattr(before, name) != getattr(after, name)
    ]
    words += ["summary"] if updated.is_described else []
    words += ["note"] if changes.note else []
    is_left = before.claim is not None and after.claim is None
    told = [f"{', '.join(words)} changed"] if words else []
    told += ["left to agents"] if is_left else []
    print_change(context, after.id, "; ".join(told))
    return Exit.DONE


def _requested_in_session(context: Context, task: str | None, changes: Changes) -> bool:
    """Puts a status that an agent asks for into its outbox; False outside of a session with a mailbox."""
    if context.mailbox is None:
        return False
    from gitticks.actions.handover import check_status, current_session, request_note, request_status

    session = current_session(context, task)
    if session is None:
        return False
    if changes.needs_person or (changes.status is None and not changes.note):
        context.require_person("change a task's fields or give a verdict")
    if changes.status is not None:
        check_status(session, changes.status)  # before the note, which else would stay
    request = request_note(session, changes.note) if changes.note else None
    words = "note passed on to the runner"
    if changes.status is not None:
        request = request_status(session, changes.status)
        words = f"asks for {changes.status}; the runner decides in a moment, end your turn"
    if request is not None:
        print_request(context, session, request, words)
    return True


@command("edit", "gt edit k7f2")
@task_argument(required=False)
def edit_command(context: Context, *, task: str | None) -> int:
    """Open a task in your editor.

    The file opens at its first problem, if it has one. Text and fields are saved as you leave them; a changed status,
    verdict or awaiting is a request, decided by the gates. A text that was refused is kept, and the next edit of the
    task opens it again.
    """
    return edit_task(context, task)


def edit_task(context: Context, task: str | None) -> int:
    """Opens a task in the person's editor, applies what was changed, and says what became of it."""
    from gitticks.actions.editing import finish_edit, start_edit
    from gitticks.cli.decisions import finish_approval
    from gitticks.cli.editor import write_in_editor

    task_id = find_task_to_change(context, task, may_be_broken=True)
    draft = start_edit(context, task_id)
    if not write_in_editor(context, draft):
        print_change(context, task_id, "not changed")
        return 0
    edited = finish_edit(context, task_id, draft)
    before, after = edited.before or edited.after, edited.after
    is_moved = (before.status, before.awaiting) != (after.status, after.awaiting)
    words = "fixed" if edited.before is None else moved_words(before, after) if is_moved else "changed"
    return finish_approval(context, after, words, is_left=before.is_merging)


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
    with _note(context, task_id, typed, file) as text:
        note_task(context, task_id, text, kind=kind)
    print_change(context, task_id, "note added")


def _note(
    context: Context, task_id: TaskId, typed: str | None, file: str | None
) -> AbstractContextManager[str]:
    """Returns the note; one that was written in an editor is kept in a file if it cannot be added."""
    if file is not None or typed is not None:
        return nullcontext(read_text_file(file) or read_text(typed) or "")
    from gitticks.cli.editor import NOTE, head_of, is_typed_to, make_sheet, written_below

    if not is_typed_to() or context.world.in_session:
        return nullcontext("")
    about = head_of(context.store.task_file(task_id).task)
    return written_below(context, make_sheet(about, NOTE), "NOTE.md")


@command("block", "gt block k7f2 m3xq")
@task_argument()
@click.argument("others", metavar="OTHER…", nargs=-1, required=True, shell_complete=Completes("task*"))
def block_command(context: Context, *, task: str, others: tuple[str, ...]) -> None:
    """Make a task wait for others.

    ID is not started until every OTHER is done.
    """
    _change(context, task, [f"+{other}" for other in others], " already")


@command("unblock", "gt unblock k7f2 m3xq")
@task_argument()
@click.argument("others", metavar="OTHER…", nargs=-1, required=True, shell_complete=Completes("task*"))
def unblock_command(context: Context, *, task: str, others: tuple[str, ...]) -> None:
    """Remove blockers from a task."""
    _change(context, task, [f"-{other}" for other in others], "")


def _change(context: Context, task: str, wish: list[str], already: str) -> None:
    context.require_person("say what a task waits for")
    task_id = find_task_to_change(context, task)
    updated = set_field(context, task_id, "blocked_by", tuple(wish))
    words = f"waits for {', '.join(updated.after.blocked_by) or 'nothing'}"
    words += "" if updated.is_changed else f"{already}, nothing was changed"
    print_change(context, task_id, words)


@command("defer", "gt defer k7f2 +3d", "gt defer k7f2 null")
@task_argument()
@click.argument("day", metavar="DAY")
def defer_command(context: Context, *, task: str, day: str) -> None:
    """Defer a task until a date.

    DAY is 2026-12-24, +3d, +2w, today, tomorrow or a weekday; `null` removes it.
    """
    context.require_person("defer a task")
    task_id = find_task_to_change(context, task)
    until = set_field(context, task_id, "defer_until", day).after.defer_until
    words = f"deferred until {until:%A} {until.isoformat()}" if until is not None else "no longer deferred"
    print_change(context, task_id, words)
