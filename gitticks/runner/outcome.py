"""How a run ends: its exit code, and why ready tasks are left."""

from __future__ import annotations

from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field
from enum import IntEnum

from gitticks.errors import first_of
from gitticks.model.graph import blockers_in_words
from gitticks.model.ids import TaskId
from gitticks.model.queries import Surroundings, TaskGraph, is_deferred
from gitticks.model.spending import Spent
from gitticks.model.status import BY_HAND, Awaiting, Status
from gitticks.model.task import Task
from gitticks.runner.events import RunEnded
from gitticks.runner.run_record import BudgetState

_SHOWN_TASKS = 10


class RunExit(IntEnum):
    """Exit codes of `gt run`; where several apply the order of `judge` decides."""

    DONE = 0
    LIMIT = 1
    WORK = 2
    WAITS = 3
    STUCK = 4
    USAGE = 64
    INTERRUPTED = 130


def judge(
    tasks: Iterable[Task], *, interrupted: bool, is_cut_short: bool, awaits_person: bool = False
) -> RunExit:
    """Returns the exit code for the tasks of a run's scope at its end.

    `is_cut_short` says that something was left that could be worked on: a limit was reached, or it cannot be started.
    An approved task that is not merged at the end waits for a person. `awaits_person` says that something else does,
    though no task says so itself: one that a person stopped, say.
    """
    if interrupted:
        return RunExit.INTERRUPTED
    if is_cut_short:
        return RunExit.LIMIT
    left = [task for task in tasks if task.is_open]
    if any(task.status is Status.STUCK for task in left):
        return RunExit.STUCK
    if any(task.awaiting is Awaiting.WORK for task in left):
        return RunExit.WORK
    if awaits_person or any(task.awaiting is not None or task.is_merging for task in left):
        return RunExit.WAITS
    return RunExit.DONE


def summarise(
    tasks: Iterable[Task],
    reason: str,
    code: RunExit,
    spent: Spent,
    *,
    budgets: tuple[BudgetState, ...] = (),
    done_before: Container[TaskId] = (),
) -> RunEnded:
    """Returns the last event of a run, which counts the tasks of its scope; of those done not those that were before."""
    scope = list(tasks)
    return RunEnded(
        reason or _nothing_ready(scope, spent),
        int(code),
        spent.iterations,
        waiting=sum(task.is_open and task.awaiting is not None for task in scope),
        stuck=sum(task.status is Status.STUCK for task in scope),
        done=sum(task.status is Status.DONE and task.id not in done_before for task in scope),
        cost=round(spent.cost, 4),
        budgets=budgets,
    )


def _nothing_ready(scope: list[Task], spent: Spent) -> str:
    if spent.iterations or any(task.is_open and task.awaiting is not None for task in scope):
        return "nothing else is ready"
    return "nothing is ready" if any(task.is_open for task in scope) else "no open tasks"


