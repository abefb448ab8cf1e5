"""Counts what a run, its tasks and its epics spend, reports levels, and stops what is over budget."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import NamedTuple

from gitticks.agents.base import AgentReport, AgentSpec, Ended, EndReason
from gitticks.agents.base import Request as AgentRequest
from gitticks.agents.prices import Priced, foresee, with_cost
from gitticks.agents.registry import invoke
from gitticks.errors import GitticksError, first_of
from gitticks.model.event import Event, EventType
from gitticks.model.ids import TaskId
from gitticks.model.queries import TaskGraph
from gitticks.model.settings import BudgetLimits, BudgetSettings, Settings
from gitticks.model.spending import NOTHING, Metric, Reading, Scope, Spent, in_words, total_of
from gitticks.model.status import Role, Status
from gitticks.model.task import Ending, SessionRecord, Task, Usage
from gitticks.runner.context import RunContext
from gitticks.runner.council import KeptAnswers, together
from gitticks.runner.events import BudgetReached, Warned
from gitticks.runner.options import RunOptions
from gitticks.runner.reviewing import COUNCIL
from gitticks.runner.run_record import BudgetState, LastRun, write_spending
from gitticks.runner.transcripts import read_printed
from gitticks.store.decisions import Circumstances, carry_out, spent_by_task
from gitticks.store.transaction import Transaction
from gitticks.workflow import budget
from gitticks.workflow.artifacts import count_since_last_word, granted_before
from gitticks.workflow.budget import counted_in
from gitticks.workflow.decision import Decision
from gitticks.workflow.triggers import BudgetCounted

_MOST_NAMED = 3


def limits_of_run(options: RunOptions, settings: Settings) -> BudgetLimits:
    """Returns the limits of a run: those of its flags, else those of the settings."""
    limits = settings.budget.run
    return BudgetLimits(
        iterations=limits.iterations if options.max_iterations is None else options.max_iterations,
        tokens=limits.tokens if options.max_tokens is None else options.max_tokens,
        cost=limits.cost if options.max_cost is None else options.max_cost,
        duration=limits.duration if options.max_seconds is None else options.max_seconds,
    )


def require_price(
    agent: AgentSpec, settings: Settings, limits_of_run: BudgetLimits, *, is_chosen: bool | None = None
) -> None:
    """Refuses an agent of whose model nobody knows the price where dollars are limited.

    One that may tell the cost itself is refused only if somebody chose the limit; where that is not known, the limit of a
    run that is the default's is taken for it.
    """
    costs = {settings.budget.task.cost, settings.budget.epic.cost, limits_of_run.cost} - {None}
    if not costs:
        return
    if is_chosen is None:
        is_chosen = costs != {Settings().budget.run.cost}
    if foresee(agent, settings.prices, is_chosen=is_chosen) is Priced.NO_PRICE:
        price = f"gt config prices.{agent.model}"
        raise GitticksError(
            f"no price is known for `{agent.model}`, so dollar budgets cannot be enforced for `{agent.name}`",
            hint=f"`{price}.input DOLLARS` and `{price}.output DOLLARS`, per million tokens",
        )


def unpriced_words(agent: str, report: AgentReport) -> str:
    """Returns that nobody knows what a session's tokens cost, and what to type."""
    if report.model is None:
        return f"`{agent}` took {report.tokens:,} tokens and reported neither their cost nor its model: no budget of dollars counts them"
    return (
        f"no price is known for `{report.model}`: its {report.tokens:,} tokens count in no budget of dollars "
        f"(`gt config prices.{report.model}.input` and `.output` set one)"
    )


def on_tasks(spent: Mapping[TaskId, Spent], metric: Metric) -> str:
    """Returns what was spent on which tasks, the most first, in words."""
    ordered = sorted(spent.items(), key=lambda one: (-one[1].of(metric), one[0]))
    told = [(task_id, one.of(metric)) for task_id, one in ordered if one.of(metric)]
    words = [f"`{task_id}` {in_words(metric, amount)}" for task_id, amount in told]
    return f"on {first_of(words, _MOST_NAMED)}" if words else "on no task that reports it"


