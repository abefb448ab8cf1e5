"""The loop: picks what can be started, starts it in threads, and goes on until the queue is dry or somebody stops it."""

from __future__ import annotations

import threading
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gitticks.agents.stopping import StopRequest
from gitticks.errors import GitticksError, RefusedError
from gitticks.model.ids import TaskId
from gitticks.model.queries import Surroundings, TaskGraph
from gitticks.model.session import Ending
from gitticks.model.status import Role, Status
from gitticks.model.task import Task
from gitticks.runner import workspaces
from gitticks.runner.events import RunEnded, Warned
from gitticks.runner.mergequeue import MergeQueue
from gitticks.runner.outcome import RunExit, judge
from gitticks.runner.recovery import recover
from gitticks.runner.scope import in_scope, left_out, next_tasks
from gitticks.runner.session import SessionRun
from gitticks.workflow.decision import Turn, whose_turn

if TYPE_CHECKING:
    from gitticks.runner.context import RunContext
    from gitticks.workflow.decision import Decision

TICK_SECONDS = 0.25
_OUTAGES_BEFORE_PAUSE = 3


@dataclass
class Job:
    """One session or merge that runs in a thread of its own."""

    task: Task
    role: Role | None
    stop: StopRequest
    future: Future[Decision | None]
    workspace: str | None = None


@dataclass
class Tally:
    """What a run has spent and met so far."""

    iterations: int = 0
    cost: float = 0.0
    tokens: int = 0
    outages: dict[str, int] = field(default_factory=dict)


