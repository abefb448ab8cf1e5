"""Statistics from the query index: for all tasks, by week, epic and agent."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, date, datetime, time, timedelta
from itertools import chain
from math import ceil
from typing import NamedTuple

from gitticks.actions.context import Context
from gitticks.actions.statistics.journey import Facts, Wait, follow, total_of
from gitticks.errors import UsageError
from gitticks.model import spending
from gitticks.model.event import Event
from gitticks.model.ids import TaskId
from gitticks.model.queries import TaskGraph
from gitticks.model.settings import BudgetSettings
from gitticks.model.spending import Reading, Scope
from gitticks.model.status import Awaiting
from gitticks.model.task import Usage
from gitticks.store.layout import events_of
from gitticks.workflow import budget
from gitticks.workflow.artifacts import count_since_last_word, granted_before

_BACK = re.compile(r"([0-9]{1,4})([smhdw])", re.ASCII)
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_DAY = re.compile(r"(?:19|20)[0-9]{2}-[0-9]{2}-[0-9]{2}", re.ASCII)

MOST, HALF = 0.9, 0.5


class Period(NamedTuple):
    """From `since`, or from the beginning, until `until`."""

    since: datetime | None
    until: datetime

    def has(self, at: datetime | None) -> bool:
        """True for a time within the period."""
        return at is not None and at <= self.until and (self.since is None or at >= self.since)

    def seconds_of(self, begun: datetime, ended: datetime | None) -> float:
        """Returns how much of the time between two moments lies within the period; without an end: until its own."""
        last = min(ended or self.until, self.until)
        first = begun if self.since is None else max(begun, self.since)
        return max(0.0, (last - first).total_seconds())


def read_since(text: str) -> date | timedelta:
    """Returns the day that a text names, or how far back it says."""
    if back := _BACK.fullmatch(text.strip()):
        return timedelta(**{_UNITS[back[2]]: int(back[1])})
    try:
        if _DAY.fullmatch(text.strip()):
            return date.fromisoformat(text.strip())
    except ValueError:
        pass
    raise UsageError(f"`{text}` is not a time to count from", hint="write 2026-10-01, 2h, 30d or 12w")


def period_until(now: datetime, since: date | timedelta | None) -> Period:
    """Returns the period up to now; a day begins where its reader is."""
    if since is None:
        return Period(None, now)
    if isinstance(since, timedelta):
        return Period(now - since, now)
    begun = datetime.combine(since, time()).astimezone(UTC)
    if begun > now:
        raise UsageError(f"`{since.isoformat()}` is in the future", hint="write `--since 30d`")
    return Period(begun, now)


@dataclass(frozen=True, slots=True)
class Figures:
    """What some tasks come to within a period; `open` are those that are open now, whenever they were made.

    `lead_seconds` are those from the creation to the end of each that was done, `wait_seconds` those of each wait for a
    person, both sorted. `merged` is how many of those that were done brought code, by their own merge or their epic's.
    `waiting` is how many wait now. `priced_cost` is the part of the cost that agents did not report.
    """

    created: int = 0
    done: int = 0
    merged: int = 0
    cancelled: int = 0
    open: int = 0
    lead_seconds: tuple[float, ...] = ()
    wait_seconds: tuple[float, ...] = ()
    waiting: int = 0
    rounds: int = 0
    failed_reviews: int = 0
    crashes: int = 0
    sessions: int = 0
    usage: Usage = field(default_factory=Usage)
    priced_cost: float = 0.0

    @property
    def waited_seconds(self) -> float:
        """Returns how long people were waited for in all."""
        return sum(self.wait_seconds)

    @property
    def is_empty(self) -> bool:
        """True if nothing happened and nothing is open."""
        return self == Figures()


class Waits(NamedTuple):
    """The waits of one kind: how long each took, sorted, and how many have not ended."""

    kind: Awaiting
    seconds: tuple[float, ...]
    waiting: int


class Week(NamedTuple):
    """What was made, done and spent in a week, by the Monday that it begins with."""

    monday: date
    created: int
    done: int
    waited_seconds: float
    cost: float


def figures_of(facts: Facts, period: Period) -> Figures:
    """Returns what they come to within a period."""
    closed = [task for task in facts.tasks if not task.is_open and period.has(task.closed)]
    done = [task for task in closed if not task.is_cancelled]
    sessions = [one for one in facts.sessions if period.has(one.at)]
    seconds, waiting = _waits(facts.waits, period)
    return Figures(
        created=sum(period.has(task.created) for task in facts.tasks),
        done=len(done),
        merged=sum(task.merged_sha is not None or task.has_code for task in done),
        cancelled=len(closed) - len(done),
        open=sum(task.is_open for task in facts.tasks),
        lead_seconds=tuple(
            sorted(
                max(0.0, (task.closed - task.created).total_seconds())
                for task in done
                if task.created is not None and task.closed is not None
            )
        ),
        wait_seconds=seconds,
        waiting=waiting,
        rounds=sum(map(period.has, facts.rounds)),
        failed_reviews=sum(map(period.has, facts.failed_reviews)),
        crashes=sum(period.has(one.at) for one in facts.crashes),
        sessions=sum(one.spent.iterations for one in sessions),
        usage=total_of(sessions),
        priced_cost=round(sum(one.spent.cost for one in sessions if one.is_priced), 6),
    )


def by_kind(facts: Facts, period: Period) -> tuple[Waits, ...]:
    """Returns the waits of each kind that there were, in the order of the kinds."""
    found = []
    for kind in Awaiting:
        seconds, waiting = _waits([one for one in facts.waits if one.kind is kind], period)
        if seconds:
            found.append(Waits(kind, seconds, waiting))
    return tuple(found)


def by_week(facts: Facts, period: Period) -> tuple[Week, ...]:
    """Returns every week from the first in which anything happened to the last of the period, gaps included."""
    created = _by_week((task.created, 1) for task in facts.tasks if period.has(task.created))
    done = _by_week(
        (task.closed, 1)
        for task in facts.tasks
        if not task.is_open and not task.is_cancelled and period.has(task.closed)
    )
    cost = _by_week((one.at, one.spent.cost) for one in facts.sessions if period.has(one.at))
    # A wait counts in the week of its answer, when somebody can still learn from it.
    waited = _by_week(
        (one.ended or period.until, seconds)
        for one in facts.waits
        if (seconds := period.seconds_of(one.begun, one.ended))
    )
    first = min((*created, *done, *cost, *waited), default=None)
    weeks: list[Week] = []
    while first is not None and first <= monday_of(period.until):
        figures = created.get(first, 0), done.get(first, 0), waited.get(first, 0.0), cost.get(first, 0.0)
        weeks.append(Week(first, int(figures[0]), int(figures[1]), figures[2], round(figures[3], 6)))
        first += timedelta(weeks=1)
    return tuple(weeks)


def share(sorted_values: Sequence[float], part: float) -> float | None:
    """Returns the value that this part of them do not exceed; None where there are none."""
    if not sorted_values:
        return None
    return sorted_values[max(0, ceil(part * len(sorted_values)) - 1)]


def monday_of(at: datetime) -> date:
    """Returns the first day of a moment's week where its reader is."""
    try:
        day = at.astimezone().date()
    except (ValueError, OverflowError):  # the first hours of all time, west of Greenwich
        day = at.date()
    return day - timedelta(days=day.weekday())


