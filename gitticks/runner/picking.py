"""Which tasks a run can start now, in which order, and why not the others."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator

from gitticks.agents.base import AgentSpec
from gitticks.errors import GitticksError
from gitticks.model.ids import TaskId
from gitticks.model.queries import Surroundings, TaskGraph
from gitticks.model.status import Role, Status
from gitticks.model.task import Task
from gitticks.runner.context import RunContext
from gitticks.runner.events import Warned
from gitticks.runner.jobs import Jobs
from gitticks.runner.merge_turns import MergeTurns
from gitticks.runner.options import count_in_review, left_out, next_tasks
from gitticks.runner.outcome import Standstill, shown, why_not_ready
from gitticks.runner.start_delays import LeftAlone, Patience, role_for
from gitticks.runner.waking import TaskReader
from gitticks.runner.workspace_plan import by_hand_beside


class Picking:
    """The tasks of one run as it sees them; for the loop's thread.

    Attributes:
        tasks: what the state branch has.
        patience: who waits for what before a next try.
        left_alone: the tasks at which the run failed.
        current_epic: where work continues first.
    """

    def __init__(self, run: RunContext, jobs: Jobs, merges: MergeTurns) -> None:
        self._run = run
        self._jobs = jobs
        self._merges = merges
        self.tasks = TaskReader(run)
        self.patience = Patience(run)
        self.left_alone = LeftAlone(run)
        self.current_epic: TaskId | None = None
        self._left_out: set[TaskId] = set()
        self._graph_named: TaskGraph | None = None

    def ready(self) -> list[Task]:
        """Returns what can be started now, in the order in which it is."""
        return self._next(self._around(), self._run.settings.limits.in_review)

    def _next(self, around: Surroundings, in_review_limit: int | None = None) -> list[Task]:
        return next_tasks(
            self.tasks.graph(),
            self.tasks.in_scope().values(),
            around,
            current_epic=self.current_epic,
            in_review_limit=in_review_limit,
        )

    def by_hand_beside(self, task: Task) -> TaskId | None:
        """Returns the task on which a person works in the workspace that a task shares: an agent waits till they are done."""
        found = by_hand_beside(task, self.tasks.graph(), self._run.settings, self._run.now)
        return None if found is None else found.id

    def require_agent(self) -> None:
        """Refuses a run in which nothing that is ready has an agent."""
        tasks = self.ready()
        if all(role_for(task) is Role.WORKER for task in tasks):
            self._run.staff.require_any_worker(self._run.open_store(), tasks)

    def first_agents(self) -> Iterator[tuple[Task, AgentSpec]]:
        """Yields the agents of what would be started first, each with the first of its tasks.

        Those that are unknown or not installed are left out: their tasks are skipped with that reason.
        """
        seen = set()
        for task in self.ready():
            for role in (Role.WORKER, Role.REVIEWER):
                with contextlib.suppress(GitticksError):
                    for agent in self._run.staff.agents(task, role):
                        if (agent.name, agent.model) not in seen and not self._run.registry.lacks(agent):
                            seen.add((agent.name, agent.model))
                            yield task, agent

    def _around(self, *, with_obstacles: bool = True) -> Surroundings:
        """Returns what readiness depends on; without obstacles also what is held, left alone or conflicted is free."""
        now = self._run.now
        self.left_alone.forget_changed(self.tasks.graph().tasks)
        out_of_reach = {*self.held, *self.left_alone.ids, *self._run.claims.not_to_ask}
        return Surroundings(
            today=now.astimezone().date(),
            now=now,
            live=self._jobs.task_ids.union(self._run.sessions.live(self._jobs), self._merges.being_removed),
            held=out_of_reach if with_obstacles else (),
            conflicted=self.tasks.conflicted if with_obstacles else (),
        )

    @property
    def held(self) -> frozenset[TaskId]:
        """Returns what is held back, with all below it: also what was added there since."""
        held = self._run.holds.held()
        return held.union(*map(self.tasks.graph().below, held)) if held else held

    def name_closed(self, names: Iterable[TaskId]) -> None:
        """Says of the tasks that the run was asked for which are closed."""
        tasks = self.tasks.graph().tasks
        for task in (tasks[name] for name in names if name in tasks):
            if not task.is_open:
                self._run.emit(
                    Warned(task.id, f"it is already {task.status}; `gt reopen {task.id}` resumes it")
                )

    def name_left_out(self) -> None:
        """Names the ready tasks that the flags leave out, each once."""
        graph = self.tasks.graph()
        if not self._run.options.auto or self._run.options.ids or graph is self._graph_named:
            return
        self._graph_named = graph
        for flag, names in left_out(graph, self._run.options, self._around()).items():
            new = [name for name in names if name not in self._left_out]
            self._left_out.update(new)
            if new:
                self._run.emit(
                    Warned(
                        None, f"ready, but not in this run (`{flag}` or `--all` includes them): {shown(new)}"
                    )
                )

    def _name_unready(self) -> list[TaskId]:
        """Says of the tasks that the run was asked for which of them something outside of it keeps, and returns them."""
        graph, scope, around = self.tasks.graph(), self.tasks.in_scope(), self._around(with_obstacles=False)
        found = []
        for task in (graph.tasks[one] for one in self._run.options.names if one in graph.tasks):
            why = why_not_ready(graph, task, around, scope)
            if why is not None:
                self._run.emit(Warned(task.id, why))
                found.append(task.id)
        return found

    def crowded(self) -> str | None:
        """Returns that reviews are full, where that alone keeps new work."""
        found = self._next(self._around())
        limit, count = self._run.settings.limits.in_review, count_in_review(self.tasks.in_scope().values())
        new = tuple(task.id for task in found if task.status is Status.PENDING)
        if count < limit or not new:
            return None
        return Standstill(crowded_out=new, in_review=count, limit=limit).reasons()[0]

    def standstill(self, *, is_interrupted: bool) -> Standstill:
        """Returns what is left of the run's work and why, and says what keeps each task unless it was interrupted."""
        scope, settings = self.tasks.in_scope(), self._run.settings.limits
        found = self._next(self._around(with_obstacles=False))
        left_alone = [task for task in scope if task in self.left_alone.ids]
        unready = [] if is_interrupted else self._name_unready()
        left_alone += [task for task in unready if task not in left_alone]
        held = self.held
        conflicted = [task.id for task in found if task.id in self.tasks.conflicted]
        stopped = [task.id for task in found if task.id in held]
        claimed = [task.id for task in found if task.id in self._run.claims.elsewhere]
        kept = {*left_alone, *conflicted, *stopped, *claimed}
        free = [task for task in found if task.id not in kept]
        resting = {task.id: why for task in free if (why := self.patience.why_resting(task)) is not None}
        beside = {task.id: other for task in free if (other := self.by_hand_beside(task)) is not None}
        in_review = count_in_review(scope.values())
        is_full = in_review >= settings.in_review
        crowded_out = [
            task.id
            for task in free
            if is_full and task.status is Status.PENDING and task.id not in {*resting, *beside}
        ]
        return Standstill(
            more=tuple(task.id for task in free if task.id not in {*resting, *beside, *crowded_out}),
            left_alone=tuple(left_alone),
            resting=resting,
            rests_on=self.patience.holds_later_runs,
            stopped=tuple(stopped),
            conflicted=tuple(conflicted),
            claimed=tuple(claimed),
            beside=beside,
            crowded_out=tuple(crowded_out),
            in_review=in_review,
            limit=settings.in_review,
        )
