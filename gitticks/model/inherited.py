"""Inherited blockers, deferrals and epics, computed once per ancestor."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import date
from typing import TYPE_CHECKING, NamedTuple

from gitticks.model.ids import TaskId

if TYPE_CHECKING:
    from gitticks.model.task_row import AnyTask


class Above(NamedTuple):
    """What the descendants of `owner` inherit from it and from its ancestors.

    `epic` is the nearest open epic, `waits` whether it or an ancestor is waiting for a person, `until` the latest day
    that one of them is deferred to, `blockers` are its own open ones, `more` the next ancestor that has any.
    """

    owner: TaskId | None
    epic: TaskId | None = None
    waits: bool = False
    until: date | None = None
    blockers: tuple[TaskId, ...] = ()
    more: Above | None = None

    @property
    def is_free(self) -> bool:
        """True if nothing has to be waited for."""
        return not self.blockers and self.more is None

    def blocked_owners(self) -> Iterator[Above]:
        """Yields, from here upwards, what has open blockers of its own."""
        above: Above | None = self
        while above is not None:
            if above.blockers:
                yield above
            above = above.more


NOTHING_ABOVE = Above(None)


class Inheritance:
    """What all tasks are passed on, found out as it is asked for: by open tasks, for a closed one keeps nobody.

    Where parents run in a cycle each passes on only what is its own.
    """

    def __init__(
        self, tasks: Mapping[TaskId, AnyTask], waits_for: Callable[[AnyTask], Iterator[TaskId]]
    ) -> None:
        self._tasks = tasks
        self._waits_for = waits_for
        self._above: dict[TaskId, Above] = {}

    def above(self, task: AnyTask) -> Above:
        """Returns what a task is passed on."""
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
        way: dict[TaskId, AnyTask] = {}
        here: TaskId | None = task_id
        while here is not None and here not in way and here not in self._above:
            task = self._tasks.get(here)
            if task is None or not task.is_open:
                break
            way[here] = task
            here = task.parent
        ids = list(way)
        cycle = frozenset(ids[ids.index(here) :] if here in way else ())
        above = NOTHING_ABOVE if here is None or cycle else self._above.setdefault(here, NOTHING_ABOVE)
        for one in reversed(ids):
            above = self._above[one] = self._handed_down(way[one], NOTHING_ABOVE if one in cycle else above)

    def _handed_down(self, task: AnyTask, above: Above) -> Above:
        days = [day for day in (task.defer_until, above.until) if day is not None]
        return Above(
            task.id,
            task.id if task.is_epic else above.epic,
            waits=above.waits or task.awaiting is not None,
            until=max(days, default=None),
            blockers=tuple(self._waits_for(task)),
            more=above if above.blockers else above.more,
        )