def _waits(waits: Iterable[Wait], period: Period) -> tuple[tuple[float, ...], int]:
    """Returns how long each wait took within the period, sorted, and how many of them have not ended."""
    lengths = [(period.seconds_of(one.begun, one.ended), one) for one in waits]
    counted = [(seconds, one) for seconds, one in lengths if seconds > 0]
    return tuple(sorted(seconds for seconds, _ in counted)), sum(one.ended is None for _, one in counted)


def _by_week(amounts: Iterable[tuple[datetime | None, float]]) -> dict[date, float]:
    weeks: dict[date, float] = {}
    for at, amount in amounts:
        if at is not None:
            monday = monday_of(at)
            weeks[monday] = weeks.get(monday, 0) + amount
    return weeks


class EpicFigures(NamedTuple):
    """The figures of an epic with all below it; without one those of tasks that belong to none."""

    id: TaskId | None
    title: str
    figures: Figures


class AgentFigures(NamedTuple):
    """The figures of the tasks that an agent worked on last, and of its own sessions; the name is empty for none."""

    name: str
    figures: Figures


class Statistics(NamedTuple):
    """What there is to count, and what is spent of budgets now; epics and agents with the most that was done first, those without figures left out."""

    period: Period
    total: Figures
    waits: tuple[Waits, ...]
    weeks: tuple[Week, ...]
    epics: tuple[EpicFigures, ...]
    agents: tuple[AgentFigures, ...]
    budgets: tuple[BudgetFigures, ...]


