"""The commented template that an editor opens for a new task, and how it is read back."""

from __future__ import annotations

import re
from collections.abc import Iterator
from shlex import quote
from typing import TYPE_CHECKING

from gitticks.actions.create import NewTask, create_task, script_text
from gitticks.actions.drafts import Draft, kept_on_error
from gitticks.actions.field_values import read_title, read_wishes, unknown_word
from gitticks.actions.update import reading_for
from gitticks.document.frontmatter import decode, split
from gitticks.document.section_edits import remove_section
from gitticks.document.sections import Body
from gitticks.document.texts import Source
from gitticks.document.yaml_nodes import Scalar, loose_node
from gitticks.document.yaml_scalars import render_text
from gitticks.errors import GitticksError, RefusedError
from gitticks.model.notes import Section
from gitticks.model.task import ENGINE_FIELDS

if TYPE_CHECKING:
    from gitticks.actions.context import Context
    from gitticks.document.frontmatter import Frontmatter
    from gitticks.document.yaml_nodes import Node
    from gitticks.model.task import Task

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
    "isolation": "Where the agent works: task, epic or none.",
}
TITLE_LINE = 6
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


def template(context: Context, new: NewTask) -> bytes:
    """Returns the text that an editor opens on, with what is known of the task already."""
    read_wishes(new.wishes, reading_for(context))
    title = new.title if _TITLE.fullmatch(f"title: {new.title}") else _shown(new.title)
    given = {"title": title, **{name: _shown(wish) for name, wish in new.wishes.items()}}
    fields = "".join(f"\n# {about}\n{name}: {given.get(name, '')}\n" for name, about in _FIELDS.items())
    return f"---\n{_OPENING}{fields}---\n\n{_body(new)}".encode()


def _shown(wish: str | tuple[str, ...]) -> str:
    text = wish if isinstance(wish, str) else ", ".join(wish)
    return render_text(text) if text else ""


def _body(new: NewTask) -> str:
    parts = [_ABOUT, new.description.strip("\n")]
    if Section.ACCEPTANCE not in new.description:
        parts.append(f"## {Section.ACCEPTANCE}\n\n{_MET_WHEN}")
    if new.script is not None:
        parts.append(f"## {Section.SCRIPT}\n\n{script_text(new.script).rstrip()}")
    return "\n\n".join(filter(None, parts)) + "\n"


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
        "nothing was written, so no task was created", hint='`gt create "Fix the login"` needs no editor'
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
        raise frontmatter.source.error(
            "the title is empty", _title_place(frontmatter), hint="write one line of text"
        )
    return NewTask(title, wishes, _without_hints(frontmatter))


def _title_place(frontmatter: Frontmatter) -> int:
    found = frontmatter.tree.pair("title")
    return 0 if found is None else found.start


def _wishes(context: Context, frontmatter: Frontmatter) -> Iterator[tuple[str, str | tuple[str, ...]]]:
    """Yields each field with what was typed, once it was read without an error."""
    reading = reading_for(context)
    for pair in frontmatter.tree.pairs:
        name = pair.key.text
        if isinstance(pair.value, Scalar) and not pair.value.text:
            continue
        try:
            _check_name(name)
            wish = _typed(name, pair.value)
            if name == "title":
                read_title("".join(wish))
            else:
                read_wishes({name: wish}, reading)
        except GitticksError as error:
            raise frontmatter.source.error(error.message, pair.start, hint=error.hint) from None
        yield name, wish


def _check_name(name: str) -> None:
    if name in ENGINE_FIELDS or name in _STATE:
        raise RefusedError(
            f"`{name}` can only be written by gitticks", hint="a new task is pending: delete the line"
        )
    if name not in _FIELDS:
        raise unknown_word("field", name, _FIELDS)


def _typed(name: str, value: Node) -> str | tuple[str, ...]:
    typed = loose_node(value)
    if isinstance(typed, str):
        return (typed,) if name in _LISTS else typed
    if name in _LISTS and isinstance(typed, list):
        words = tuple(word for word in typed if isinstance(word, str))
        if len(words) == len(typed):
            return words
    raise GitticksError(f"`{name}` is not one value", hint="write it on one line")


def _without_hints(frontmatter: Frontmatter) -> str:
    """Returns the text below the fields without the template's comments and its section that nobody filled."""
    text = _HINTS.sub("", frontmatter.body).strip("\n")
    body = Body(Source(text, frontmatter.path), frontmatter.newline)
    if body.find(Section.ACCEPTANCE) and body.get(Section.ACCEPTANCE) is None:
        body = remove_section(body, Section.ACCEPTANCE)
    return body.text
