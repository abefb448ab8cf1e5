"""In which order approved work is merged: nothing before what it waits for, and what is in nobody's way first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from gitticks.model.ids import TaskId


class Waiting(NamedTuple):
    """A task that waits to be merged: when it was approved, as text that sorts, and the tasks that it waits for."""

    id: TaskId
    approved: str
    after: tuple[TaskId, ...] = ()


def merge_order(waiting: Sequence[Waiting], conflicts: Iterable[tuple[TaskId, TaskId]] = ()) -> list[TaskId]:
    """Returns the tasks in the order in which they are merged.

    Of those whose turn it may be the one with the fewest conflicts with others that wait comes first, so that a merge
    sends as few as possible back; then the one approved first. A cycle keeps nobody out.

    Args:
        waiting: the tasks.
        conflicts: pairs of them that conflict.
    """
    counts = Counter(one for pair in conflicts for one in pair)
    left = sorted(waiting, key=lambda one: (counts[one.id], one.approved, one.id))
    order: list[TaskId] = []
    while left:
        ids = {one.id for one in left}
        first = next((one for one in left if not ids.intersection(one.after)), left[0])
        left.remove(first)
        order.append(first.id)
    return order
