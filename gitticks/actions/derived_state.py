"""State derived from other tasks: what blocks a task and whose turn it is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

from gitticks.actions.context import Context
from gitticks.errors import GitticksError
from gitticks.git.refs import BRANCHES, read_ref
from gitticks.model.ids import TaskId, task_path
from gitticks.model.queries import Graph, Surroundings, TaskGraph, is_at_work, is_deferred
from gitticks.model.status import Awaiting, Status
from gitticks.model.task_row import AnyTask, TaskRow
from gitticks.safe_read import read_plain_text
from gitticks.store.index import open_index

if TYPE_CHECKING:
    from gitticks.model.task import Task
    from gitticks.workflow.merging import LeftMerge


MERGES_KEPT = "merges-kept"
"""The file in our own folder that says where a base stood when it lacked nothing of the tasks that are done."""

MERGES_SEEN = "merges-seen"
"""The file in our own folder that says where a base stood when merges by hand were last looked for, and what was seen."""

FAILED = ":"
"""Stands in that file before the tasks that could not be looked at; no branch's name has one."""

_quiet_states: dict[tuple[str, str | None, bool], str] = {}
"""The states of sessions on tasks that nothing in this clone mentions, each found out once for a listing of thousands."""

T = TypeVar("T", bound="AnyTask")
T_co = TypeVar("T_co", bound="AnyTask", covariant=True)


class Standing(Generic[T_co]):
    """A task with what is derived and never stored; each is found out when it is asked for.

    `project_place` is the checkout that holds the board, None in a repository without one.
    """

    __slots__ = ("_around", "_graph", "project_place", "task")

    def __init__(
        self, task: T_co, graph: Graph[Any], around: Surroundings, project_place: str | None
    ) -> None:
        self.task = task
        self.project_place = project_place
        self._graph = graph
        self._around = around

    @property
    def is_ready(self) -> bool:
        """True if a worker can be started on it now."""
        return self._graph.is_ready(self.task, self._around)

    def some_blockers(self, most: int) -> tuple[TaskId, ...]:
        """Returns the first open tasks that it or an ancestor waits for, none for a closed task; if `most`, there may be more."""
        return self._graph.open_blockers(self.task, most) if self.task.is_open else ()

    @classmethod
    def may_wait(cls, standings: Sequence[Standing[T_co]]) -> list[bool]:
        """Returns for each of a graph's standings False where a quick look shows that nothing keeps it, as with most."""
        if not standings:
            return []
        graph, around = standings[0]._graph, standings[0]._around  # noqa: SLF001 (of the same class)
        return graph.may_wait([one.task for one in standings], around)

    @property
    def holder(self) -> T_co | None:
        """Returns the epic above it that awaits a person or is deferred, so that it cannot go on."""
        found: T_co | None = self._graph.holder(self.task, self._around)
        return found

    @property
    def is_blocked(self) -> bool:
        """True for an open task that waits for another one."""
        return self._graph.is_blocked(self.task)

    @property
    def is_deferred(self) -> bool:
        """True for an open task that was put off."""
        return self.task.is_open and is_deferred(self.task, self._around.today)

    @property
    def is_live(self) -> bool:
        """True while a session on it lives in this clone."""
        return self.task.id in self._around.live

    @property
    def is_held(self) -> bool:
        """True while `gt stop` holds it in this clone."""
        return self.task.id in self._around.held

    @property
    def session_state(self) -> str:
        """Returns what its session is doing, in one word."""
        task, around = self.task, self._around
        task_id = task.id
        if not (
            task_id in around.live
            or task_id in around.held
            or task_id in around.left
            or task_id in around.elsewhere
            or task.claim
        ):
            known = _quiet_states.get((task.status, task.awaiting, task.is_merging))
            if known is not None:
                return known
        from gitticks.workflow.session_states import session_state  # only JSON tells it

        state = session_state(
            task.status,
            task.awaiting,
            is_merging=task.is_merging,
            is_live=self.is_at_work,
            left=self.left,
            is_held=self.is_held,
        )
        if not (self.is_at_work or self.is_held or self.left):
            _quiet_states[task.status, task.awaiting, task.is_merging] = state
        return state

    @property
    def is_at_work(self) -> bool:
        """True while somebody is at it: a session of this clone, a person by hand, or another clone."""
        claim, around = self.task.claim, self._around
        is_claimed = claim is not None and claim.expires > around.now and self.task.status == Status.WORKING
        return is_at_work(self.task, around) or is_claimed

    @property
    def left(self) -> str | None:
        """Returns `stopped` or `interrupted` where its last session here ended so and nobody has gone on since."""
        task = self.task
        is_over = self.is_live or not (task.is_workable or task.is_to_review)
        return None if is_over else self._around.left.get(task.id)

    @property
    def is_conflicted(self) -> bool:
        """True while its file holds both texts of a conflict that nobody has settled."""
        return self.task.id in self._around.conflicted