class EpicSpending(NamedTuple):
    """What an epic and all below it took, by task, and what of that a person granted before."""

    by_task: Mapping[TaskId, Spent]
    granted: Spent

    @property
    def total(self) -> Spent:
        """Returns all that was ever spent."""
        return total_of(self.by_task.values())

    def words(self, metric: Metric) -> str:
        """Returns on what it was spent; what was granted is not known by task, so then since the epic began."""
        words = on_tasks(self.by_task, metric)
        return words if self.granted == NOTHING else f"since the epic began {words}"

    def readings(self, limits: BudgetLimits, *, without: Spent = NOTHING) -> tuple[Reading, ...]:
        """Returns how much of the limits is spent, or was before the last of it."""
        return budget.read(Scope.EPIC, self.total.minus(self.granted).minus(without), limits)


def spending_of_epic(source: Transaction, graph: TaskGraph, epic_id: TaskId) -> EpicSpending:
    """Returns what an epic and all below it took."""
    return EpicSpending(spent_by_task(source, epic_id, graph), granted_before(source.history(epic_id)))


def count_into_epics(
    transaction: Transaction, task_id: TaskId, spent: Spent, circumstances: Circumstances
) -> tuple[Decision, ...]:
    """Counts a session into the epics above its task, within the commit that tells its end, and warns.

    One that is spent is stopped when more work would begin: what was handed off may be all there was to do.
    """
    limits = circumstances.settings.budget.epic
    if not limits.is_set:
        return ()
    graph = TaskGraph.of(transaction.all_tasks().values())
    circumstances = circumstances._replace(head=None, checks_failure=None, checks="", review_waiver=None)
    decisions = []
    for epic in epics_of(graph.tasks[task_id], graph):
        spending = spending_of_epic(transaction, graph, epic.id)
        reached = budget.newly_reached(spending.readings(limits, without=spent), spending.readings(limits))
        counted = BudgetCounted((), spending.total, reached=reached)
        decisions.append(carry_out(transaction, epic.id, counted, circumstances))
    return tuple(decisions)


def epics_of(task: Task, graph: TaskGraph) -> list[Task]:
    """Returns the open epics that a task's sessions count into, itself among them if it is one."""
    return [one for one in (task, *graph.ancestors(task)) if one.is_epic and one.is_open]


def reached_in(decisions: Iterable[Decision]) -> tuple[BudgetReached, ...]:
    """Returns which levels were reached, as the events of decisions tell."""
    return tuple(
        BudgetReached(BudgetState.of(reading, decision.task.id), reading.level.value)
        for decision in decisions
        for event in decision.events
        if event.type is EventType.BUDGET and (reading := budget.reading_in(event)) is not None
    )


def with_spending(
    run: RunContext, record: SessionRecord, task: Task, history: tuple[Event, ...], report: AgentReport
) -> AgentReport:
    """Returns the report of a dead session with what it spent, and warns of what has no price.

    That is read from its transcript, as it would have been read from the live stream. It is an estimate if the agent was still at work. An agent that the settings no longer have cannot be read.
    """
    if record.transcript is None:
        return report
    before = counted_in(history, record.session_id) if record.session_id else Usage()
    try:
        read = _reports(run, record, task, before, report.ending)
    except GitticksError:
        return replace(report, is_estimate=True)
    prices = run.settings.prices
    found = [(agent, with_cost(one, agent.kind, prices, model=agent.model)) for agent, one in read]
    for agent, one in found:
        if one.is_unpriced:
            run.emit(Warned(task.id, unpriced_words(agent.name, one)))
    if not found:
        return report
    spent = found[0][1] if len(found) == 1 else together([one for _, one in found], report.ending)
    return replace(
        report,
        usage=spent.usage,
        cost=spent.cost,
        cost_source=spent.cost_source,
        cached_tokens=spent.cached_tokens,
        total_usage=spent.total_usage,
        model=spent.model,
        is_estimate=spent.is_estimate or not record.is_over,
        warnings=spent.warnings,
    )


