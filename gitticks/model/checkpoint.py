"""A checkpoint: the state of a workspace that `gt resume` can go back to, when one is due, and its number."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import datetime
from enum import StrEnum
from functools import reduce
from typing import NamedTuple

from gitticks.model.ids import TaskId
from gitticks.model.task import NOTHING_SPENT, Usage


class Cause(StrEnum):
    """Why a checkpoint was made."""

    ITERATIONS = "iterations"
    MERGE = "merge"


class Checkpoint(NamedTuple):
    """What a workspace held and what had been spent in it.

    `workspace` is the task or the epic that it is of, `number` counts up within it: the iteration, unless that number
    was taken. `task` was worked on, `usage` is what each task of the workspace had taken, `completed` are the tasks of
    the epic that were done, `scratchpad` the learnings. `head` is the commit that the work had come to, and `commit`
    the same, or a commit beside the branch that also holds what was uncommitted.
    """

    workspace: TaskId
    number: int
    at: datetime
    cause: Cause
    task: TaskId
    epic: TaskId | None
    usage: Mapping[TaskId, Usage]
    completed: tuple[TaskId, ...]
    scratchpad: str
    head: str
    commit: str

    @property
    def id(self) -> str:
        """Returns `k7f2-14`."""
        return checkpoint_id(self.workspace, self.number)

    @property
    def total(self) -> Usage:
        """Returns what all tasks of the workspace had taken."""
        return reduce(Usage.plus, self.usage.values(), NOTHING_SPENT)

    @property
    def has_uncommitted(self) -> bool:
        """True if there was work that was not committed."""
        return self.commit != self.head


def checkpoint_id(workspace: TaskId, number: int) -> str:
    """Returns `k7f2-14`."""
    return f"{workspace}-{number}"


def is_due(before: int, after: int, every: int) -> bool:
    """True if a workspace's iterations passed a multiple of `every`."""
    return after // every > before // every


def next_number(iteration: int, taken: Collection[int]) -> int:
    """Returns the number of a new checkpoint: its iteration, unless as high a one was given out before."""
    return max(1, iteration, *(number + 1 for number in taken))


def nearest_number(wanted: int, there: Iterable[int]) -> int | None:
    """Returns the number that is nearest to one that is not there, of two the lower."""
    return min(there, key=lambda number: (abs(number - wanted), number), default=None)
