"""Questions about many tasks at once: what is ready, what blocks what, what comes next. Derived, never stored."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import IntEnum
from itertools import islice

from gitticks.model.ids import TaskId
from gitticks.model.status import Status
from gitticks.model.task import Task


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What readiness depends on beside the tasks: the day, the time, and what this clone knows.

    `live` are tasks with a running session, `held` those that `gt stop` holds, `conflicted` those with a merge
    conflict that nobody has settled. `runner` is the asking runner, whose own claims do not count against it.
    """

    today: date
    now: datetime
    live: Container[TaskId] = ()
    held: Container[TaskId] = ()
    conflicted: Container[TaskId] = ()
    runner: str | None = None


class Group(IntEnum):
    """The order in which a runner looks for work."""

    CURRENT_EPIC = 1
    EPIC_IN_PROGRESS = 2
    EPIC = 3
    STANDALONE = 4
    ORPHAN = 5


@dataclass(frozen=True, slots=True)
class _Hold:
    """What keeps tasks from being started; of blockers two are enough to know, as a task never waits for itself."""

    is_certain: bool = False
    blockers: frozenset[TaskId] = frozenset()

    def joined(self, blockers: frozenset[TaskId], *, is_certain: bool = False) -> _Hold:
        """Returns the hold with more of both."""
        both = self.blockers | blockers
        return (
            _Hold(is_certain=True) if self.is_certain or is_certain or len(both) > 1 else _Hold(blockers=both)
        )

    def stops(self, task_id: TaskId) -> bool:
        """True if the task cannot be started."""
        return self.is_certain or bool(self.blockers - {task_id})