def _reports(
    run: RunContext, record: SessionRecord, task: Task, before: Usage, ending: Ending
) -> list[tuple[AgentSpec, AgentReport]]:
    """Returns each agent of the session, with what it is to be counted for.

    A reviewer whose answer is kept is counted with the council that will use it, or here if this one was stopped.
    """
    if record.role is not Role.REVIEWER or record.agent != COUNCIL:
        agent = replace(run.registry.spec(record.agent), model=record.model)
        return [(agent, _read(run, record, agent, "", before))]
    reviewers = run.staff.reviewers(task)
    kept = KeptAnswers(run.repository.own_dir, task, reviewers)
    found = []
    for one in reviewers:
        answer = kept.find(one.name)
        if answer is None or ending is Ending.STOPPED:
            report = answer or _read(run, record, one.agent, f"[{one.name}] ", before)
            found.append((one.agent, report))
    return found


def _read(
    run: RunContext, record: SessionRecord, agent: AgentSpec, prefix: str, before: Usage
) -> AgentReport:
    # Only the reader is wanted; the rest is what the agents need to say how they would be started.
    reader = invoke(agent, AgentRequest("", spent_before=before, prompt_file="", script=(":",))).new_reader()
    lines, seconds = read_printed(run.repository.own_dir, record)
    for line in lines:
        if line.startswith(prefix):
            reader.feed(line.removeprefix(prefix))
            reader.used.clear()
    return reader.report(Ended(EndReason.EXITED, 0, seconds=seconds), run.now)


