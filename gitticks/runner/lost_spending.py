"""What a session spent whose runner died: read from its transcript, as it would have been read from the live stream."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from gitticks.agents.base import AgentReport, AgentSpec, Ended, EndReason
from gitticks.agents.base import Request as AgentRequest
from gitticks.agents.prices import with_cost
from gitticks.agents.registry import invoke
from gitticks.errors import GitticksError
from gitticks.model.event import Event
from gitticks.model.status import Role
from gitticks.model.task import SessionRecord, Task, Usage
from gitticks.runner.budgets import unpriced_words
from gitticks.runner.context import RunContext
from gitticks.runner.council import KeptAnswers, together
from gitticks.runner.events import Warned
from gitticks.runner.reviewing import COUNCIL, choose_reviewers
from gitticks.runner.transcripts import read_printed
from gitticks.workflow.budget import counted_in


def with_spending(
    run: RunContext, record: SessionRecord, task: Task, history: tuple[Event, ...], report: AgentReport
) -> AgentReport:
    """Returns the report of a dead session with what it spent, and warns of what has no price.

    It is an estimate if the agent was still at work. An agent that the settings no longer have cannot be read.
    """
    if record.transcript is None:
        return report
    before = counted_in(history, record.session_id) if record.session_id else Usage()
    try:
        seats = _seats(run, record, task)
        found = [_read(run, record, agent, prefix, before) for agent, prefix in seats]
    except GitticksError:
        return replace(report, is_estimate=True)
    for (agent, _), one in zip(seats, found, strict=True):
        if one.is_unpriced:
            run.emit(Warned(task.id, unpriced_words(agent.name, one)))
    if not found:
        return report
    spent = found[0] if len(found) == 1 else together(found, report.ending)
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


def _seats(run: RunContext, record: SessionRecord, task: Task) -> list[tuple[AgentSpec, str]]:
    """Returns each agent of the session, and what begins its lines.

    A reviewer whose answer is kept is counted with the council that will use it.
    """
    if record.role is not Role.REVIEWER or record.agent != COUNCIL:
        return [(replace(run.registry.spec(record.agent), model=record.model), "")]
    reviewers = choose_reviewers(run.registry, task, run.settings, asked=run.options.agent)
    kept = KeptAnswers(run.repository.own_dir, task.id, task.end_sha, reviewers)
    return [(one.agent, f"[{one.name}] ") for one in reviewers if kept.find(one.name) is None]


def _read(
    run: RunContext, record: SessionRecord, agent: AgentSpec, prefix: str, before: Usage
) -> AgentReport:
    # Only the reader is wanted; the rest is what the agents need to say how they would be started.
    reader = invoke(agent, AgentRequest("", spent_before=before, prompt_file="", script=(":",))).new_reader()
    lines, seconds = read_printed(run.repository.own_dir, record)
    for line in _beginning_with(prefix, lines):
        reader.feed(line)
        reader.used.clear()
    report = reader.report(Ended(EndReason.EXITED, 0, seconds=seconds), run.now)
    return with_cost(report, agent.kind, run.settings.prices, model=agent.model)


def _beginning_with(prefix: str, lines: Iterable[str]) -> Iterator[str]:
    return (line.removeprefix(prefix) for line in lines if line.startswith(prefix))