@dataclass(slots=True)
class TaskGraph:
    """All tasks of a repository with the questions that need more than one of them.

    `unreadable` are tasks that there are, but whose files cannot be read: nobody knows whether they are closed, so they
    count as open.
    """

    tasks: Mapping[TaskId, Task]
    unreadable: Container[TaskId] = ()
    _children: dict[TaskId, list[Task]] = field(default_factory=dict)
    _busy_epics: set[TaskId] | None = None
    _holds: dict[tuple[TaskId, date], _Hold] = field(default_factory=dict)
    _waiting: dict[TaskId, TaskId | None] = field(default_factory=dict)

    @classmethod
    def of(cls, tasks: Iterable[Task], unreadable: Container[TaskId] = ()) -> TaskGraph:
        """Returns the graph of these tasks."""
        by_id = {task.id: task for task in tasks}
        children: dict[TaskId, list[Task]] = {}
        for task in by_id.values():
            if task.parent is not None:
                children.setdefault(task.parent, []).append(task)
        return cls(by_id, unreadable, children)

    @classmethod
    def over(
        cls, tasks: Mapping[TaskId, Task], begun: Iterable[Task], unreadable: Container[TaskId] = ()
    ) -> TaskGraph:
        """Returns a graph that looks tasks up one by one and never asks for all; it knows no children.

        `begun` are the open tasks that are no longer pending.
        """
        graph = cls(tasks, unreadable)
        graph._busy_epics = graph._epics_of(begun)
        return graph

    def children(self, task_id: TaskId) -> tuple[Task, ...]:
        """Returns the tasks that name this one as parent, highest priority and oldest first."""
        return tuple(sorted(self._children.get(task_id, ()), key=by_priority_and_age))

    def ancestors(self, task: Task) -> Iterator[Task]:
        """Yields parent, grandparent and so on, each once even where parents run in a circle."""
        seen = {task.id}
        parent = task.parent
        while parent is not None and parent not in seen and parent in self.tasks:
            seen.add(parent)
            yield self.tasks[parent]
            parent = self.tasks[parent].parent

    def open_blockers(self, task: Task) -> tuple[TaskId, ...]:
        """Returns the open tasks that this one or an ancestor waits for, each once, own ones first."""
        owned = (one for owner in self.waiting_owners(task) for one in owner.blocked_by)
        return tuple(dict.fromkeys(one for one in owned if self.is_open_id(one) and one != task.id))

    def waiting_owners(self, task: Task) -> Iterator[Task]:
        """Yields the task, and then those of its ancestors, the nearest first, that have open blockers of their own."""
        owner: Task | None = task
        seen: set[TaskId] = set()
        while owner is not None and owner.id not in seen:
            seen.add(owner.id)
            yield owner
            owner = self._next_waiting(owner)

    def _next_waiting(self, task: Task) -> Task | None:
        """Returns the nearest ancestor with an open blocker of its own; each ancestor is looked at once."""
        passed: dict[TaskId, None] = {}
        at, found = task.parent, None
        while at is not None and at in self.tasks and at not in passed:
            if at in self._waiting:
                found = self._waiting[at]
                break
            if any(map(self.is_open_id, self.tasks[at].blocked_by)):
                found = self._waiting[at] = at
                break
            passed[at] = None
            at = self.tasks[at].parent
        self._waiting.update(dict.fromkeys(passed, found))
        return None if found is None else self.tasks[found]

    def idle_blockers(self, task: Task) -> tuple[TaskId, ...]:
        """Returns the entries of blocked_by that block nothing because they are missing or cancelled."""
        return tuple(blocker for blocker in task.blocked_by if self._is_idle(blocker))

    def _is_idle(self, blocker: TaskId) -> bool:
        if blocker in self.tasks:
            return self.tasks[blocker].status is Status.CANCELLED
        return blocker not in self.unreadable

    def is_blocked(self, task: Task) -> bool:
        """True for an open task that waits for another one."""
        return task.is_open and bool(self.open_blockers(task))

    def is_ready(self, task: Task, around: Surroundings) -> bool:
        """True if a worker can be started on the task now."""
        return (
            is_workable(task)
            and not self._is_taken(task, around)
            and not is_deferred(task, around.today)
            and not self._hold_above(task, around.today).joined(self._open_two(task)).stops(task.id)
        )

    def _hold_above(self, task: Task, today: date) -> _Hold:
        """Returns what its ancestors keep a task from starting by; each ancestor is looked at once in a day."""
        hold, unknown = _Hold(), []
        for above in self.ancestors(task):
            known = self._holds.get((above.id, today))
            if known is not None:
                hold = known
                break
            unknown.append(above)
        for above in reversed(unknown):
            hold = hold.joined(
                self._open_two(above), is_certain=bool(above.awaiting) or is_deferred(above, today)
            )
            self._holds[above.id, today] = hold
        return hold

    def _open_two(self, task: Task) -> frozenset[TaskId]:
        """Returns the first two open blockers of a task's own."""
        return frozenset(islice((one for one in task.blocked_by if self.is_open_id(one)), 2))

    def is_to_review(self, task: Task, around: Surroundings) -> bool:
        """True if a reviewer can be started on the task now."""
        return (
            task.status is Status.AGENT_REVIEW and task.awaiting is None and not self._is_taken(task, around)
        )

    @staticmethod
    def _is_taken(task: Task, around: Surroundings) -> bool:
        claim = task.claim
        claimed = claim is not None and claim.expires > around.now and claim.runner != around.runner
        return claimed or task.id in around.live or task.id in around.held or task.id in around.conflicted

    def ready(self, around: Surroundings) -> list[Task]:
        """Returns every task that a worker can be started on, in the order in which they would be picked."""
        return sorted(
            (task for task in self.tasks.values() if self.is_ready(task, around)), key=self.pick_key
        )

    def epic_of(self, task: Task) -> TaskId | None:
        """Returns the nearest ancestor that is an open epic, or None."""
        return next((above.id for above in self.ancestors(task) if above.is_epic and above.is_open), None)

    def is_standalone(self, task: Task) -> bool:
        """True for a task without a parent."""
        return task.parent is None

    def is_orphan(self, task: Task) -> bool:
        """True for an open task whose parent is closed or gone."""
        return task.is_open and task.parent is not None and not self.is_open_id(task.parent)

    def is_open_id(self, task_id: TaskId) -> bool:
        """True if there is an open task of that id, or one of which nobody can tell."""
        if task_id in self.tasks:
            return self.tasks[task_id].is_open
        return task_id in self.unreadable

    def group(self, task: Task, current_epic: TaskId | None = None) -> Group:
        """Returns which group of the picking order a task belongs to."""
        if self.is_orphan(task):
            return Group.ORPHAN
        epic = self.epic_of(task)
        if epic is None:
            return Group.STANDALONE
        if epic == current_epic:
            return Group.CURRENT_EPIC
        return Group.EPIC_IN_PROGRESS if epic in self.epics_in_progress() else Group.EPIC

    def epics_in_progress(self) -> set[TaskId]:
        """Returns the open epics with a task below them that is begun and not closed."""
        if self._busy_epics is None:
            self._busy_epics = self._epics_of(task for task in self.tasks.values() if is_begun(task))
        return self._busy_epics

    def _epics_of(self, begun: Iterable[Task]) -> set[TaskId]:
        epics = (self.epic_of(task) for task in begun if not task.is_epic)
        return {epic for epic in epics if epic is not None}

    def pick_key(self, task: Task, current_epic: TaskId | None = None) -> tuple[int, int, str, str]:
        """Returns the key by which runners and `gt next` sort: group, priority, age."""
        return (self.group(task, current_epic), *by_priority_and_age(task))


def is_workable(task: Task) -> bool:
    """True for a task that workers work on, as far as it tells by itself."""
    return task.status in (Status.PENDING, Status.WORKING) and not task.is_epic and task.awaiting is None


def is_begun(task: Task) -> bool:
    """True for an open task that is no longer pending."""
    return task.is_open and task.status is not Status.PENDING


def by_priority_and_age(task: Task) -> tuple[int, str, str]:
    """Returns the key that sorts the most urgent and then the oldest task first."""
    return (task.priority, task.created.isoformat() if task.created else "", task.id)


def by_urgency(task: Task) -> tuple[int, str, str]:
    """Returns the key that sorts what awaits a person: by priority, then the longest asked."""
    asked = task.asked_at or task.created
    return (task.priority, asked.isoformat() if asked else "", task.id)


def is_deferred(task: Task, today: date) -> bool:
    """True until the day that a task was put off to."""
    return task.defer_until is not None and task.defer_until > today
