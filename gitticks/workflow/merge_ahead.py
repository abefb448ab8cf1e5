"""Merges that wait: in which order they are made, and what those that were checked ahead of their turn are worth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple

from gitticks.model.ids import TaskId

LONGEST_OVERTAKEN = timedelta(hours=1)
"""What is approved later than that after a task is never merged before it because of conflicts: nobody starves."""


class Waiting(NamedTuple):
    """A task that waits to be merged: when it was approved, and the tasks that it waits for."""

    id: TaskId
    approved: datetime
    after: tuple[TaskId, ...] = ()


def merge_order(waiting: Sequence[Waiting], conflicts: Iterable[tuple[TaskId, TaskId]] = ()) -> list[TaskId]:
    """Returns the tasks in the order in which they are merged.

    Of those whose turn it may be, and that were approved within an hour of the oldest, the one with the fewest conflicts
    with others that wait comes first, so that a merge sends as few as possible back; then the one approved first. A
    cycle keeps nobody out.
    """
    counts = Counter(one for pair in conflicts for one in pair)
    left = list(waiting)
    order: list[TaskId] = []
    while left:
        latest = min(one.approved for one in left) + LONGEST_OVERTAKEN
        left.sort(key=lambda one: (one.approved > latest, counts[one.id], one.approved, one.id))
        ids = {one.id for one in left}
        first = next((one for one in left if not ids.intersection(one.after)), left[0])
        left.remove(first)
        order.append(first.id)
    return order


class Candidate(NamedTuple):
    """A task that waits to be merged, at the commit that was approved."""

    task: TaskId
    head: str


class CheckedMerge(NamedTuple):
    """One merge that is checked: `candidate` onto a base with the tree `onto`, which gives `tree`, under a `policy`.

    The policy is everything of the settings that says how a merge is made and checked.
    """

    candidate: Candidate
    onto: str
    tree: str
    policy: object


def count_holding(
    ahead: Sequence[CheckedMerge],
    supposed: str | None,
    waiting: Collection[Candidate],
    merging: TaskId | None = None,
) -> int:
    """Returns how many of the merges that are checked ahead, from the first, may still be made as they are checked.

    Each is made onto the one before, so that with one all that follow fall. `supposed` is the tree that the base is
    about to get, None as long as nobody knows; `merging` the task whose turn it is, and whose own check counts as long
    as it has not been asked for.
    """
    count = 0
    for each in ahead:
        is_its_turn = each.candidate.task == merging
        if not is_its_turn and each.candidate not in waiting:
            break
        if not is_its_turn and supposed is not None and each.onto != supposed:
            break
        supposed = each.tree
        count += 1
    return count


def may_stand_for(ahead: CheckedMerge, asked: CheckedMerge, *, passed: bool) -> bool:
    """True if a check made ahead is the answer for a merge whose turn it is: the very same merge, and it passed.

    A check that failed may have failed because another ran beside it, so nobody is sent back for it.
    """
    return passed and ahead == asked
