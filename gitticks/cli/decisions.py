"""Shared by commands that decide about tasks: which are meant, and what became of each."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from shlex import quote
from typing import NamedTuple, TypeVar

import click

from gitticks.actions.context import Context
from gitticks.actions.derived_state import standing_now
from gitticks.actions.task_lookup import CHARACTERS_TO_DECIDE, find_tasks_to_decide
from gitticks.cli.failures import tell
from gitticks.cli.json import print_tasks, task_text
from gitticks.cli.options import Completes, keep_typed
from gitticks.cli.render import PrintingError, discard, hint
from gitticks.cli.writing import print_change
from gitticks.errors import Exit, GitticksError, UsageError, first_of
from gitticks.model.ids import ALPHABET, LETTERS, TaskId, is_valid_id
from gitticks.model.status import Awaiting, Status
from gitticks.model.task import Task
from gitticks.runner.liveness import takes_work_at
from gitticks.store.index import Index, open_index
from gitticks.store.task_ids import named, nearest_id

R = TypeVar("R")
_SHOWN_TASKS = 3


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
        NotFoundError: one of the tasks is unknown; nothing was applied for any.
        UsageError: the last word may be meant as a task, or a text of several words has no quotes.
    """
    *names, last = words
    if message is not None or not names:
        return find_tasks_to_decide(context, words), message
    with open_index(context.repository) as index:
        known = [is_valid_id(word) and word in index.find_ids(word) for word in words]
        if not known[-1]:
            refuse_id(index, last, f"`gt {_command()} {names[0]} -m {quote(last)}`")
            if len(names) > 1 and not any(known[1:]):
                raise UsageError(
                    f"there is no task `{names[1]}`",
                    hint=f'put a text of several words in quotes: `gt {_command()} {names[0]} -m "…"`',
                )
    return (
        (find_tasks_to_decide(context, words), None)
        if known[-1]
        else (find_tasks_to_decide(context, names), last)
    )


def refuse_id(index: Index, text: str, as_text: str) -> None:
    """Refuses a text that is a task's id, the beginning of one, nearly one, or spelled as only ids are."""
    if not is_valid_id(text) or len(text) < CHARACTERS_TO_DECIDE:
        return
    found, has_digit = index.find_ids(text), any(char.isdigit() for char in text)
    near = nearest_id(index, text) if has_digit else None
    meant = text if text in found else found[0] if len(found) == 1 else near if not found else None
    if meant is not None:
        raise UsageError(
            f"`{text}` may be meant as the task {named(index, TaskId(meant))}",
            hint=f"use `{meant}` for the task, {as_text} for the text",
        )
    is_spelled = has_digit and text[0] in LETTERS and not text.strip(ALPHABET)
    if is_spelled and len(text) in map(len, index.find_ids("")):
        raise UsageError(f"there is no task `{text}`", hint=f"use {as_text} for the text")


def _command() -> str:
    return str(click.get_current_context().info_name)


class Decided(NamedTuple):
    """What became of a task: `lines` of words that follow its id, the next command, and the exit code."""

    task: Task
    lines: tuple[str, ...]
    hint: str | None = None
    code: int = Exit.DONE


def finish_approval(context: Context, task: Task, words: str, *, is_left: bool) -> int:
    """Merges a task now if it is approved, and says what became of it, as `merge_now`; returns the exit code."""
    return print_decided(context, merge_now(context, task, words, is_left=is_left))


def merge_now(context: Context, task: Task, words: str, *, is_left: bool) -> Decided:
    """Merges a task if it is approved, unless a run does, and returns what became of it.

    With `is_left` the merge is left to a run or `gt merge`.
    """
    from gitticks.actions.verdict import clear_unmerged, merge_approved

    if not task.is_merging:
        clear_unmerged(context, task)
        is_by_hand = task.status is Status.REVIEWING and task.awaiting is Awaiting.WORK
        by_hand = (
            f"`git merge {task.branch}` on `{task.base}` merges it, and `gt status` then closes the task"
            if task.pr is None or not task.is_offered
            else f"merge {task.pr}; `gt sync` then closes the task"
        )
        return Decided(task, (words,), by_hand if is_by_hand else None)
    merged = None if is_left else merge_approved(context, task.id)
    if merged is None:
        is_coming = not is_left or takes_work_at(context.repository.own_place)
        later = (
            "`gt status` shows it" if is_coming else f"`gt merge {task.id}` or the next `gt run` merges it"
        )
        return Decided(task, ("approved; merging",), later)
    if merged.is_done:
        return Decided(task, merged.lines)
    again = f"`gt merge {task.id}` tries again" if merged.is_waiting else f"`gt show {task.id}`"
    return Decided(task, merged.lines, again, Exit.FAILED)


def print_decided(context: Context, decided: Decided) -> int:
    """Prints what became of a task, with its title, and returns the exit code."""
    _warn_of_others(context, decided.task)
    if context.as_json:
        print_change(context, decided.task.id, "")
        return decided.code
    *before, last = decided.lines
    for line in (*before, f"{last} · {decided.task.title}"):
        print_change(context, decided.task.id, line)
    if decided.hint is not None:
        hint(decided.hint)
    return decided.code


def _warn_of_others(context: Context, task: Task) -> None:
    """Warns of the open tasks that go on without a task that was cancelled: its children, and those that it blocked."""
    if task.status is not Status.CANCELLED:
        return
    with open_index(context.repository) as index:
        freed = [f"`{one.id}`" for one in index.listed(open_only=True) if task.id in one.blocked_by]
        children = [one.id for one in index.children(task.id) if one.is_open]
    if children:
        context.warnings.append(f"`{task.id}` leaves open children: {', '.join(children)}")
    if freed:
        wait = "waits" if len(freed) == 1 else "wait"
        context.warnings.append(f"{first_of(freed, _SHOWN_TASKS)} no longer {wait} for `{task.id}`")


def decide_each(context: Context, ids: Sequence[TaskId], decide: Callable[[TaskId], Decided]) -> int:
    """Decides on tasks one after the other, each a change of its own, and says what became of each.

    One that fails keeps none of the others back; the exit code is that of the first failure.
    """
    if len(ids) == 1:
        return print_decided(context, decide(ids[0]))

    code: int = Exit.DONE
    unprinted: PrintingError | None = None
    done: list[TaskId] = []
    for task_id in ids:
        try:
            decided = decide(task_id)
            done.append(task_id)
            if context.as_json:
                _warn_of_others(context, decided.task)
            failed = decided.code if context.as_json else print_decided(context, decided)
        except PrintingError as error:
            unprinted = error  # the others are to be decided on all the same
            failed = decided.code
        except BrokenPipeError:  # nor does a reader who left (`| head -1`) keep them back
            discard(sys.stdout)
            failed = decided.code
        except GitticksError as error:
            keep_typed(context, error, task_id)
            message = error.message if task_id in error.message else f"`{task_id}`: {error.message}"
            failed = tell(["--json"] if context.as_json else [], message, error.hint, error.exit_code)
        code = code or failed
    if unprinted is not None:
        raise unprinted
    if context.as_json:
        print_tasks(task_text(standing_now(context, task_id)) for task_id in done)
    return code
