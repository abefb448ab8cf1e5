"""Resolves abbreviated ids, and finds a free id for a new task."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from gitticks.errors import NotFoundError, UsageError
from gitticks.model.ids import WORK_BRANCH, TaskId, is_valid_id, new_id
from gitticks.safe_read import read_plain_text
from gitticks.store.layout import OCCUPANT_FILE

if TYPE_CHECKING:
    from datetime import datetime

    from gitticks.store.index import Index
    from gitticks.store.transaction import Transaction


SAMPLED_FOLDERS = 16
"""Of more folders of tasks only some are counted: how long an id must be depends on the order of magnitude."""

MOST_CANDIDATES = 8
_LONGEST_SHOWN = 70


def free_id(transaction: Transaction, at: datetime, random_number: Callable[[int], int]) -> TaskId:
    """Returns an id that no task has, for one that is made at this moment; `random_number` as in `new_id`."""
    names, folders_for_each = transaction.sample_of_names(SAMPLED_FOLDERS)
    after = transaction.task_changed_at(at)
    return new_id(transaction.has_task, names * folders_for_each, random_number, after)


def begun_in(index: Index, owner: TaskId) -> list[TaskId]:
    """Returns what a person works on in a workspace: its owner, or of an epic the tasks that they began there."""
    row = index.find(owner)
    if row is None or not row.is_epic:
        return [owner]
    below = index.below((owner,)).values()
    return [one.id for one in below if one.is_begun_by_hand and _is_on(index, one.id, owner)]


def worked_on_in(index: Index, owner: TaskId, git_dir: str) -> TaskId:
    """Returns the task that a workspace is for: its owner, or of an epic the one that was begun there, or begun last.

    That may have left the epic since. `git_dir` is the workspace's own git directory.
    """
    begun = begun_in(index, owner)
    if begun == [owner]:
        return owner
    try:
        occupant = read_plain_text(f"{git_dir}/{OCCUPANT_FILE}").strip()
    except OSError:
        occupant = ""
    row = index.find(TaskId(occupant)) if is_valid_id(occupant) else None
    if row is not None and row.is_begun_by_hand and _is_on(index, row.id, owner):
        return row.id
    return begun[0] if len(begun) == 1 else owner


def _is_on(index: Index, task_id: TaskId, owner: TaskId) -> bool:
    return index.task(task_id).branch == WORK_BRANCH + owner


class UnknownTaskError(NotFoundError):
    """No task's id begins with what was typed."""


def resolve_id(index: Index, text: str, least: int = 1) -> TaskId:
    """Returns the task whose id is `text`, or the only one whose id begins with it.

    `least` is how many characters of an id have to be typed.

    Raises:
        NotFoundError: there is none, with the nearest one in the hint; or several, with all of them in the hint.
        UsageError: it is the beginning of one id, and too short; or it is a text of several words.
    """
    found = index.find_ids(text) if is_valid_id(text) else []
    if text in found:
        return TaskId(text)
    if len(found) == 1:
        if len(text) < least:
            raise UsageError(
                f"`{text}` is too short: this needs at least {least} characters of an id",
                hint=f"did you mean {named(index, found[0])}?",
            )
        return found[0]
    if found:
        shown = ", ".join(named(index, task_id) for task_id in found[:MOST_CANDIDATES])
        more = f" and {len(found) - MOST_CANDIDATES} more" if len(found) > MOST_CANDIDATES else ""
        raise NotFoundError(f"`{text}` matches {len(found)} ids", hint=f"one of {shown}{more}")
    if " " in text.strip():
        raise UsageError(
            f"the id of the task is missing: `{_shown(text)}` is text",
            hint="the id comes first, then the text; `gt list` shows the ids",
        )
    near = nearest_id(index, text)
    hint = "`gt list` shows the tasks" if near is None else f"did you mean {named(index, near)}?"
    raise UnknownTaskError(f"there is no task `{_shown(text)}`", hint=hint)


def nearest_id(index: Index, text: str) -> TaskId | None:
    """Returns the id that looks most like a text, if any does."""
    from difflib import get_close_matches  # only where something went wrong

    near = get_close_matches(text.lower(), index.find_ids(""), n=1, cutoff=0.6)
    return TaskId(near[0]) if near else None


def named(index: Index, task_id: TaskId) -> str:
    """Returns a task's id with its title, for a message."""
    title = index.titles().get(task_id)
    return f"`{task_id}`" if title is None else f"`{task_id}` ({title})"


def _shown(text: str) -> str:
    if text.isprintable() and len(text) <= _LONGEST_SHOWN:
        return text
    return ascii(text)[1:-1][:_LONGEST_SHOWN]
