"""Finds the next task to pick without looking at all of them.

Candidates come in streams that are sorted by priority and age already, so each is read only as far as it takes to
know that nothing better can follow. Whether a task is ready, and which group it is in, is the graph's to say.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime
from itertools import chain, islice, takewhile
from operator import attrgetter
from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from gitticks.model.ids import TaskId
from gitticks.model.inherited import Above, Inheritance

if TYPE_CHECKING:
    from gitticks.model.task import Task  # noqa: F401 (named in a string)
    from gitticks.model.task_row import AnyTask


T = TypeVar("T", bound="AnyTask")

by_priority_and_age: Callable[[AnyTask], tuple[int, str, str]] = attrgetter("priority", "born", "id")
"""The key that sorts the most urgent and then the oldest task first."""
by_urgency: Callable[[AnyTask], tuple[int, str, str]] = attrgetter("priority", "waits_since", "id")
"""The key that sorts what awaits a person: by priority, then the longest asked."""


_NOTHING_LEFT: Mapping[TaskId, str] = {}
_NO_CARRIERS: Mapping[TaskId, TaskId] = {}


class Surroundings(NamedTuple):
    """What readiness depends on beside the tasks: the day, the time, and what this clone knows.

    `live` are tasks with a running session, `held` those that `gt stop` holds, `conflicted` those with a merge
    conflict that nobody has settled, `elsewhere` those that another clone has claimed. `left` says how the last session
    ended of tasks that it left unfinished.
    """

    today: date
    now: datetime
    live: Container[TaskId] = ()
    held: Container[TaskId] = ()
    conflicted: Container[TaskId] = ()
    left: Mapping[TaskId, str] = _NOTHING_LEFT
    elsewhere: Container[TaskId] = ()


class Group:
    """The order in which a runner looks for work."""

    CURRENT_EPIC = 1
    EPIC_IN_PROGRESS = 2
    EPIC = 3
    STANDALONE = 4
    ORPHAN = 5


class Graph(Generic[T]):
    """All tasks of a repository with the questions that need more than one of them.

    `unreadable` are tasks that there are, but whose files cannot be read: nobody knows whether they are closed, so they
    count as open. `carriers` are the `Task.carrier` of tasks that are not among these.
    """

    def __init__(
        self,
        tasks: Mapping[TaskId, T],
        unreadable: Container[TaskId] = (),
        children: Mapping[TaskId, list[T]] | None = None,
        carriers: Mapping[TaskId, TaskId] = _NO_CARRIERS,
    ) -> None:
        self.tasks = tasks
        self.unreadable = unreadable
        self._children = children or {}
        self._carriers = carriers
        self._busy_epics: set[TaskId] | None = None
        self._inheritance = Inheritance(tasks, self.waits_for)
        self._above_of = self._inheritance.above

    @classmethod
    def of(
        cls,
        tasks: Iterable[T],
        unreadable: Container[TaskId] = (),
        carriers: Mapping[TaskId, TaskId] = _NO_CARRIERS,
    ) -> Graph[T]:
        """Returns the graph of these tasks."""
        by_id = {task.id: task for task in tasks}
        children: dict[TaskId, list[T]] = {}
        for task in by_id.values():
            if task.parent is not None:
                children.setdefault(task.parent, []).append(task)
        return cls(by_id, unreadable, children, carriers)

    @classmethod
    def over(
        cls, tasks: Mapping[TaskId, T], begun: Iterable[T], unreadable: Container[TaskId] = ()
    ) -> Graph[T]:
        """Returns a graph that looks tasks up one by one and never asks for all; it knows no children.

        `begun` are the open tasks that are no longer pending.
        """
        graph = cls(tasks, unreadable)
        graph._busy_epics = graph._epics_of(begun)
        return graph

    def children(self, task_id: TaskId) -> tuple[T, ...]:
        """Returns the tasks that name this one as parent, highest priority and oldest first."""
        return tuple(sorted(self._children.get(task_id, ()), key=by_priority_and_age))

    def has_children(self, task_id: TaskId) -> bool:
        """True if any task names this one as parent."""
        return task_id in self._children

    def ancestors(self, task: AnyTask) -> Iterator[T]:
        """Yields parent, grandparent and so on, each once even where parents run in a cycle."""
        seen = {task.id}
        parent = task.parent
        while parent is not None and parent not in seen and parent in self.tasks:
            seen.add(parent)
            yield self.tasks[parent]
            parent = self.tasks[parent].parent

    def open_above(self, task: AnyTask) -> Iterator[T]:
        """Yields what a task is part of: its ancestors up to the first that is closed."""
        return takewhile(attrgetter("is_open"), self.ancestors(task))

    def below(self, task_id: TaskId) -> set[TaskId]:
        """Returns the tasks below one, however deep; itself only where parents run in a cycle."""
        found: set[TaskId] = set()
        waiting = [task_id]
        while waiting:
            for child in self._children.get(waiting.pop(), ()):
                if child.id not in found:
                    found.add(child.id)
                    waiting.append(child.id)
        return found

    def above_and_below(self, task_id: TaskId) -> set[TaskId]:
        """Returns a task, the epics that it is in, and all tasks below it."""
        above = self.ancestors(self.tasks[task_id]) if task_id in self.tasks else ()
        return {task_id, *(one.id for one in above), *self.below(task_id)}

    def open_blockers(self, task: T, most: int | None = None) -> tuple[TaskId, ...]:
        """Returns the open tasks that this one or an ancestor waits for, each once, own ones first.

        With `most`: of what ancestors wait for only the first are looked at, so that all tasks below a long line of
        waiting ones can be asked.
        """
        above, own = self._above_of(task), task.blocked_by
        if above.is_free:
            return tuple(dict.fromkeys(self._own_blockers(task))) if own else ()
        owned = (one for owner in self.waiting_owners(task) for one in self.waits_for(owner))
        found = (one for one in owned if one != task.id)
        return tuple(dict.fromkeys(found if most is None else islice(found, most)))

    def may_wait(self, tasks: Sequence[T], around: Surroundings) -> list[bool]:
        """Returns for each task False where a quick look shows that nothing keeps it from going on, as with most."""
        above = {parent: self._inheritance.below(parent) for parent in {task.parent for task in tasks}}
        free = {parent: one.is_free and not one.waits and one.until is None for parent, one in above.items()}
        return [
            task.awaiting is not None
            or not free[task.parent]
            or bool(task.blocked_by)
            or task.defer_until is not None
            or task.id in around.held
            or task.id in around.conflicted
            or task.id in around.left
            for task in tasks
        ]

    def holder(self, task: T, around: Surroundings) -> T | None:
        """Returns the nearest epic that awaits a person or is deferred and so keeps an open task below it, or None."""
        above = self._above_of(task)
        if not task.is_open or not (above.waits or (above.until is not None and above.until > around.today)):
            return None
        open_ones = self.open_above(task)
        return next((one for one in open_ones if one.awaiting or is_deferred(one, around.today)), None)

    def waiting_owners(self, task: T) -> Iterator[T]:
        """Yields the task, and then those of its ancestors, the nearest first, that have open blockers of their own."""
        yield task
        owners = self._above_of(task).blocked_owners()
        yield from (self.tasks[owner] for owner, _ in owners if owner != task.id)

    def waits_for(self, task: AnyTask) -> Iterator[TaskId]:
        """Yields the open tasks that a task's own `blocked_by` makes it wait for.

        A blocker that is done is waited for until its code can be had: what stands on the branch of an open epic can
        be had by the tasks of that epic, and by the others once the epic is merged, so they wait for the epic.
        """
        for blocker in task.blocked_by:
            if self.is_open_id(blocker):
                yield blocker
                continue
            epic = self.carrier_of(blocker)
            if epic is not None and epic not in (task.id, *(above.id for above in self.open_above(task))):
                yield epic

    def carrier_of(self, task_id: TaskId) -> TaskId | None:
        """Returns the open epic on whose branch the code of a task that is done stands, or None."""
        known = self.tasks.get(task_id)
        epic = self._carriers.get(task_id) if known is None else known.carrier
        return epic if epic is not None and self.is_open_id(epic) else None

    def _own_blockers(self, task: T) -> list[TaskId]:
        """Returns what a task waits for by itself, though never for itself."""
        return [one for one in self.waits_for(task) if one != task.id]

    def idle_blockers(self, task: T) -> tuple[TaskId, ...]:
        """Returns the entries of blocked_by that block nothing because they are missing or cancelled."""
        return tuple(
            blocker
            for blocker in task.blocked_by
            if (self.tasks[blocker].is_cancelled if blocker in self.tasks else blocker not in self.unreadable)
        )

    def is_blocked(self, task: T) -> bool:
        """True for an open task that waits for another one."""
        return task.is_open and self._waits(task, self._above_of(task))

    def _waits(self, task: T, above: Above) -> bool:
        own = task.blocked_by
        if above.is_free and not own:
            return False
        return bool(self._own_blockers(task)) or any(
            one != task.id for _, blockers in above.blocked_owners() for one in blockers
        )

    def is_ready(self, task: T, around: Surroundings) -> bool:
        """True if a worker can be started on the task now."""
        if not task.is_workable or is_taken(task, around):
            return False
        if task.defer_until is not None and is_deferred(task, around.today):
            return False
        above = self._above_of(task)
        is_held = above.waits or (above.until is not None and above.until > around.today)
        return not is_held and not self._waits(task, above)

    def ready(self, around: Surroundings) -> list[T]:
        """Returns every task that a worker can be started on, in the order in which they would be picked."""
        return self.in_picking_order(self.ready_among(list(self.tasks.values()), around))

    def ready_among(self, tasks: Sequence[T], around: Surroundings) -> list[T]:
        """Returns those of these tasks that a worker can be started on, in their order."""
        workable = [task for task in tasks if task.is_workable]
        return [
            task
            for task, may_wait in zip(workable, self.may_wait(workable, around), strict=True)
            if (not may_wait and task.claim is None and not is_at_work(task, around))
            or self.is_ready(task, around)
        ]

    def epic_of(self, task: T) -> TaskId | None:
        """Returns the nearest ancestor that is an open epic, or None."""
        epic = self._above_of(task).epic
        return None if epic == task.id else epic  # in a cycle it may come round to the task itself

    def is_orphan(self, task: T) -> bool:
        """True for an open task whose parent is closed or gone."""
        return task.parent is not None and task.is_open and not self.is_open_id(task.parent)

    def is_open_id(self, task_id: TaskId) -> bool:
        """True if there is an open task of that id, or one of which nobody can tell."""
        if task_id in self.tasks:
            return self.tasks[task_id].is_open
        return task_id in self.unreadable

    def group(self, task: T, current_epic: TaskId | None = None) -> int:
        """Returns which `Group` of the picking order a task belongs to."""
        if task.parent is None:
            return Group.STANDALONE
        if self.is_orphan(task):
            return Group.ORPHAN
        epic = self.epic_of(task)
        if epic is None:
            return Group.STANDALONE
        if epic == current_epic:
            return Group.CURRENT_EPIC
        return Group.EPIC_IN_PROGRESS if epic in self.epics_in_progress() else Group.EPIC

    def epics_in_progress(self) -> set[TaskId]:
        """Returns the open epics with a task below them that is started and not closed."""
        if self._busy_epics is None:
            self._busy_epics = self._epics_of(task for task in self.tasks.values() if task.is_begun)
        return self._busy_epics

    def _epics_of(self, begun: Iterable[T]) -> set[TaskId]:
        epics = (self.epic_of(task) for task in begun if not task.is_epic)
        return {epic for epic in epics if epic is not None}

    def pick_key(self, task: T, current_epic: TaskId | None = None) -> tuple[int, int, str, str]:
        """Returns the key by which runners and `gt next` sort: group, priority, age."""
        return (self.group(task, current_epic), *by_priority_and_age(task))

    def in_picking_order(self, tasks: Iterable[T], current_epic: TaskId | None = None) -> list[T]:
        """Returns open tasks as `pick_key` sorts them.

        The group of an open task is that of its siblings, except where parents run in a cycle.
        """
        groups: dict[int, list[T]] = {}
        siblings: dict[TaskId | None, list[T]] = {}
        for task in sorted(tasks, key=by_priority_and_age):
            known = siblings.get(task.parent)
            if known is None:
                known = groups.setdefault(self.group(task, current_epic), [])
                if not self._above_of(task).is_in_cycle:
                    siblings[task.parent] = known
            known.append(task)
        return list(chain.from_iterable(groups[group] for group in sorted(groups)))


TaskGraph = Graph["Task"]


def is_deferred(task: AnyTask, today: date) -> bool:
    """True until the day that a task was put off to."""
    until = task.defer_until
    return until is not None and until > today


def is_to_review(task: AnyTask, around: Surroundings) -> bool:
    """True if a reviewer can be started on the task now."""
    return task.is_to_review and not is_taken(task, around)


def is_taken(task: AnyTask, around: Surroundings) -> bool:
    """True if somebody else works on the task, or nobody may here."""
    claim = task.claim
    if claim is not None and claim.expires > around.now and not task.is_to_review:
        return True  # what its person handed off is anybody's to review
    return is_at_work(task, around) or task.id in around.held or task.id in around.conflicted


def is_at_work(task: AnyTask, around: Surroundings) -> bool:
    """True while a session works on a task, here or, as of the last sync, in another clone."""
    return task.id in around.live or task.id in around.elsewhere


class Candidates(NamedTuple, Generic[T]):
    """Where workable tasks are found, each stream by priority and age.

    `below` gives those below some epics, at any depth; `children` all that have a parent, `single` all without.
    """

    below: Callable[[Iterable[TaskId]], Iterable[T]]
    children: Iterable[T]
    single: Iterable[T]


def first_ready(
    graph: Graph[T],
    candidates: Candidates[T],
    around: Surroundings,
    is_wanted: Callable[[T], bool] = lambda _: True,
) -> T | None:
    """Returns the first of `graph.ready` that is wanted, or None."""

    def first(tasks: Iterable[T], best: int) -> T | None:
        """Returns the first by picking order; `best` is a group that none of the tasks comes before."""
        found: dict[int, T] = {}
        for task in tasks:
            if graph.is_ready(task, around) and is_wanted(task):
                group = graph.group(task)
                found.setdefault(group, task)
                if group <= best:
                    break
        return found[min(found)] if found else None

    busy = graph.epics_in_progress()
    begun = first(candidates.below(busy), Group.EPIC_IN_PROGRESS) if busy else None
    if begun is not None and graph.group(begun) == Group.EPIC_IN_PROGRESS:
        return begun
    child = first(candidates.children, Group.EPIC)
    if child is not None and graph.group(child) == Group.EPIC:
        return child
    both = [task for task in (child, first(candidates.single, Group.STANDALONE)) if task is not None]
    return min(both, key=graph.pick_key, default=None)