@dataclass(frozen=True, slots=True)
class Standstill:
    """The tasks of a run's scope that could be started but for one thing each, in picking order.

    Attributes:
        more: nothing but a limit of the run keeps them.
        left_alone: the run tried, and said why it cannot.
        resting: those whose agent rests, each with the agent and why, in words; with `rests_on` in a later run too.
        stopped: `gt stop` holds them.
        conflicted: their files hold both texts of a conflict.
        claimed: another clone works on them.
        beside: those in whose workspace a person works on another task, by hand; with that task.
        crowded_out: new work, held back since `in_review` tasks are in review and no more than `limit` are to be.
    """

    more: tuple[TaskId, ...] = ()
    left_alone: tuple[TaskId, ...] = ()
    resting: dict[TaskId, str] = field(default_factory=dict)
    rests_on: bool = False
    stopped: tuple[TaskId, ...] = ()
    conflicted: tuple[TaskId, ...] = ()
    claimed: tuple[TaskId, ...] = ()
    beside: dict[TaskId, TaskId] = field(default_factory=dict)
    crowded_out: tuple[TaskId, ...] = ()
    in_review: int = 0
    limit: int = 0

    @property
    def is_cut_short(self) -> bool:
        """True if something was left that no person's answer is needed for."""
        return bool(self.more or self.left_alone or self.resting or self.claimed)

    @property
    def awaits_person(self) -> bool:
        """True if something continues only after a person did something."""
        return bool(self.stopped or self.conflicted or self.beside or self.crowded_out)

    def reasons(self) -> list[str]:
        """Returns what keeps the tasks, in words."""
        found = []
        if self.crowded_out:
            ready = _tasks(len(self.crowded_out), "ready task")
            found.append(
                f"{ready} wait{'s' if len(self.crowded_out) == 1 else ''}: {_tasks(self.in_review)} in review, and "
                f"`limits.in_review` is {self.limit}"
            )
        found += list(dict.fromkeys(self.resting.values()))
        if self.left_alone:
            found.append(f"{shown(self.left_alone)} cannot be started")
        if self.claimed:
            found.append(f"another clone is working on {shown(self.claimed)}")
        for other in dict.fromkeys(self.beside.values()):
            names = [task for task, one in self.beside.items() if one == other]
            found.append(f"`{other}` is worked on by hand in the workspace of {shown(names)}")
        if self.stopped:
            found.append(
                f"{shown(self.stopped)} {'is' if len(self.stopped) == 1 else 'are'} held by `gt stop`"
            )
        if self.conflicted:
            found.append(
                f"{shown(self.conflicted)} {'has' if len(self.conflicted) == 1 else 'have'} a conflict"
            )
        return found

    def hints(self) -> list[str]:
        """Returns the commands that let the tasks continue."""
        found = []
        if self.crowded_out:
            found.append(
                f"review some, or `gt config limits.in_review {max(self.in_review, self.limit) + 5}` lets more start"
            )
        if self.resting:
            again = "`gt run --no-rest`" if self.rests_on else "`gt run`"
            found.append(f"`gt run --agent NAME` uses another agent, {again} tries again")
        if self.stopped:
            found.append(f"`gt run {' '.join(self.stopped[:_SHOWN_TASKS])}` resumes what is held")
        found += [
            f"`gt complete {other}` hands it off, `gt update {other} --awaiting=null` leaves it to agents"
            for other in dict.fromkeys(self.beside.values())
        ]
        if self.conflicted:
            found.append(f"`gt edit {self.conflicted[0]}`: keep what is right")
        return found


def why_not_ready(graph: TaskGraph, task: Task, around: Surroundings, scope: Container[TaskId]) -> str | None:
    """Returns what outside of a run's scope keeps a task from being started, with what to type; None if nothing does."""
    if task.is_epic and task.is_open and task.awaiting is None and not graph.has_children(task.id):
        return f'it is an epic without tasks: `gt create "…" --parent {task.id}`'
    if not task.is_workable or graph.is_ready(task, around):
        return None
    claim = task.claim
    if claim is not None and claim.is_by_hand and claim.expires > around.now:
        who = claim.runner.removeprefix(BY_HAND)
        return f"{who} is working on it by hand: `gt complete {task.id}` hands it off, `gt update {task.id} --awaiting=null` leaves it to agents"
    if task.id in around.live:
        return "another session is working on it: `gt status`"
    if is_deferred(task, around.today):
        return f"it is deferred until {task.defer_until}: `gt defer {task.id} null`"
    blockers = graph.open_blockers(task)
    if blockers:
        # What is in the scope, or awaits a person there, the run tells of itself.
        is_ours = any(blocker in scope for blocker in blockers)
        named = first_of(blockers_in_words(graph, task), _SHOWN_TASKS)
        return None if is_ours else f"it waits for {named}: `gt show {blockers[0]}`"
    above = graph.holder(task, around)
    if above is None or (above.awaiting is not None and above.id in scope):
        return None
    if above.awaiting is not None:
        return f"it waits like its epic `{above.id}`, which awaits {above.awaiting}: `gt show {above.id}`"
    return f"it waits like its epic `{above.id}`, which is deferred until {above.defer_until}: `gt defer {above.id} null`"


def shown(names: Sequence[TaskId]) -> str:
    """Returns the first of some tasks, and how many more there are."""
    return first_of([f"`{name}`" for name in names], _SHOWN_TASKS)


def _tasks(count: int, noun: str = "task") -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