class Budgets:
    """The budgets that one run goes by; for the loop's thread, but for `note`."""

    def __init__(self, run: RunContext) -> None:
        self._run = run
        self.by_task: Mapping[TaskId, Spent] = {}
        self._noting = threading.Lock()
        self._clock = run.world.monotonic_seconds
        self._begun = self._clock()
        self._began_at = run.now
        self._waits_for = ""
        self._active: tuple[LastRun, list[BudgetState]] | None = None
        self._reported: tuple[Reading, ...] = ()
        self._graph: TaskGraph | None = None
        self._epics: dict[TaskId, EpicSpending] = {}
        self._states: dict[tuple[TaskId | None, Metric], BudgetState] = {}

    @property
    def limits(self) -> BudgetLimits:
        """Returns the limits of this run."""
        return limits_of_run(self._run.options, self._run.settings)

    @property
    def _settings(self) -> BudgetSettings:
        return self._run.settings.budget

    @property
    def spent(self) -> Spent:
        """Returns what the run has spent, its time by the clock."""
        return total_of(self.by_task.values())._replace(seconds=self._clock() - self._begun)

    def readings(self, *, running: int = 0) -> tuple[Reading, ...]:
        """Returns how much of the run's budget is spent, with so many workers that are at work."""
        spent = self.spent
        return budget.read(Scope.RUN, spent._replace(iterations=spent.iterations + running), self.limits)

    def note(self, task_id: TaskId, role: Role, report: AgentReport) -> None:
        """Counts a session that is over."""
        spent = budget.spent_of(report.spent, role, report.ending.value)
        with self._noting:
            self.by_task = {**self.by_task, task_id: self.by_task.get(task_id, Spent()).plus(spent)}

    def look(self) -> tuple[BudgetReached, ...]:
        """Returns which levels the run has reached since the last look."""
        readings = self.readings()
        reached = budget.newly_reached(self._reported, readings)
        self._reported = readings
        return tuple(BudgetReached(BudgetState.of(one), one.level.value) for one in reached)

    def limit(self, role: Role, *, running: int = 0) -> str | None:
        """Returns the limit of the run by which nobody is started in a role, in words; None if somebody may be."""
        stopped = budget.stopping(self.readings(running=running), role)
        if stopped is None:
            return None
        limit = in_words(stopped.metric, stopped.limit)
        if stopped.metric in (Metric.COST, Metric.TOKENS):
            where = on_tasks(self.by_task, stopped.metric)
            spent = in_words(stopped.metric, stopped.spent)
            # What was all spent on one task is not said twice.
            return f"the limit of {limit} is reached: {spent} {where.removesuffix(f' {spent}')}"
        return f"the limit of {limit} is reached"

    def states(self, task: Task, graph: TaskGraph) -> tuple[BudgetState, ...]:
        """Returns how much is spent of the budgets that a task counts into: its own, its epics', the run's."""
        found = [BudgetState.of(one, task.id) for one in self._of_task(task)]
        for epic in self._epics_of(task, graph):
            found += [
                BudgetState.of(one, epic.id)
                for one in self._spending(epic, graph).readings(self._settings.epic)
            ]
        return (*found, *map(BudgetState.of, self.readings()))

    def keep(self, states: Iterable[BudgetState], graph: TaskGraph) -> None:
        """Keeps what is spent of which budgets where `gt status` finds it, as long as the tasks are worked on."""
        self._states |= {(one.task, one.metric): one for one in states}
        tasks = graph.tasks
        worked_on = [
            one
            for one in self._states.values()
            if one.task is None or (one.task in tasks and tasks[one.task].status is Status.WORKING)
        ]
        self._active = (LastRun(self._began_at, None, self._waits_for, 0, self.spent.iterations), worked_on)
        write_spending(self._run.repository.own_dir, *self._active)

    def note_waiting(self, reason: str) -> None:
        """Keeps what the run waits for there too; nothing once it works again."""
        if reason != self._waits_for and self._active is not None:
            self._waits_for = reason
            self._active = (self._active[0]._replace(reason=reason), self._active[1])
            write_spending(self._run.repository.own_dir, *self._active)

    def end(self, limit: str | None, reason: str, done: int) -> None:
        """Keeps why the run ended, and which limit it was if one did, till the next run begins."""
        spent = self.spent
        over = LastRun(self._began_at, self._run.now, reason, done, spent.iterations, round(spent.cost, 4))
        write_spending(self._run.repository.own_dir, over, ended=limit)

    def holds_back(self, task: Task, graph: TaskGraph, running: Callable[[TaskId], int]) -> bool:
        """True if no worker may be started on a task; one whose budget is spent is stopped, or all epics whose is.

        `running` says how many workers are at work below an epic.
        """
        if budget.stopping(self._of_task(task), Role.WORKER) is not None:
            self._stop(task.id, self._count_task)
            return True
        is_held = False
        most = self._settings.epic.iterations
        for epic in self._epics_of(task, graph):
            spending = self._spending(epic, graph)
            if budget.stopping(spending.readings(self._settings.epic), Role.WORKER) is not None:
                self._stop(epic.id, self._count_epic)
                is_held = True
            taken = spending.total.minus(spending.granted).iterations + running(epic.id)
            is_held |= most is not None and taken >= most
        return is_held

    def _of_task(self, task: Task) -> tuple[Reading, ...]:
        limits = self._settings.task
        if not limits.is_set or task.is_epic:
            return ()
        history = self._run.open_store().history(task.id)
        return budget.read(Scope.TASK, count_since_last_word(history).spent, limits)

    def _epics_of(self, task: Task, graph: TaskGraph) -> list[Task]:
        if not self._settings.epic.is_set:
            return []
        return epics_of(task, graph)

    def _spending(self, epic: Task, graph: TaskGraph) -> EpicSpending:
        if graph is not self._graph:
            self._graph, self._epics = graph, {}
        if epic.id not in self._epics:
            self._epics[epic.id] = spending_of_epic(self._run.open_store().snapshot(), graph, epic.id)
        return self._epics[epic.id]

    def _count_task(self, transaction: Transaction, task_id: TaskId) -> BudgetCounted:
        spent = count_since_last_word(transaction.history(task_id)).spent
        return BudgetCounted(budget.read(Scope.TASK, spent, self._settings.task), spent)

    def _count_epic(self, transaction: Transaction, epic_id: TaskId) -> BudgetCounted:
        graph = TaskGraph.of(transaction.all_tasks().values())
        spending = spending_of_epic(transaction, graph, epic_id)
        readings = spending.readings(self._settings.epic)
        stopped = budget.stopping(readings, Role.WORKER)
        return BudgetCounted(readings, spending.total, spending.words(stopped.metric) if stopped else "")

    def _stop(self, task_id: TaskId, count: Callable[[Transaction, TaskId], BudgetCounted]) -> None:
        def operation(transaction: Transaction) -> tuple[Task, Decision]:
            before, counted = transaction.task_file(task_id).task, count(transaction, task_id)
            return before, carry_out(transaction, task_id, counted, self._run.circumstances())

        before, decision = self._run.transact(operation)
        self._run.tell(before, decision)
        for one in reached_in((decision,)):
            self._run.emit(one)
