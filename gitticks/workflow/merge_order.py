"""The order in which approved work is merged: dependencies first, then what conflicts with nothing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
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
