"""Agents that settings or tasks name, and that the settings here do not know.

Of settings that cannot be read their own check tells.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from gitticks.actions.agents import why_unknown
from gitticks.actions.context import Context
from gitticks.actions.doctor.finding import Finding, Severity
from gitticks.errors import GitticksError
from gitticks.model.settings import Settings
from gitticks.model.task import Task

_SHOWN_TASKS = 3


def check_agents(context: Context) -> Iterator[Finding]:
    """Yields a warning for each setting that names an agent that there is not."""
    settings = _settings(context)
    if settings is None:
        return
    for setting, name in _named(settings):
        unknown = why_unknown(settings, name)
        if unknown is not None:
            yield Finding(Severity.WARNING, f"the setting `{setting}`: {unknown}", f"`gt config {setting}`")


def _named(settings: Settings) -> Iterator[tuple[str, str]]:
    """Yields each setting that names agents, with one of them."""
    if settings.agent is not None:
        yield "agent", settings.agent
    yield from (("reviewers", one.agent) for one in settings.reviewers if one.agent is not None)
    for agent, entry in settings.agents.items():
        yield from ((f"agents.{agent}.fallback", name) for name in entry.fallback)


def unknown_workers(context: Context, tasks: Iterable[Task]) -> Iterator[Finding]:
    """Yields a warning for each agent that tasks name and that there is not."""
    settings = _settings(context)
    if settings is None:
        return
    named: dict[str, list[Task]] = {}
    for task in tasks:
        if task.agent is not None:
            named.setdefault(task.agent, []).append(task)
    for name, waiting in named.items():
        unknown = why_unknown(settings, name)
        if unknown is not None:
            ids = ", ".join(f"`{task.id}`" for task in waiting[:_SHOWN_TASKS])
            more = f" and {len(waiting) - _SHOWN_TASKS} more" if len(waiting) > _SHOWN_TASKS else ""
            mend = f"`gt update {waiting[0].id} --agent null` leaves it to the default"
            yield Finding(Severity.WARNING, f"runs here leave {ids}{more} out: {unknown}", mend)


def _settings(context: Context) -> Settings | None:
    try:
        return context.settings
    except GitticksError:
        return None
