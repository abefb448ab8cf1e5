"""Tasks that wait for one another in a circle, each with the command that takes one link out of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from gitticks.model.ids import TaskId
    from gitticks.model.queries import Graph
    from gitticks.model.queued import Queued

T = TypeVar("T", bound="Queued")


@dataclass(frozen=True, slots=True)
class Circle:
    """Tasks from one back to itself, and what to type."""

    tasks: tuple[TaskId, ...]
    mend: str

    @property
    def words(self) -> str:
        """Returns the circle in words; of a long one its beginning and its end."""
        from gitticks.model.graph import shown

        return shown(self.tasks)


def circles_of(graph: Graph[T]) -> Iterator[Circle]:
    """Yields at least one circle of each knot of open tasks that are in any.

    Only what has a blocker, or a parent and children, can close one, so a repository without links costs nothing.
    """
    tasks = graph.tasks.values()
    starts = [one.id for one in tasks if one.blocked_by or (one.parent and graph.children(one.id))]
    if not starts:
        return
    from gitticks.model.graph import find_circles

    for circle in find_circles(graph, starts):
        yield Circle(circle, _way_out(graph, circle))


def _way_out(graph: Graph[T], circle: tuple[TaskId, ...]) -> str:
    """Returns the command that takes one link out of a circle: a blocker of a task in it, or of an ancestor."""
    links = [
        (graph.tasks[waiting], blocker)
        for waiting, blocker in pairwise(circle)
        # Asking each of ten thousand parents in a circle for all of its ancestors would take minutes.
        if graph.tasks[waiting].parent != blocker and graph.tasks[blocker].parent != waiting
    ]
    for task, blocker in links:
        if blocker in task.blocked_by:
            return f"`gt unblock {task.id} {blocker}`"
    for task, blocker in links:
        for owner in graph.waiting_owners(task):
            if blocker in owner.blocked_by:
                return f"`gt unblock {owner.id} {blocker}`"
    return f"`gt update {circle[0]} --parent=null`"
