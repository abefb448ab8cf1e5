"""Opens a task, or the commented template of a new one, in the user's editor, and applies the result.

What was edited is applied even if the task has changed since.

The editor works on a private copy, so that a half-written file is never on the branch, and what the person wrote is
kept in a file of its own whenever it cannot be taken.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from shlex import quote
from typing import NamedTuple

from gitticks.actions.changing import carry_out_edit, record, warn_of_leaving
from gitticks.actions.context import Context
from gitticks.actions.drafts import Draft, kept_draft, kept_on_error, make_draft
from gitticks.actions.edit_checks import warn_of_edit
from gitticks.actions.field_values import read_title, read_wishes, unknown_word
from gitticks.actions.update import NewTask, create_task, reading_for, script_text
from gitticks.document.frontmatter import Frontmatter, split
from gitticks.document.section_edits import remove_section
from gitticks.document.sections import Body
from gitticks.document.taskfile import TaskFile
from gitticks.document.texts import Source, decode
from gitticks.document.yaml_nodes import Node, Scalar, loose_node
from gitticks.document.yaml_scalars import render_text
from gitticks.errors import DocumentError, GitticksError, NotFoundError, RefusedError
from gitticks.model.event import Event, EventType
from gitticks.model.ids import TaskId, task_path
from gitticks.model.notes import Section
from gitticks.model.task import ENGINE_FIELDS, Task
from gitticks.store.hand_edits import HandEdit, check_fields
from gitticks.store.layout import check_place
from gitticks.store.merging.checkout import merge_saved
from gitticks.store.transaction import Transaction

_FIELDS = {
    "title": "One line that says what is to be done.",
    "type": "task, or epic: one that holds other tasks.",
    "priority": "0 critical, 1 high, 2 medium, 3 low, 4 backlog; also by word.",
    "labels": "Labels to find it by, such as: auth, ui",
    "parent": "The epic that it belongs to, by its id.",
    "blocked_by": "Tasks that have to be closed first, such as: k7f2, m3xq",
    "requires": "What a person has to give before it is done: approval, review or content.",
    "awaiting": "work, if it is for a person and not for an agent.",
    "assignee": "Who is responsible; me is you.",
    "reviewer": "Who should answer.",
    "due": "Due date: 2026-12-24, +3d, friday, …",
    "defer_until": "Do not start before that day.",
    "agent": "The agent that works on it, one of `gt agents`.",
    "model": "The agent's model.",
    "isolation": "Where the agent works: task, epic or none; an epic's counts for its tasks.",
}
TITLE_LINE = 6
_NAME = "TASK.md"
_LISTS = ("labels", "blocked_by")
_OPENING = (
    "# A new task. In this block, lines that begin with # and fields without a value are dropped.\n"
    "# If you leave everything as it is, or delete everything, no task is created.\n"
)
_ABOUT = "<!-- What is wrong or wanted, and why. Comments like this one are dropped. -->"
_MET_WHEN = "<!-- What has to be true when it is done, as a list. -->"
_STATE = ("id", "status", "verdict")
_HINTS = re.compile(rf"(?:{re.escape(_ABOUT)}|{re.escape(_MET_WHEN)})(?:\r?\n)*")
_TITLE = re.compile(r"""^title:[ \t]+([^"'|>\s].*)""", re.MULTILINE)


class Edited(NamedTuple):
    """A task before and after it was edited; `before` is None for a file that could not be read."""

    before: Task | None
    after: Task


def start_edit(context: Context, task_id: TaskId) -> Draft:
    """Returns a private copy of a task's file; what the person saved on the board already is part of it.

    Where an edit before was not taken, and can be joined with what the task is by now, it is that draft.
    """
    context.require_person("edit a task by hand")
    path = task_path(task_id)
    content = context.store.read(path)
    if content is None:
        raise NotFoundError(f"there is no task `{task_id}`", hint="`gt list` shows the tasks")
    broken_at = _broken_line(content)
    kept = kept_draft(context, task_id, _NAME)
    if kept is not None:
        text = kept.read()
        if text == content != kept.original:  # it was committed as it is
            kept.drop()
        elif kept.original == content or (
            # Nothing can be joined with a file that cannot be read.
            broken_at is None and merge_saved(path, kept.original, text, content) is not None
        ):
            return kept._replace(line=_broken_line(text))
        else:
            kept.close()
            context.warnings.once(
                "the task was changed in the same places since your last edit, which is kept in "
                f"`{kept.path}`; remove it once you need it no more"
            )
    return make_draft(context, content, _NAME, line=broken_at, task=task_id)


def _broken_line(content: bytes) -> int | None:
    try:
        TaskFile.parse(content, "TASK.md")
    except DocumentError as error:
        return error.line
    return None


def finish_edit(context: Context, task_id: TaskId, draft: Draft) -> Edited:
    """Applies what the editor left: text and fields as they are, status, verdict and awaiting by decision.

    On any error the draft stays where it is, and the error says so.
    """
    with kept_on_error(draft):
        edited = context.store.transact(
            lambda transaction: _take(context, transaction, task_id, draft), author=context.author
        )
    warn_of_leaving(context, edited.before, edited.after)
    return edited


def _take(context: Context, transaction: Transaction, task_id: TaskId, draft: Draft) -> Edited:
    path = task_path(task_id)
    edited = TaskFile.parse(draft.read(), str(draft.path))
    check_place(edited, task_id)
    now = transaction.read(path)
    if now is None:
        raise NotFoundError(f"`{task_id}` was removed in the meantime")
    try:
        current = TaskFile.parse(now, path)
        check_place(current, task_id)
    except DocumentError:
        return _fix(context, transaction, edited, is_newer=now != draft.original)
    if now != draft.original:
        before = TaskFile.parse(draft.original, path)
        check_fields(HandEdit(before, edited, current.task))
        merged = merge_saved(path, draft.original, edited.data, now)
        if merged is None and edited.task.verdict is not None:
            raise RefusedError(
                f"`{task_id}` changed while you edited it: your verdict was for what it was before"
            )
        if merged is None:
            raise GitticksError(f"`{task_id}` was changed in the same places while you edited it")
        edited = TaskFile.parse(merged, path)
    edit = HandEdit(current, edited, current.task)
    check_fields(edit)
    carry_out_edit(context, transaction, edit, context.actor)
    after = transaction.task_file(task_id)
    warn_of_edit(context, HandEdit(current, TaskFile.parse(after.data, path), None))
    return Edited(current.task, after.task)


def _fix(context: Context, transaction: Transaction, edited: TaskFile, *, is_newer: bool) -> Edited:
    """Writes a broken file's new text; what its fields were cannot be known, so they are taken as they are."""
    task = edited.task
    if is_newer:
        raise GitticksError(f"`{task.id}` was changed while you fixed it")
    if task.verdict is not None:
        raise RefusedError(
            f"`{task.id}` could not be read, so it is not clear what `verdict` answers",
            hint=f"leave it out, then `gt approve {task.id}`",
        )
    transaction.put_task(edited)
    event = Event(EventType.TEXT_CHANGED, context.now, context.actor, reason="the file could not be read")
    record(transaction, task.id, "fixed", event)
    return Edited(None, task)


def template(context: Context, new: NewTask) -> bytes:
    """Returns the text that an editor opens on, with what is known of the task already."""
    read_wishes(new.wishes, reading_for(context))
    title = new.title if _TITLE.fullmatch(f"title: {new.title}") else _shown(new.title)
    given = {"title": title, **{name: _shown(wish) for name, wish in new.wishes.items()}}
    fields = "".join(f"\n# {about}\n{name}: {given.get(name, '')}\n" for name, about in _FIELDS.items())
    parts = [f"---\n{_OPENING}{fields}---", _ABOUT, new.description.strip("\n")]
    if Section.ACCEPTANCE not in new.description:
        parts.append(f"## {Section.ACCEPTANCE}\n\n{_MET_WHEN}")
    if new.script is not None:
        parts.append(f"## {Section.SCRIPT}\n\n{script_text(new.script).rstrip()}")
    return ("\n\n".join(filter(None, parts)) + "\n").encode()


def _shown(wish: str | tuple[str, ...]) -> str:
    text = wish if isinstance(wish, str) else ", ".join(wish)
    return render_text(text) if text else ""


def is_template(text: str) -> bool:
    """True for a text that begins as the template does, and no title does."""
    return text.startswith("---\n")


def create_from_draft(context: Context, draft: Draft) -> Task:
    """Creates the task that an editor left in a draft, which stays where it is if that fails.

    Raises:
        GitticksError: nothing was written, or the text cannot be taken; its lines are named.
    """
    content = draft.read()
    if not content.strip() or _lines(content) == _lines(draft.original):
        draft.drop()
        raise nothing_written()
    try:
        with kept_on_error(draft):
            return create_task(context, read_template(context, content, str(draft.path)))
    except GitticksError as error:
        error.hint = f"{error.hint}; fix it there, then `gt create - < {quote(str(draft.path))}`"
        raise


def nothing_written() -> GitticksError:
    """Returns the error for a template that was left as it is."""
    return GitticksError(
        "the form was left unchanged or empty, so no task was created",
        hint='`gt create "Fix the login"` needs no editor',
    )


def _lines(content: bytes) -> list[bytes]:
    """Returns the lines without what editors take away or add when they save."""
    return [line.rstrip() for line in content.rstrip().splitlines()]


def read_template(context: Context, content: bytes, path: str) -> NewTask:
    """Returns the task that a filled in template describes."""
    # What a person types as a title is its text, colons and number signs too.
    text = _TITLE.sub(lambda found: f"title: {render_text(found[1].strip())}", decode(content, path), count=1)
    frontmatter = split(text.encode(), path)
    wishes = dict(_wishes(context, frontmatter))
    title = wishes.pop("title", "")
    if not isinstance(title, str) or not title.strip():
        found = frontmatter.tree.pair("title")
        place = 0 if found is None else found.start
        raise frontmatter.source.error("the title is empty", place, hint="write one line of text")
    # Without the template's comments and its section that nobody filled.
    body = Body(Source(_HINTS.sub("", frontmatter.body).strip("\n"), path), frontmatter.newline)
    if body.find(Section.ACCEPTANCE) and body.get(Section.ACCEPTANCE) is None:
        body = remove_section(body, Section.ACCEPTANCE)
    return NewTask(title, wishes, body.text)


def _wishes(context: Context, frontmatter: Frontmatter) -> Iterator[tuple[str, str | tuple[str, ...]]]:
    """Yields each field with what was typed, once it was read without an error."""
    reading = reading_for(context)
    for pair in frontmatter.tree.pairs:
        name = pair.key.text
        if isinstance(pair.value, Scalar) and not pair.value.text:
            continue
        try:
            if name in ENGINE_FIELDS or name in _STATE:
                raise RefusedError(
                    f"`{name}` can only be written by gitticks", hint="a new task is pending: delete the line"
                )
            if name not in _FIELDS:
                raise unknown_word("field", name, _FIELDS)
            wish = _typed(name, pair.value)
            if name == "title":
                read_title("".join(wish))
            else:
                read_wishes({name: wish}, reading)
        except GitticksError as error:
            raise frontmatter.source.error(error.message, pair.start, hint=error.hint) from None
        yield name, wish


def _typed(name: str, value: Node) -> str | tuple[str, ...]:
    typed = loose_node(value)
    if isinstance(typed, str):
        return (typed,) if name in _LISTS else typed
    if name in _LISTS and isinstance(typed, list):
        words = tuple(word for word in typed if isinstance(word, str))
        if len(words) == len(typed):
            return words
    raise GitticksError(f"`{name}` is not one value", hint="write it on one line")
