"""Inherited blockers, deferrals and epics, computed once per ancestor."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, NamedTuple

from gitticks.model.ids import TaskId

if TYPE_CHECKING:
    from gitticks.model.task_row import AnyTask


class Above(NamedTuple):
    """What the descendants of `owner` inherit from it and from its ancestors.

    `epic` is the nearest open epic, `waits` whether it or an ancestor is waiting for a person, `until` the latest day
    that one of them is deferred to, `owners` itself if it has open blockers of its own, with these, `more` the next
    ancestor that has any. In a cycle of parents everything is inherited from all tasks in it: `owners` are all of them
    that have open blockers, the nearest from `owner` upwards at `first`, and nothing is above.
    """

    owner: TaskId | None
    epic: TaskId | None = None
    waits: bool = False
    until: date | None = None
    owners: Sequence[tuple[TaskId, tuple[TaskId, ...]]] = ()
    more: Above | None = None
    first: int = 0
    is_in_cycle: bool = False

    @property
    def is_free(self) -> bool:
        """True if nothing has to be waited for."""
        return not self.owners and self.more is None

    @property
    def waited_for(self) -> Above | None:
        """Returns the nearest, itself or an ancestor, with open blockers of its own."""
        return self if self.owners else self.more

    def blocked_owners(self) -> Iterator[tuple[TaskId, tuple[TaskId, ...]]]:
        """Yields, from here upwards and once around a cycle, each task with open blockers of its own, and those."""
        above: Above | None = self
        while above is not None:
            yield from above.owners[above.first :]
            yield from above.owners[: above.first]
            above = above.more


NOTHING_ABOVE = Above(None)


class Inheritance:
    """What all tasks are passed on, found out as it is asked for: by open tasks, for a closed one keeps nobody."""

    def __init__(
        self, tasks: Mapping[TaskId, AnyTask], waits_for: Callable[[AnyTask], Iterator[TaskId]]
    ) -> None:
        self._tasks = tasks
        self._waits_for = waits_for
        self._above: dict[TaskId, Above] = {}

    def above(self, task: AnyTask) -> Above:
        """Returns what a task is passed on; its own share comes back to it where parents run in a cycle."""
        return self.below(task.parent)

    def below(self, parent: TaskId | None) -> Above:
        """Returns what all tasks directly below a parent are passed on."""
        if parent is None:
            return NOTHING_ABOVE
        if parent not in self._above:
            self._look_up(parent)
        return self._above[parent]

    def _look_up(self, task_id: TaskId) -> None:
        """Fills in what a task and its ancestors pass on, each looked at once, however many are below it."""
        way: list[TaskId] = []
        on_the_way: set[TaskId] = set()
        here: TaskId | None = task_id
        while here is not None and here not in on_the_way and here not in self._above:
            task = self._tasks.get(here)
            if task is None or not task.is_open:
                break
            way.append(here)
            on_the_way.add(here)
            here = task.parent
        if here is not None and here in on_the_way:
            self._go_around(way[way.index(here) :])
            del way[way.index(here) :]
        above = NOTHING_ABOVE if here is None else self._above.setdefault(here, NOTHING_ABOVE)
        for one in reversed(way):
            above = self._handed_down(self._tasks[one], above)
            self._above[one] = above

    def _handed_down(self, task: AnyTask, above: Above) -> Above:
        days = [day for day in (task.defer_until, above.until) if day is not None]
        blockers = tuple(self._waits_for(task))
        return Above(
            task.id,
            task.id if task.is_epic else above.epic,
            waits=above.waits or task.awaiting is not None,
            until=max(days, default=None),
            owners=((task.id, blockers),) if blockers else (),
            more=above.waited_for,
        )

    def _go_around(self, cycle: Sequence[TaskId]) -> None:
        """Fills in what the tasks of a cycle of parents pass on, in one go around."""
        tasks = [self._tasks[one] for one in cycle]
        open_blockers = {task.id: tuple(self._waits_for(task)) for task in tasks}
        owners = [(owner, blockers) for owner, blockers in open_blockers.items() if blockers]
        waits = any(task.awaiting is not None for task in tasks)
        until = max((task.defer_until for task in tasks if task.defer_until is not None), default=None)
        epic = next((task.id for task in tasks if task.is_epic), None)
        first = len(owners)
        for task in reversed(tasks):
            epic = task.id if task.is_epic else epic
            first -= bool(open_blockers[task.id])
            self._above[task.id] = Above(
                task.id, epic, waits, until, owners=owners, first=first, is_in_cycle=True
            )
