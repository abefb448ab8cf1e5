"""Joins a person's edit of a task's file with what others wrote while the editor was open."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from gitticks.model.task import Task
from gitticks.store.hand_edits import FREE_FIELDS, STATE_FIELDS

if TYPE_CHECKING:
    from gitticks.document.taskfile import TaskFile

Merge = Callable[[str, str, str], str | None]
"""Merges a text from its base, ours and theirs; None if they conflict."""


def merge_edit(before: TaskFile, edited: TaskFile, current: TaskFile, merge_text: Merge) -> TaskFile | None:
    """Returns the person's edit on top of what others wrote meanwhile; None if both changed the same.

    The state is never part of this: it stays that of `current`, and the edit's wishes are decided about afterwards.
    """
    task = _merged_fields(before.task, edited.task, current.task)
    if task is None:
        return None
    # The frontmatter's own text, comments and unknown keys, comes from the side that changed it.
    frame = edited if current.with_task(before.task).frontmatter.yaml == before.frontmatter.yaml else current
    if frame is current and edited.with_task(before.task).frontmatter.yaml != before.frontmatter.yaml:
        return None
    body = merge_text(before.frontmatter.body, edited.frontmatter.body, current.frontmatter.body)
    return None if body is None else frame.with_task(task).with_body(body)


def _merged_fields(before: Task, edited: Task, current: Task) -> Task | None:
    changed: dict[str, Any] = {}
    for name in (*FREE_FIELDS, *STATE_FIELDS):
        old, mine, theirs = (getattr(task, name) for task in (before, edited, current))
        if mine == old:
            continue
        if theirs not in (old, mine):
            return None
        changed[name] = mine
    return replace(current, **changed)
