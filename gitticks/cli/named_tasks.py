"""The words of `gt approve k7f2 m3xq -m "…"`: several tasks, and one text for all of them.

The text may also stand last without its option, as in `gt approve k7f2 "nice"`. A last word that may be meant for
another task is refused: that task would stay as it is, and its id would be the note of this one.
"""

from __future__ import annotations

from collections.abc import Callable
from shlex import quote
from typing import TYPE_CHECKING, TypeVar

import click

from gitticks.actions.changing import CHARACTERS_TO_DECIDE
from gitticks.cli.options import Completes
from gitticks.errors import UsageError
from gitticks.model.ids import TaskId, is_valid_id

if TYPE_CHECKING:
    from gitticks.actions.context import Context
    from gitticks.store.index import Index

R = TypeVar("R")


def tasks_and_text(metavar: str, completes: str = "task") -> Callable[[Callable[..., R]], Callable[..., R]]:
    """Adds the arguments ID... and a text, which arrive as `words`, and `-m` with the text, as `message`."""

    def add(function: Callable[..., R]) -> Callable[..., R]:
        words = click.argument(
            "words",
            metavar=f"ID... [{metavar}]",
            nargs=-1,
            required=True,
            shell_complete=Completes(f"{completes}*"),
        )
        what = metavar.lower()
        message = click.option(
            "-m", "--message", metavar=metavar, help=f"The {what}, for all tasks; `-` reads it from stdin."
        )
        return words(message(function))

    return add


def split_named(
    context: Context, words: tuple[str, ...], message: str | None
) -> tuple[tuple[TaskId, ...], str | None]:
    """Returns the tasks that were named, each once, to be changed, and the text as it was typed.

    Raises:
        NotFoundError: one of the tasks is unknown; nothing was taken up for any.
        UsageError: the last word may be a text and a task, or a text of several words has no quotes.
    """
    from gitticks.actions.changing import find_tasks_to_decide
    from gitticks.store.index import open_index

    *names, last = words
    if message is not None or not names:
        return find_tasks_to_decide(context, words), message
    with open_index(context.repository) as index:
        known = [word in index.find_ids(word) for word in words]
        if not known[-1]:
            refuse_id(index, last, f"`gt {_command()} {names[0]} -m {quote(last)}`")
            if len(names) > 1 and not any(known[1:]):
                raise UsageError(
                    f"there is no task `{names[1]}`",
                    hint=f'a text of several words stands in quotes: `gt {_command()} {names[0]} -m "…"`',
                )
    return (
        (find_tasks_to_decide(context, words), None)
        if known[-1]
        else (find_tasks_to_decide(context, names), last)
    )


def refuse_id(index: Index, text: str, as_text: str) -> None:
    """Refuses a text that is a task's id, the beginning of one, or nearly one.

    Args:
        index: where tasks are looked up.
        text: what was typed.
        as_text: how to say that it is meant as a text.

    Raises:
        UsageError: it is.
    """
    from gitticks.store.task_ids import named, nearest_id

    if not is_valid_id(text) or len(text) < CHARACTERS_TO_DECIDE:
        return
    found = index.find_ids(text)
    near = nearest_id(index, text) if any(char.isdigit() for char in text) else None
    meant = text if text in found else found[0] if len(found) == 1 else near if not found else None
    if meant is not None:
        raise UsageError(
            f"`{text}` may be meant as the task {named(index, TaskId(meant))}",
            hint=f"name `{meant}` for the task; {as_text} for the text",
        )


def _command() -> str:
    return str(click.get_current_context().info_name)
