"""Tells a task's folder that was moved back to where it belongs from a task that is removed and another that is new.

A folder in the wrong place is read by nobody, so putting it back must be possible, with the files as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from gitticks.git.objects import Change
from gitticks.git.staged import StagedChange
from gitticks.model.ids import TaskId, is_valid_id, task_folder

AnyChange = TypeVar("AnyChange", Change, StagedChange)

_IN_FOLDER = re.compile(r"(tasks/[^/]+/([^/]+))/(.+)")


def join_moves(changes: Iterable[AnyChange]) -> tuple[AnyChange, ...]:
    """Returns the changes with each file that left a wrong folder for the right one as one change there.

    Files that are the same as before are left out, but for the task's own.
    """
    given = tuple(changes)
    joined: list[AnyChange] = []
    gone: set[str] = set()
    for change in given:
        source = _source(change, given)
        if source is None:
            joined.append(change)
            continue
        gone.add(source.path)
        if source.old != change.new or change.path.endswith("/TASK.md"):
            joined.append(replace(change, old=source.old))
    return tuple(change for change in joined if change.path not in gone)


def home_of(path: str) -> str | None:
    """Returns where the folder of a file in the wrong place belongs; None for a file that lies right or nowhere."""
    match = _IN_FOLDER.fullmatch(path)
    if match is None or not is_valid_id(match[2]):
        return None
    home = task_folder(TaskId(match[2]))
    return None if home == match[1] else home


def _source(change: AnyChange, all_changes: Sequence[AnyChange]) -> AnyChange | None:
    """Returns the removal from a wrong folder that a new file in a right one stands for."""
    match = _IN_FOLDER.fullmatch(change.path)
    if change.old is not None or change.new is None or match is None or home_of(change.path) is not None:
        return None
    for other in all_changes:
        left = _IN_FOLDER.fullmatch(other.path)
        if other.new is not None or left is None or left[3] != match[3] or not _is_wrong(other.path):
            continue
        if home_of(other.path) == match[1] or other.old == change.new:
            return other
    return None


def _is_wrong(path: str) -> bool:
    match = _IN_FOLDER.fullmatch(path)
    return match is not None and (not is_valid_id(match[2]) or home_of(path) is not None)
