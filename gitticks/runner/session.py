"""One session: starts an agent on a task, follows it, and records the outcome in one commit."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Sequence
from dataclasses import replace

from gitticks.agents.base import AgentReport, AgentSpec, is_session_id
from gitticks.agents.prices import with_cost
from gitticks.agents.process import StopRequest
from gitticks.agents.registry import PRESETS
from gitticks.document.taskfile import TaskFile
from gitticks.errors import GitticksError
from gitticks.git.locks import hold_lock
from gitticks.model.event import Actor, Event, EventType
from gitticks.model.ids import WORK_BRANCH, TaskId, task_path
from gitticks.model.queries import TaskGraph
from gitticks.model.settings import AgentKind, ReviewPolicy
from gitticks.model.status import ActorKind, Isolation, Role
from gitticks.model.task import KEPT_FROM_WORK, Ending, SessionRecord, Task
from gitticks.processes import own_identity
from gitticks.runner import workspaces
from gitticks.runner.budgets import limits_of_run, require_price, unpriced_words
from gitticks.runner.context import RunContext
from gitticks.runner.council import KeptAnswers, hold_council
from gitticks.runner.events import BudgetReached, SessionBegan, Warned
from gitticks.runner.finishing import finish_session, session_ended, with_stop
from gitticks.runner.needed_code import CodeMissingError
from gitticks.runner.overlaps import overlap_warnings
from gitticks.runner.permissions import with_present_mode
from gitticks.runner.places.place import EarlierSession, SessionOrder, SessionResult
from gitticks.runner.prompt import build_prompt, require_templates
from gitticks.runner.renamed_work import present_id
from gitticks.runner.requests import SessionListener
from gitticks.runner.review_checkouts import plan_review
from gitticks.runner.reviewing import (
    COUNCIL,
    Reviewer,
    first_awake,
    script_blocks,
)
from gitticks.runner.shared_base import LONGEST_MERGE_SECONDS, MERGE_LOCK, BaseNotSharedError, catch_up
from gitticks.runner.strangers import Writers, writers_of
from gitticks.runner.workspaces import Workspace
from gitticks.sandbox.machine import require_workspace
from gitticks.store.decisions import carry_out
from gitticks.store.runnable_files import runnables_of_file
from gitticks.store.trust import require_trusted
from gitticks.workflow.artifacts import strangers_that_count
from gitticks.workflow.budget import counted_in
from gitticks.workflow.decide import policy_for
from gitticks.workflow.decision import Decision, waived_person
from gitticks.workflow.sessions import current_round
from gitticks.workflow.triggers import PolicyChanged, SessionEnded, SessionStarted

_SPOILT = frozenset({Ending.CRASHED, Ending.TIMED_OUT, Ending.REFUSED, Ending.CONTEXT_FULL})
_NEVER_SPOKE = KEPT_FROM_WORK | {Ending.START_FAILED, Ending.STOPPED}
"""A session that ended so and has no name of its own came to nothing, so the one before it is the last."""


def find_earlier_session(task: Task, history: Iterable[Event], agent: AgentSpec) -> EarlierSession | None:
    """Returns the session that a worker continues with, or None if it starts over."""
    session_id = task.agent_sessions.get(agent.name, "")
    if not PRESETS[agent.kind].resumes or not is_session_id(session_id):
        return None
    events = tuple(history)
    last = _last_worker(events)
    if last is None:
        return EarlierSession(session_id)
    end = events[last]
    if end.data.get("session") != session_id or end.data.get("ending") in _SPOILT:
        return None
    led_nowhere = end.data.get("iteration") is True
    if led_nowhere and not any(event.actor.is_human for event in events[last + 1 :]):
        return None
    return EarlierSession(session_id, counted_in(events, session_id))


def _last_worker(events: tuple[Event, ...]) -> int | None:
    """Returns the position of the last worker session that did anything."""
    for place in range(len(events) - 1, -1, -1):
        data = events[place].data
        if events[place].ends(Role.WORKER) and ("session" in data or data.get("ending") not in _NEVER_SPOKE):
            return place
    return None


class SessionRun:
    """One agent on one task, from the start to the commit that records the result.

    Not to be shared between threads, but `stop` may be used from any.
    """

    def __init__(self, run: RunContext, task_id: TaskId, role: Role, stop: StopRequest) -> None:
        self.run = run
        self.task_id = task_id
        self.role = role
        self.stop = stop
        self.store = run.open_store()
        self.file: TaskFile = self.store.task_file(task_id)
        self.is_council = role is Role.REVIEWER and run.settings.review is ReviewPolicy.COUNCIL
        self.reviewers: tuple[Reviewer, ...] = ()
        if role is Role.REVIEWER:
            chosen = run.staff.reviewers(self.file.task)
            self.reviewers = tuple(one._replace(agent=self._seated(one.agent)) for one in chosen)
        self.asked = run.staff.agent(self.file.task, role)
        left = self._agents_left(self.asked)
        self.agent = with_present_mode(first_awake(left, run.resting()), run)
        # A council's seats replace only an agent that rests.
        self.has_fallback = len(left) > 1 and not self.is_council
        self.report: AgentReport | None = None
        self.reports: tuple[tuple[str, AgentReport], ...] = ()
        self.was_ready = False
        self.writers = Writers()
        self.reached: tuple[BudgetReached, ...] = ()
        self.round = current_round(self.file.task, role)
        self.actor = Actor(ActorKind.AGENT, COUNCIL if self.is_council else self.agent.name, role)

    @property
    def agents(self) -> tuple[AgentSpec, ...]:
        """Returns the agents that work in it, several for a council."""
        return tuple(one.agent for one in self.reviewers) if self.is_council else (self.agent,)

    def _agents_left(self, agent: AgentSpec) -> tuple[AgentSpec, ...]:
        return self.run.staff.left(agent, lambda: self.store.history(self.task_id))

    def _seated(self, agent: AgentSpec) -> AgentSpec:
        if self.is_council:
            agent = first_awake(self._agents_left(agent), self.run.resting())
        return with_present_mode(agent, self.run)

    def execute(self) -> Decision:
        """Runs the session to its end and returns the last decision.

        Raises:
            RefusedError: somebody else works on the task, or it is not this role's turn any more.
            GitticksError: nothing could be started, and nothing was changed.
        """
        waiver = self.run.staff.waiver(self.file)
        if self.role is Role.REVIEWER and waiver is not None:
            return self.run.decide(self.store, self.file.task, PolicyChanged(), waiver)
        for one in self.require_staff():
            words = f"its reviewer `{one.name}` abstains: the agent `{one.agent.name}` is not on PATH"
            self.run.emit(Warned(self.task_id, words))
        self._script(self.agent)
        require_templates(self.store)
        plan = self._plan()
        record = self._record(plan)
        with self.run.sessions.hold(record):
            self._start(plan)
            listener = SessionListener(self, record)
            try:
                seats = self._seats(record) if self.is_council else []
                order = None if seats else self._order(plan, record)
            except GitticksError as error:
                failed = AgentReport(Ending.START_FAILED, detail=error.in_one_line)
                return self._finish(SessionResult(failed))
            if order is None:
                return self._hold_council(seats, listener)
            return self._finish(self.run.place.hold(order, self.stop, listener))

    def require_staff(self) -> Sequence[Reviewer]:
        """Refuses a session that nobody here could hold, or whose work nobody could review or pay for.

        Returns the reviewers that abstain, as their agents are not installed.
        """
        if self.role is Role.WORKER:
            self.run.staff.require_worker(self.agent, self.file)
        abstaining = self.run.staff.require_reviewers(self.file.task)
        for agent in {one.name: one for one in (self.agent, *(one.agent for one in self.reviewers))}.values():
            require_price(agent, self.run.settings, limits_of_run(self.run.options, self.run.settings))
        return abstaining

    def _plan(self, number: int = 1) -> Workspace:
        run, task = self.run, self.file.task
        graph = TaskGraph.of(self.store.snapshot().all_tasks().values())
        if self.role is Role.REVIEWER:
            return plan_review(task, graph, run.settings, run.repository, number)
        if run.settings.merge.push and any(
            event.type is EventType.MERGE_FAILED for event in self.store.history(task.id)
        ):
            self._catch_up()  # with what it conflicted with, which another clone may have merged
        try:
            plan = workspaces.plan(task, graph, run.settings, run.repository)
        except CodeMissingError:
            if not run.settings.merge.push:
                raise
            self._catch_up()
            plan = workspaces.plan(task, graph, run.settings, run.repository)
        require_workspace(run.settings.sandbox, plan.isolation, f"`gt update {task.id} --isolation task`")
        if plan.isolation is Isolation.NONE and run.settings.isolation is not Isolation.NONE:
            raise GitticksError(
                f"`{task.id}` is to be worked on in your own checkout, which a task's file alone does not decide",
                hint=f"`gt run --isolation none {task.id}` allows it, `gt update {task.id} --isolation task` "
                "gives its agent a workspace",
            )
        if plan.branch is None or not plan.branch.startswith(WORK_BRANCH):
            return plan
        name = plan.branch.removeprefix(WORK_BRANCH)
        return plan._replace(
            warnings=(
                *plan.warnings,
                *overlap_warnings(run.repository, graph.tasks.values(), run.settings, name),
            )
        )

    def _catch_up(self) -> None:
        """Takes what other clones merged and pushed into this clone's base."""
        repository, settings = self.run.repository, self.run.settings
        try:
            with hold_lock(repository.own_file(MERGE_LOCK), wait_seconds=LONGEST_MERGE_SECONDS):
                catch_up(repository, workspaces.base_of(self.file.task, settings, repository))
        except BaseNotSharedError as error:
            self.run.emit(Warned(self.task_id, f"{error.message} ({error.hint})"))

    def _seats(self, record: SessionRecord) -> list[SessionOrder]:
        """Returns what each reviewer of a council is to do; those are left out that have no script to run."""
        return [
            self._review_order(one, number, record)
            for number, one in enumerate(self.reviewers, start=1)
            if one.agent.kind is not AgentKind.SCRIPT or script_blocks(self.file, self.role)
        ]

    def _hold_council(self, orders: Sequence[SessionOrder], listener: SessionListener) -> Decision:
        settings, task = self.run.settings, self.file.task
        strangers = strangers_that_count(task, self.writers.strangers)
        # Not by who replaces whom at the moment.
        wanted = self.run.staff.reviewers(task)
        kept = KeptAnswers(self.run.repository.own_dir, task, wanted)
        history = reversed(self.store.history(self.task_id))
        last = next((one for one in history if one.ends(Role.REVIEWER)), None)
        if last is not None and last.data.get("ending") == Ending.STOPPED:
            kept.note_counted()  # with the end of that session
        for words in kept.outdated():
            listener.warn(words)
        result, reports = hold_council(
            self.run.place,
            orders,
            settings.council,
            kept,
            prices=settings.prices,
            person_follows=waived_person(task, policy_for(task, settings), strangers) is None,
            stop=self.stop,
            heard=listener,
        )
        decision = self._write(self.adjusted(result.report), result, reports)
        if result.report.ending is not Ending.STOPPED:
            kept.forget()
        return decision

    def _review_order(self, reviewer: Reviewer, number: int, record: SessionRecord) -> SessionOrder:
        plan = self._plan(number)
        prompt = self._prompt(plan, focus=reviewer.focus, is_council=True)
        return SessionOrder(
            record,
            plan,
            self.file,
            reviewer.agent,
            self._script(reviewer.agent),
            prompt,
            None,
            prompt,
            number,
            reviewer.name,
        )

    def _record(self, plan: Workspace) -> SessionRecord:
        me = own_identity()
        return SessionRecord(
            self.task_id,
            self.role,
            self.round,
            self.actor.name,
            me.pid,
            me.start_ticks,
            me.boot_id,
            self.run.now,
            str(plan.path),
            model=self.agent.model,
        )

    def _start(self, plan: Workspace) -> None:
        self.writers = writers_of(self.store, self.store.task_file(self.task_id), self.run.world.environment)
        started = SessionStarted(
            self.actor,
            self.role,
            plan.base,
            plan.work_branch,
            plan.start_sha,
            self.run.started_by,
            strangers=self.writers.strangers,
        )
        circumstances = self.run.circumstances()
        self.run.transact(
            lambda transaction: carry_out(transaction, self.task_id, started, circumstances), self.store
        )
        self.file = self.store.task_file(self.task_id)
        shown = os.path.relpath(plan.path, self.run.repository.project_dir or plan.path)
        self.run.emit(
            SessionBegan(
                self.task_id,
                self.file.task.title,
                self.actor.name,
                self.role,
                shown,
                self.file.task.base,
                self.file.task.origin,
                self.file.task.start_sha,
            )
        )
        if self.agent.name != self.asked.name:
            why = "is not on PATH" if self.run.registry.lacks(self.asked) else "could not take the task"
            why = "rests" if self.asked.name in self.run.resting() else why
            self.run.emit(Warned(self.task_id, f"`{self.asked.name}` {why}: `{self.agent.name}` replaces it"))

    def _order(self, plan: Workspace, record: SessionRecord) -> SessionOrder:
        file = self.file
        focus = self.reviewers[0].focus if self.reviewers else ""
        prompt = anew = self._prompt(plan, focus=focus)
        earlier = None
        if self.role is Role.WORKER:
            earlier = find_earlier_session(file.task, self.store.history(self.task_id), self.agent)
        if earlier is not None:
            prompt = self._prompt(plan, is_resumed=True)
        return SessionOrder(record, plan, file, self.agent, self._script(self.agent), prompt, earlier, anew)

    def _prompt(
        self, plan: Workspace, *, focus: str = "", is_council: bool = False, is_resumed: bool = False
    ) -> str:
        return build_prompt(
            self.store,
            self.file,
            self.role,
            plan,
            self.run.settings,
            is_resumed=is_resumed,
            focus=focus,
            is_council=is_council,
            writers=self.writers,
        )

    def _script(self, agent: AgentSpec) -> tuple[str, ...]:
        """Returns the blocks that the embedded agent would run; others get none."""
        if agent.kind is not AgentKind.SCRIPT:
            return ()
        require_trusted(self.run.repository, runnables_of_file(task_path(self.task_id), self.file.data))
        return script_blocks(self.file, self.role)

    def note_renamed(self) -> None:
        """Follows the task where a sync has given its id to another one."""
        self.task_id = present_id(self.store, self.file)

    def adjusted(self, report: AgentReport) -> AgentReport:
        """Returns a report as it counts: if the work was over before the agent ended, how it ended says nothing of that."""
        if self.stop.leaves_time and report.ending not in KEPT_FROM_WORK:
            return replace(report, ending=Ending.STOPPED)
        return report

    def ended(self, report: AgentReport) -> SessionEnded:
        """Returns the end of this session with the report of its agent."""
        return session_ended(self.actor, self.role, self.round, report, has_fallback=self.has_fallback)

    def _finish(self, result: SessionResult) -> Decision:
        report = self.adjusted(result.report)
        report = with_cost(report, self.agent.kind, self.run.settings.prices, model=self.agent.model)
        return self._write(report, result, ((self.agent.name, report),))

    def _write(
        self, report: AgentReport, result: SessionResult, reports: tuple[tuple[str, AgentReport], ...]
    ) -> Decision:
        for name, one in reports:
            if one.is_unpriced:
                self.run.emit(Warned(self.task_id, unpriced_words(name, one)))
        self.task_id, report = self.run.as_claimed(self.store, self.file, self.role, report)
        report = with_stop(report, result.work)
        self.report, self.reports, self.was_ready = report, reports, result.workspace is not None
        if self.role is Role.REVIEWER:
            # What the worker left uncommitted is put aside once its task waits, which the review decides.
            with contextlib.suppress(GitticksError):
                graph = TaskGraph.of(self.store.snapshot().all_tasks().values())
                own = workspaces.plan(self.file.task, graph, self.run.settings, self.run.repository)
                result = replace(result, workspace=own)
        ended = self.ended(report)
        decision, self.reached = finish_session(
            self.run, self.store, self.task_id, ended, report, result=result
        )
        return decision