class Loop:
    """One run from its first pick to its exit code."""

    def __init__(self, run: RunContext) -> None:
        self.run = run
        self.options = run.options
        self.tally = Tally()
        self._jobs: dict[TaskId, Job] = {}
        self._skipped: set[TaskId] = set()
        self._refused: set[TaskId] = set()
        self._waiting_merges: dict[TaskId, str] = {}
        self._current_epic: TaskId | None = None
        self._interrupted = threading.Event()
        self._started = run.world.monotonic_seconds()
        self._limit: str | None = None
        self._is_settling = False

    def interrupt(self) -> None:
        """Ends the run: the first time after the running iterations, the second time at once."""
        if self._interrupted.is_set():
            for job in list(self._jobs.values()):
                job.stop.request()
        self._interrupted.set()

    def execute(self) -> RunExit:
        """Runs until nothing is left to do and returns the exit code."""
        for task_id in self.options.ids:
            self.run.holds.release(task_id)
        self.run.holds.forget_run_stop()
        recover(self.run)
        self._name_left_out()
        with ThreadPoolExecutor(max_workers=self.options.parallel + 1) as pool:
            try:
                while self._go_on(pool):
                    self._watch()
            except BaseException:
                for job in self._jobs.values():
                    job.stop.request()
                raise
        return self._end()

    def _name_left_out(self) -> None:
        graph = self._graph()
        names = left_out(graph, self.options, self._around()) if not self.options.ids else []
        if names:
            shown = ", ".join(f"`{name}`" for name in names[:10])
            self.run.emit(
                Warned(
                    None,
                    f"ready but not in this run: {shown} (`--all` includes standalone tasks and orphans)",
                )
            )

    def _go_on(self, pool: ThreadPoolExecutor) -> bool:
        """Starts what can be started; returns False when the run is over."""
        self._reap()
        if self._is_ending():
            return bool(self._jobs)
        started = self._start_merge(pool) | self._start_sessions(pool)
        if self._jobs or started:
            return True
        return self.options.auto or self._is_settling

    def _is_ending(self) -> bool:
        if self._interrupted.is_set() or self.run.holds.is_run_asked_to_stop():
            self._interrupted.set()
            return True
        options, spent = self.options, self.run.world.monotonic_seconds() - self._started
        if options.max_iterations is not None and self.tally.iterations >= options.max_iterations:
            self._limit = f"{self.tally.iterations} iterations"
        elif options.max_seconds is not None and spent >= options.max_seconds:
            self._limit = f"{spent:.0f} s"
        elif options.max_cost is not None and self.tally.cost >= options.max_cost:
            self._limit = f"${self.tally.cost:.2f}"
        elif options.max_tokens is not None and self.tally.tokens >= options.max_tokens:
            self._limit = f"{self.tally.tokens} tokens"
        return self._limit is not None

    def _graph(self) -> TaskGraph:
        return TaskGraph.of(self.run.open_store().snapshot().all_tasks().values())

    def _around(self) -> Surroundings:
        now = self.run.now
        return Surroundings(
            today=now.astimezone().date(),
            now=now,
            live={*self.run.sessions.live(), *self._jobs},
            held={*self.run.holds.held(), *self._skipped},
        )

    def _start_sessions(self, pool: ThreadPoolExecutor) -> bool:
        room = self.options.parallel - sum(job.role is not None for job in self._jobs.values())
        self._is_settling = False
        if room <= 0:
            return False
        graph = self._graph()
        picked = next_tasks(
            graph,
            self.options,
            self._around(),
            current_epic=self._current_epic,
            in_review_limit=self.run.settings.limits.in_review,
        )
        started = False
        for task in picked:
            if room <= 0:
                break
            workspace = workspaces.workspace_name(task, graph, self.run.settings)
            if self._is_being_edited(task):
                self._is_settling = True
            elif workspace not in {job.workspace for job in self._jobs.values()}:
                self._start(pool, task, workspace)
                started, room = True, room - 1
        return started

    def _is_being_edited(self, task: Task) -> bool:
        """True while a person's last change of the task is younger than the debounce."""
        if task.updated is None or (self.run.now - task.updated).total_seconds() > self.options.debounce:
            return False
        history = self.run.open_store().history(task.id)
        return bool(history) and history[-1].actor.is_human

    def _start(self, pool: ThreadPoolExecutor, task: Task, workspace: str) -> None:
        role = Role.REVIEWER if task.status is Status.AGENT_REVIEW else Role.WORKER
        stop = StopRequest()
        self._current_epic = task.parent or self._current_epic
        future = pool.submit(self._run_session, task, role, stop)
        self._jobs[task.id] = Job(task, role, stop, future, workspace)

    def _run_session(self, task: Task, role: Role, stop: StopRequest) -> Decision | None:
        try:
            return SessionRun(self.run, task.id, role, stop).execute()
        except GitticksError as error:
            if isinstance(error, RefusedError) and task.id not in self._refused:
                # Somebody moved the task between the pick and the start; it is looked at once more.
                self._refused.add(task.id)
                return None
            self._skipped.add(task.id)
            hint = f" ({error.hint})" if error.hint else ""
            self.run.emit(Warned(task.id, f"left out of this run: {error.message}{hint}"))
            return None

    def _start_merge(self, pool: ThreadPoolExecutor) -> bool:
        """Starts the next merge; there is never more than one."""
        if any(job.role is None for job in self._jobs.values()):
            return False
        queue = MergeQueue(self.run)
        waiting = [task for task in queue.waiting() if task.id not in self._waiting_merges]
        scope = in_scope(self._graph(), self.options) if waiting else {}
        task = next((task for task in waiting if task.id in scope), None)
        if task is None:
            return False
        future = pool.submit(self._run_merge, queue, task)
        self._jobs[task.id] = Job(task, None, StopRequest(), future)
        return True

    def _run_merge(self, queue: MergeQueue, task: Task) -> Decision | None:
        result = queue.merge(task.id)
        if result.waits is not None:
            self._waiting_merges[task.id] = result.waits
        return result.decision

    def _watch(self) -> None:
        """Waits for something to happen, and stops the sessions that a person took their task from."""
        futures = [job.future for job in self._jobs.values()]
        if futures:
            wait(futures, timeout=TICK_SECONDS, return_when=FIRST_COMPLETED)
        else:
            self._idle()
        held = self.run.holds.held()
        tasks = self.run.open_store().snapshot().all_tasks() if self._jobs else {}
        for job in self._jobs.values():
            if job.role is None:
                continue
            task = tasks.get(job.task.id)
            if job.task.id in held or task is None or not _is_turn_of(task, job.role):
                job.stop.request()

    def _idle(self) -> None:
        from gitticks.runner.waking import wait_for_change

        seconds = TICK_SECONDS if self._is_settling else self.options.poll
        wait_for_change(self.run.repository, seconds, self._interrupted)

    def _reap(self) -> None:
        for task_id, job in list(self._jobs.items()):
            if not job.future.done():
                continue
            del self._jobs[task_id]
            decision = job.future.result()
            if job.role is Role.WORKER and decision is not None:
                self._count(job.task, decision)

    def _count(self, before: Task, decision: Decision) -> None:
        self.tally.iterations += 1
        spent = self.run.open_store().task_file(before.id).task.usage
        self.tally.cost += spent.cost - before.usage.cost
        self.tally.tokens += (
            spent.tokens_in + spent.tokens_out - before.usage.tokens_in - before.usage.tokens_out
        )
        endings = [event.data.get("ending") for event in decision.events if "ending" in event.data]
        if Ending.OUTAGE.value not in endings and Ending.RATE_LIMITED.value not in endings:
            self.tally.outages.pop(before.id, None)
            return
        count = self.tally.outages[before.id] = self.tally.outages.get(before.id, 0) + 1
        if count >= _OUTAGES_BEFORE_PAUSE:
            self._skipped.add(before.id)
            self.run.emit(
                Warned(before.id, f"its agent's service failed {count} times in a row: left for later")
            )
        else:
            self._interrupted.wait(min(2.0**count, 30.0))

    def _end(self) -> RunExit:
        scope = in_scope(self._graph(), self.options).values()
        code = judge(scope, interrupted=self._interrupted.is_set(), limit_reached=self._limit is not None)
        left = [task for task in scope if task.is_open]
        self.run.emit(
            RunEnded(
                self._limit or ("interrupted" if self._interrupted.is_set() else "nothing else is ready"),
                int(code),
                self.tally.iterations,
                waiting=sum(task.awaiting is not None for task in left),
                stuck=sum(task.status is Status.STUCK for task in left),
                done=sum(task.status is Status.DONE for task in scope),
                cost=round(self.tally.cost, 4),
            )
        )
        return code


def _is_turn_of(task: Task, role: Role) -> bool:
    return whose_turn(task) is (Turn.REVIEWER if role is Role.REVIEWER else Turn.WORKER)