def standing_of(context: Context, task: T, graph: Graph[Any], around: Surroundings) -> Standing[T]:
    """Returns the derived state of one task of the graph."""
    return Standing(task, graph, around, context.repository.project_place)


def standings_of(context: Context, tasks: Iterable[T], graph: Graph[Any]) -> list[Standing[T]]:
    """Returns the derived state of these tasks, in their order."""
    around, project_place = context.surroundings(), context.repository.project_place
    return list(map(Standing, tasks, repeat(graph), repeat(around), repeat(project_place)))


def by_closing(task: TaskRow) -> tuple[str, str]:
    """Returns the key that sorts closed tasks, the first to be closed first."""
    return (task.closed, task.id)


def standing_now(context: Context, task_id: TaskId) -> Standing[Task]:
    """Returns the current derived state of a task, reading the branch again."""
    with open_index(context.repository) as index:
        task = index.task(task_id)
        graph = TaskGraph.of([*index.tasks(open_only=True), task], index.unreadable(), index.carriers())
    return standing_of(context, task, graph, context.surroundings())


class Person(NamedTuple):
    """The person who asks, by every name that somebody might call them in `reviewer`, in one case."""

    names: frozenset[str]

    @classmethod
    def of(cls, name: str, email: str) -> Person:
        """Returns the person whom git knows by a name and an address."""
        parts = {name, email, f"{name} <{email}>", email.partition("@")[0], *name.split()}
        return cls(frozenset(_plain(part) for part in parts))

    def is_asked(self, reviewer: str | None) -> bool:
        """True if the turn is this person's or nobody's in particular; several names have commas between them."""
        asked = [_plain(one) for one in (reviewer or "").split(",")]
        return not any(asked) or not self.names.isdisjoint(asked)


def names_person(named: str | None, name: str) -> bool:
    """True if a task's reviewer or assignee, which may be several names with commas between them, has this one."""
    return _plain(name) in map(_plain, (named or "").split(","))


def person_here(context: Context) -> Person | None:
    """Returns who asks, as git's settings say; None if they do not."""
    from gitticks.git.identity import identity

    try:
        known = identity(context.repository, context.world.environment)
    except GitticksError:
        return None
    return Person.of(known.name, known.email)


def _plain(name: str) -> str:
    return " ".join(name.split()).removeprefix("@").casefold()


def state_of_merges(context: Context, base: str) -> str:
    """Returns where a base stands and how many tasks are done, as `MERGES_KEPT` holds it."""
    tip = read_ref(context.repository.common_place, BRANCHES + base)
    return f"{base} {tip} {context.index.status_counts().get(Status.DONE, 0)}"


def may_miss_merges(context: Context) -> bool:
    """True unless neither the base nor the number of tasks that are done has changed since nothing was missing."""
    try:
        known = read_plain_text(f"{context.repository.own_place}/{MERGES_KEPT}")
        return known != state_of_merges(context, known.partition(" ")[0])
    except (OSError, ValueError, GitticksError):
        return True


def may_have_merged(context: Context) -> bool:
    """True unless the base stands where it stood when merges by hand were last looked for, in all tasks."""
    try:
        base, tip, seen = read_plain_text(f"{context.repository.own_place}/{MERGES_SEEN}").split(" ")
        return FAILED in seen or str(read_ref(context.repository.common_place, BRANCHES + base)) != tip
    except (OSError, ValueError, GitticksError):
        return True


def left_merge_in(context: Context, row: TaskRow) -> LeftMerge | None:
    """Returns what a person is to merge of a task; None if nothing is left to them."""
    if row.status != Status.REVIEWING or row.awaiting != Awaiting.WORK:
        return None

    from gitticks.document.taskfile import read_task
    from gitticks.workflow.merging import left_merge

    task = read_task(context.index.data(row.id) or b"", task_path(row.id))
    return left_merge(task, context.settings.merge.mode)