def gather(context: Context, since: date | timedelta | None = None) -> Statistics:
    """Returns the statistics of all tasks since a day, over a stretch up to now, or from the beginning."""
    period = period_until(context.now, since)
    index = context.index
    graph = TaskGraph.of(index.tasks())
    histories, nearest = index.histories(), _epics(graph)
    everything = Facts()
    epics: dict[TaskId | None, Facts] = {}
    agents: dict[str, Facts] = {}
    events = {task_id: events_of(histories.get(task_id)) for task_id in graph.tasks}
    for task in graph.tasks.values():
        journey = follow(task, events[task.id])
        everything.add(journey)
        epics.setdefault(nearest[task.id], Facts()).add(journey)
        # The sessions on a task may be those of several agents.
        agents.setdefault(journey.worker, Facts()).add(replace(journey, sessions=[], crashes=[]))
        for session in journey.sessions:
            agents.setdefault(session.agent, Facts()).sessions.append(session)
        for crash in journey.crashes:
            agents.setdefault(crash.agent, Facts()).crashes.append(crash)
    by_epic = [
        EpicFigures(epic, graph.tasks[epic].title if epic else "", figures_of(facts, period))
        for epic, facts in epics.items()
    ]
    by_agent = [AgentFigures(name, figures_of(facts, period)) for name, facts in agents.items()]
    return Statistics(
        period=period,
        total=figures_of(everything, period),
        waits=by_kind(everything, period),
        weeks=by_week(everything, period),
        epics=tuple(
            sorted(
                (one for one in by_epic if not one.figures.is_empty),
                key=lambda one: (one.id is None, -one.figures.done, -one.figures.open, one.id or ""),
            )
        ),
        agents=tuple(
            sorted(
                (one for one in by_agent if not one.figures.is_empty),
                key=lambda one: (not one.name, -one.figures.done, -one.figures.sessions, one.name),
            )
        ),
        # To read the settings takes longer than all the rest, so it is left where no agent has worked.
        budgets=budget_figures(graph, events, context.settings.budget) if everything.sessions else (),
    )


def _epics(graph: TaskGraph) -> dict[TaskId, TaskId | None]:
    """Returns the epic that each task is, or the nearest above it, open or closed."""
    return {
        task.id: next((one.id for one in chain((task,), graph.ancestors(task)) if one.is_epic), None)
        for task in graph.tasks.values()
    }


class BudgetFigures(NamedTuple):
    """How much of one limit of a task or an epic is spent, since a person let it continue last."""

    id: TaskId
    title: str
    reading: Reading


def budget_figures(
    graph: TaskGraph, histories: Mapping[TaskId, Sequence[Event]], limits: BudgetSettings
) -> tuple[BudgetFigures, ...]:
    """Returns the budgets of open tasks and epics of which anything is spent, the most first."""
    found: list[BudgetFigures] = []
    for task in graph.tasks.values():
        if not task.is_open:
            continue
        history = histories.get(task.id, ())
        if not task.is_epic:
            readings = budget.read(Scope.TASK, count_since_last_word(history).spent, limits.task)
        elif limits.epic.is_set:
            below = {task.id, *graph.below(task.id)}
            total = spending.total_of(budget.spent_in(histories.get(one, ())) for one in below)
            readings = budget.read(Scope.EPIC, total.minus(granted_before(history)), limits.epic)
        else:
            continue
        found += [BudgetFigures(task.id, task.title, one) for one in readings if one.spent]
    return tuple(sorted(found, key=lambda one: (-one.reading.percent, one.id, one.reading.metric)))
