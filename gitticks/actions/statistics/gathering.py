"""Gathers the statistics of a repository from the histories that the query index holds."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta

from gitticks.actions.context import Context
from gitticks.actions.statistics.figures import Facts, Figures, Waits, Week
from gitticks.actions.statistics.journey import follow
from gitticks.actions.statistics.period import Period, period_until
from gitticks.document.history import read_history
from gitticks.model.ids import TaskId
from gitticks.model.queries import TaskGraph
from gitticks.store.index import BrokenFile


@dataclass(frozen=True, slots=True)
class EpicFigures:
    """The figures of an epic with all below it; without one those of tasks that belong to none."""

    id: TaskId | None
    title: str
    figures: Figures


@dataclass(frozen=True, slots=True)
class AgentFigures:
    """The figures of the tasks that an agent worked on last, and of its own sessions; the name is empty for none."""

    name: str
    figures: Figures


@dataclass(frozen=True, slots=True)
class Statistics:
    """What there is to count; epics and agents with the most that was done first, those without figures left out."""

    period: Period
    total: Figures
    waits: tuple[Waits, ...]
    weeks: tuple[Week, ...]
    epics: tuple[EpicFigures, ...]
    agents: tuple[AgentFigures, ...]
    has_tasks: bool
    broken: tuple[BrokenFile, ...]


def gather(context: Context, since: date | timedelta | None = None) -> Statistics:
    """Returns the statistics of all tasks since a day, over a stretch up to now, or from the beginning.

    Raises:
        UsageError: that day is still to come.
    """
    period = period_until(context.now, since)
    index = context.index
    graph = TaskGraph.of(index.tasks())
    histories, nearest = index.histories(), _epics(graph)
    everything = Facts()
    epics: dict[TaskId | None, Facts] = {}
    agents: dict[str, Facts] = {}
    for task in graph.tasks.values():
        journey = follow(task, read_history(histories.get(task.id, b"")).events)
        everything.add(journey)
        epics.setdefault(nearest[task.id], Facts()).add(journey)
        agents.setdefault(journey.worker or "", Facts()).add_way(journey)
        for session in journey.sessions:
            agents.setdefault(session.agent, Facts()).sessions.append(session)
        for crash in journey.crashes:
            agents.setdefault(crash.agent, Facts()).crashes.append(crash)
    by_epic = [
        EpicFigures(epic, graph.tasks[epic].title if epic else "", facts.figures(period))
        for epic, facts in epics.items()
    ]
    by_agent = [AgentFigures(name, facts.figures(period)) for name, facts in agents.items()]
    return Statistics(
        period=period,
        total=everything.figures(period),
        waits=everything.by_kind(period),
        weeks=everything.by_week(period),
        epics=tuple(sorted((one for one in by_epic if not one.figures.is_empty), key=_epic_order)),
        agents=tuple(sorted((one for one in by_agent if not one.figures.is_empty), key=_agent_order)),
        has_tasks=bool(graph.tasks),
        broken=index.to_mend(),
    )


def _epics(graph: TaskGraph) -> dict[TaskId, TaskId | None]:
    """Returns the epic that each task is, or the nearest above it, open or closed; each task is looked at once."""
    epics: dict[TaskId, TaskId | None] = {}
    for task_id in graph.tasks:
        way: dict[TaskId, None] = {}
        here: TaskId | None = task_id
        while here is not None and here in graph.tasks and here not in epics and here not in way:
            way[here] = None
            if graph.tasks[here].is_epic:
                break
            here = graph.tasks[here].parent
        is_epic = here is not None and here in graph.tasks and graph.tasks[here].is_epic
        epic = here if is_epic else epics.get(here) if here is not None else None
        epics |= dict.fromkeys(way, epic)
    return epics


def _epic_order(one: EpicFigures) -> tuple[bool, int, int, str]:
    return (one.id is None, -one.figures.done, -one.figures.open, one.id or "")


def _agent_order(one: AgentFigures) -> tuple[bool, int, int, str]:
    return (not one.name, -one.figures.done, -one.figures.sessions, one.name)
