"""The loop: picks what can be started, starts it in threads, until nothing is left or somebody stops it."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial

from gitticks.agents.base import AgentReport
from gitticks.agents.process import StopRequest
from gitticks.errors import GitticksError
from gitticks.model.ids import TaskId
from gitticks.model.queries import Surroundings, TaskGraph, is_taken
from gitticks.model.status import Role, Status
from gitticks.model.task import SessionRecord, Task
from gitticks.runner import workspaces
from gitticks.runner.budgets import Budgets
from gitticks.runner.claiming import ClaimedElsewhereError
from gitticks.runner.context import RunContext
from gitticks.runner.events import BudgetReached, RunAdded, RunWaits, SessionSpent, Warned
from gitticks.runner.finishing import recover_session
from gitticks.runner.jobs import Jobs, Work
from gitticks.runner.merge_turns import MergeTurns
from gitticks.runner.mergequeue import AGAIN_SECONDS
from gitticks.runner.notifications import Notifier
from gitticks.runner.outcome import RunExit, Standstill, judge, shown, summarise
from gitticks.runner.overlaps import OverlapWatch
from gitticks.runner.picking import Picking
from gitticks.runner.run_record import BudgetState
from gitticks.runner.session import SessionRun
from gitticks.runner.start_delays import role_for
from gitticks.runner.waking import wait_for_change
from gitticks.store.decisions import follow_epics
from gitticks.workflow.decision import goes_on_in_run, is_turn_of

TICK_SECONDS = 0.25
LONGEST_END_SECONDS = 30.0
LONGEST_NOTIFYING_SECONDS = 10.0
LONGEST_DECIDING_SECONDS = 30.0
_INTERRUPTED_BY: dict[int, str] = {
    signal.SIGINT: "by Ctrl-C",
    signal.SIGTERM: "by a signal to end",
    signal.SIGHUP: "as its terminal was closed",
}


class Loop:
    """One run from its first pick to its exit code."""

    def __init__(self, run: RunContext) -> None:
        self.run = run
        self.options = run.options
        self.budgets = Budgets(run)
        self._clock = run.world.monotonic_seconds
        self._started = self._clock()
        self._jobs = Jobs()
        self._merges = MergeTurns(run)
        self.picking = Picking(run, self._jobs, self._merges)
        self._tasks, self._patience = self.picking.tasks, self.picking.patience
        self._left_alone = self.picking.left_alone
        self._overlaps = OverlapWatch(run)
        self._is_ending = False
        self._decided_by: float | None = None
        self._notifier = Notifier(run)
        self._interrupted = threading.Event()
        self._stopping = threading.Event()
        self._end_words = "interrupted by `gt stop`"
        self._limit: str | None = None
        self._done_before: set[TaskId] = set()
        self._claimed: set[TaskId] = set()
        self._reported_waiting: str | None = None

    def interrupt(self, by_signal: int) -> None:
        """Ends the run: the first time after the running iterations, the second time at once unless it is a hang-up.

        Called from another thread than the loop's.
        """
        is_ending = self._interrupted.is_set()
        if by_signal == signal.SIGHUP and (is_ending or self.run.holds.is_run_asked_to_stop()):
            self._interrupted.set()  # a closed terminal's come from the shell and from the kernel
        elif is_ending:
            self._stopping.set()
            self.run.emit(Warned(None, "the agents are being stopped"))
        else:
            self._end_words = f"interrupted {_INTERRUPTED_BY[by_signal]}"
            self._interrupted.set()
            with contextlib.suppress(OSError):  # by this others see that it ends
                self.run.holds.ask_run_to_stop()
            self.run.emit(Warned(None, "the run ends after its current iterations; Ctrl-C again stops them"))

    def release(self) -> tuple[TaskId, ...]:
        """Lets the named tasks that are held be taken again, by any run of this clone, and returns them."""
        return self.run.holds.release_named(self._tasks.graph(), self.options.ids)

    def execute(self) -> RunExit:
        """Runs until nothing is left to do and returns the exit code."""
        self._patience.take_over()
        self.run.transact(lambda transaction: follow_epics(transaction, self.run.circumstances()))
        graph = self._tasks.graph()
        self.budgets.keep(map(BudgetState.of, self.budgets.readings()), graph)
        self.run.claims.note_closed(task.id for task in graph.tasks.values() if not task.is_open)
        self._done_before = {task.id for task in graph.tasks.values() if task.status is Status.DONE}
        self.picking.name_closed(self.options.ids)
        with self._notifier, self._merges:
            # Beside the agents a merge and a look for conflicts.
            with ThreadPoolExecutor(max_workers=self.options.parallel + 2) as pool:
                try:
                    while True:
                        while self._go_on(pool):
                            if self._limit is None and not self._interrupted.is_set():
                                self._note_ending(is_ending=False)
                            self._watch()
                        if self._is_ending:
                            break
                        # And look once more for what was decided before, and what others gave back.
                        self._note_ending(is_ending=True)
                        self.run.claims.ask_again()
                except BaseException:
                    self._jobs.stop_all()
                    raise
            self._overlaps.note(self._tasks.graph().tasks.values())
            return self._end()

    def _note_ending(self, *, is_ending: bool) -> None:
        if is_ending is not self._is_ending:
            self._is_ending = is_ending
            with contextlib.suppress(OSError):
                self.run.holds.note_ending(is_ending=is_ending)

    def _take_added(self) -> None:
        asked = self.run.holds.asked_to_add()
        if not asked or self._interrupted.is_set():
            return
        names = tuple(sorted(asked.difference(self.options.ids, self.options.added)))
        self.options = self.run.options = self.options._replace(added=self.options.added + names)
        self._tasks.forget_scope()
        self._left_alone.forget(asked.union(*map(self._tasks.graph().below, asked)))
        self.run.holds.forget_added(asked)
        if names:
            self.run.emit(RunAdded(names))
            self.picking.name_closed(names)

    def _tell_waiting(self, reason: str, how_to_end: str = "") -> None:
        self.budgets.note_waiting(reason)
        reason += how_to_end
        if reason != self._reported_waiting:
            self._reported_waiting = reason
            self.run.emit(RunWaits(reason))

    def _go_on(self, pool: ThreadPoolExecutor) -> bool:
        """Starts what can be started; returns False when the run is over."""
        self._reap()
        if self._notifier.is_on:
            self._notifier.look(self._tasks.in_scope())
        if self.run.holds.is_run_asked_to_stop():
            self._interrupted.set()
        self._take_added()
        self._overlaps.look(pool, self._tasks.graph().tasks.values())
        if self._interrupted.is_set():
            self._merges.look_ahead(())
            return bool(self._jobs)
        self._tell_reached(self.budgets.look())
        self._limit = self.budgets.limit(Role.REVIEWER)
        if self._limit is not None:
            self._note_ending(is_ending=True)
            self._merges.look_ahead(())
            if self._jobs:
                ends = f"running agents may finish: {shown(sorted(job.task.id for job in self._jobs))}"
                self._tell_waiting(f"{self._limit}; {ends}", " (Ctrl-C twice stops it)")
            return bool(self._jobs)
        self._start_recoveries(pool)
        self.picking.name_left_out()
        if self.run.holds.is_paused:
            self._tell_waiting("paused: nothing new starts until `gt unpause`")
            has_more = bool(self.picking.ready()) or any(
                one.is_merging for one in self._tasks.graph().tasks.values()
            )
            return bool(self._jobs) or has_more or self._goes_on
        self._start_merge(pool)
        self._start_sessions(pool)
        if self._jobs.sessions:
            self._reported_waiting = None
        if self._jobs:
            self.budgets.note_waiting("")
            self._decided_by = None  # it is not waited for now
        return bool(self._jobs) or self._awaits_decision() or self._patience.is_short or self._goes_on

    def _awaits_decision(self) -> bool:
        """True while a command that stopped an agent is about to close its task, whose merge it leaves to this run."""
        found = self.run.holds.being_decided()
        if not found:
            self._decided_by = None
        elif self._decided_by is None:
            self._decided_by = self._clock() + LONGEST_DECIDING_SECONDS
        elif self._clock() > self._decided_by:  # the command was killed
            tasks = self._tasks.graph().tasks
            for task_id in found:
                self.run.holds.hold(task_id)
                if task_id in tasks:
                    self.run.claims.note_end(tasks[task_id], is_ours=False)
            return False
        return bool(found)

    @property
    def _goes_on(self) -> bool:
        return self.options.auto and self.budgets.limit(Role.WORKER) is None

    def _start_recoveries(self, pool: ThreadPoolExecutor) -> None:
        """Finishes what a killed runner left, each in a thread, since that may run checks."""
        graph = self._tasks.graph()
        self._left_alone.forget_changed(graph.tasks)
        for record in self.run.sessions.dead(self._jobs):
            task = graph.tasks.get(record.task)
            if task is None:
                if record.task not in graph.unreadable:  # a broken file may still be repaired
                    with contextlib.suppress(GitticksError, OSError):  # it may have broken just now
                        recover_session(self.run, record, StopRequest())
            elif record.task not in self._jobs and record.task not in self._left_alone.ids:
                workspace = workspaces.workspace_name(task, graph, self.run.settings)
                self._begin(pool, task, record.role, workspace, partial(self._recover, record))

    def _recover(self, record: SessionRecord, stop: StopRequest) -> None:
        report = recover_session(self.run, record, stop)
        if report is not None and self.run.sessions.is_own(record):  # its end could not be written at first
            self.budgets.note(record.task, record.role, report)

    def _start_sessions(self, pool: ThreadPoolExecutor) -> None:
        graph, settings = self._tasks.graph(), self.run.settings
        # A killed runner's agents need some seconds to end, and until then nobody else may enter their workspaces.
        ending = self.run.sessions.ending(self._jobs)
        is_short = bool(ending) and self._clock() - self._started < LONGEST_END_SECONDS
        self._patience.look_again(is_short=is_short)
        occupied = {job.workspace for job in self._jobs.sessions}
        # What was left there is still to be taken, as the agent left it.
        left = [graph.tasks.get(one.task) for one in (*ending, *self.run.sessions.dead(self._jobs))]
        occupied |= {workspaces.workspace_name(task, graph, settings) for task in left if task is not None}
        free, in_budget = self.options.parallel - len(self._jobs.sessions), self._roles_in_budget()
        for task in self.picking.ready() if free > 0 else ():
            role = role_for(task)
            if role not in in_budget:
                continue
            name = workspaces.workspace_name(task, graph, settings)
            if name in occupied or self.picking.by_hand_beside(task) is not None:
                continue
            try:
                if self._patience.holds_back(task) or self._is_epic_spent(task, graph, role):
                    continue
            except GitticksError as error:
                self._left_alone.add(task.id, error)
                continue
            self.picking.current_epic = task.parent or self.picking.current_epic
            self._begin(pool, task, role, name, partial(self._run_session, task.id, role))
            occupied.add(name)
            free, in_budget = free - 1, self._roles_in_budget()
            if free == 0:
                break

    def _roles_in_budget(self) -> set[Role]:
        """Returns for whom the run's budget has something left, those that run now counted in."""
        running = self._jobs.worker_count
        return {role for role in Role if self.budgets.limit(role, running=running) is None}

    def _is_epic_spent(self, task: Task, graph: TaskGraph, role: Role) -> bool:
        """True if the budget of an epic has nothing left for a worker, those that run now counted in."""

        def running(epic_id: TaskId) -> int:
            below = graph.below(epic_id)
            return sum(job.role is Role.WORKER and job.task.id in below for job in self._jobs)

        return role is Role.WORKER and self.budgets.holds_back(task, graph, running)

    def _tell_reached(self, reached: Iterable[BudgetReached]) -> None:
        for one in reached:
            self.run.emit(one)
            self._notifier.notify_budget(one, self._tasks.graph().tasks)

    def _run_session(self, task_id: TaskId, role: Role, stop: StopRequest) -> SessionRun | None:
        """Runs a session; None where another clone did what there was to do before the task could be claimed."""
        SessionRun(
            self.run, task_id, role, stop
        ).require_staff()  # else it would be kept from clones that can do it
        self.run.claims.take(task_id)
        session = SessionRun(self.run, task_id, role, stop)
        task, now = session.file.task, self.run.now
        if not is_turn_of(task, role) or is_taken(task, Surroundings(now.astimezone().date(), now)):
            self.run.emit(Warned(task_id, f"others moved it first: it is {task.status}"))
            return None
        session.execute()
        return session

    def _begin(
        self, pool: ThreadPoolExecutor, task: Task, role: Role | None, workspace: str | None, work: Work
    ) -> None:
        self._left_alone.note_start(task.id)
        self._jobs.start(pool, task, role, workspace, work)

    def _reap(self) -> None:
        for job in self._jobs.take_finished():
            after = self._tasks.graph().tasks.get(job.task.id, job.task)
            try:
                session = job.result()
            except ClaimedElsewhereError as error:
                if job.task.id not in self._claimed:
                    self.run.emit(Warned(job.task.id, error.words))
                self._claimed.add(job.task.id)
            except GitticksError as error:
                self._left_alone.note_failure(job.task.id, error)
                self.run.claims.note_end(after, is_ours=False)
            else:
                is_held = after.id in self.picking.held.difference(self.run.holds.being_decided())
                is_ours = goes_on_in_run(after) and not is_held
                self.run.claims.note_end(after, is_ours=is_ours)
                if session is None:
                    continue
                # Who approved it meanwhile leaves the merge to this run.
                self._left_alone.note_end(
                    job.task.id, session.report if is_turn_of(after, session.role) else None
                )
                if session.report is not None:
                    self.budgets.note(session.task_id, session.role, session.report)
                    self._tell_spent(session, session.report)
                    self._patience.note(session.reports, was_ready=session.was_ready)

    def _tell_spent(self, session: SessionRun, report: AgentReport) -> None:
        graph = self._tasks.graph()
        task = graph.tasks.get(session.task_id, session.file.task)
        states = self.budgets.states(task, graph)
        self.budgets.keep(states, graph)
        self.run.emit(
            SessionSpent(
                task.id,
                session.actor.name,
                session.role,
                report.tokens,
                None if report.is_unpriced else report.spent.cost,
                report.cost_source,
                report.usage.seconds,
                states,
                report.ending,
            )
        )
        self._tell_reached(session.reached)

    def _start_merge(self, pool: ThreadPoolExecutor) -> None:
        """Starts the next merge; there is never more than one, besides checks of later ones.

        Whatever the run is for: who approves leaves the merge to the run that lives.
        """
        # The session that was approved just now may be over without having been looked at.
        out = self._jobs.task_ids.union(self._left_alone.ids)
        tasks = [task for task in self._tasks.graph().tasks.values() if task.id not in out]
        if self._jobs.is_merging:
            self._merges.look_ahead(tasks)
        elif (task := self._merges.next(tasks)) is not None:
            self._begin(pool, task, None, None, partial(self._merges.merge, task.id))

    def _watch(self) -> None:
        if self._jobs:
            self._jobs.wait(TICK_SECONDS)
        else:
            self._idle()
        held = self.run.holds.held()
        tasks = self._tasks.graph().tasks
        for job in self._jobs:
            task = tasks.get(job.task.id)
            is_taken = job.role is not None and (task is None or not is_turn_of(task, job.role))
            is_taken |= job.task.id in self.run.claims.lost
            is_taken = is_taken and not job.stop.leaves_time
            is_killed = job.role is not None and job.task.id in held
            is_killed = is_killed and self.run.holds.ends_session(job.task.id)
            if self._stopping.is_set() or is_taken or is_killed:
                job.stop.request()

    def _idle(self) -> None:
        is_paused = self.run.holds.is_paused
        waits_for = self._patience.waits_for
        if self._goes_on and not self._patience.is_short:
            nothing = "nothing is ready; waiting for tasks"
            if self.options.ids:
                nothing = "nothing of this run is ready; `gt run --add ID` adds tasks to it"
            waits_for = waits_for or self.picking.crowded() or nothing
        if waits_for and not is_paused:
            self._tell_waiting(waits_for, ", Ctrl-C ends the run")

        is_short = self._patience.is_short or self._decided_by is not None
        seconds = TICK_SECONDS if is_short else self.options.poll
        if self._merges.is_waiting:
            seconds = min(seconds, AGAIN_SECONDS)
        held, resting = self.run.holds.held(), self._patience.resting

        def is_to_look_up() -> bool:
            return (
                self.run.holds.is_run_asked_to_stop()
                or self.run.holds.held() != held
                or bool(self.run.holds.asked_to_add())
                or self.run.holds.is_paused != is_paused
                or self._patience.resting != resting
                or self.budgets.limit(Role.REVIEWER) is not None
            )

        wait_for_change(self.run.repository, seconds, self._interrupted, is_to_look_up)

    def _end(self) -> RunExit:
        scope = list(self._tasks.in_scope().values())
        left = self.picking.standstill(is_interrupted=self._interrupted.is_set())
        limit = self._reached_limit(left, scope)
        is_interrupted = self._interrupted.is_set()
        code = judge(
            scope,
            interrupted=is_interrupted,
            is_cut_short=limit is not None or left.is_cut_short,
            awaits_person=left.awaits_person,
        )
        reasons, hints = [*([limit] if limit else []), *left.reasons()], left.hints()
        if limit is not None:
            hints.insert(0, "`gt run` continues")
        if is_interrupted:
            reasons, hints = [self._end_words], []
        self._notifier.look(self._tasks.in_scope())
        if limit is not None and not is_interrupted:
            self._notifier.notify_limit(limit)
        self._notifier.close(0.0 if self._stopping.is_set() else LONGEST_NOTIFYING_SECONDS)
        reason = "; ".join(reasons)
        if not reason and not self.budgets.spent.iterations and not any(task.is_open for task in scope):
            hints.append('`gt create "…"` creates a task')
        states = tuple(map(BudgetState.of, self.budgets.readings()))
        ended = summarise(
            scope, reason, code, self.budgets.spent, budgets=states, done_before=self._done_before
        )
        self.budgets.end(None if is_interrupted else limit, ended.reason, ended.done)
        self.run.emit(ended._replace(hints=tuple(hints)))
        return code

    def _reached_limit(self, left: Standstill, scope: list[Task]) -> str | None:
        """Returns the limit that ended the run; None if it would have ended without."""
        limit = self._limit or self.budgets.limit(Role.WORKER)
        is_unmerged = self._limit is not None and any(task.is_merging for task in scope)
        had_more = bool(left.more or left.crowded_out) or is_unmerged
        return limit if self.options.auto or had_more else None
