"""Who works on a task and who reviews it, and whether anybody can."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from gitticks.agents.base import AgentKind, AgentSpec
from gitticks.errors import GitticksError
from gitticks.model.policy import ReviewPolicy
from gitticks.model.settings import Settings
from gitticks.model.status import Role
from gitticks.model.task import Task

if TYPE_CHECKING:
    from gitticks.agents.registry import Registry
    from gitticks.document.taskfile import TaskFile
    from gitticks.store.branch import Store

NO_REVIEW_BLOCKS = "the script agent has no `sh reviewer` block in this task"


def registry_for(settings: Settings, environment: Mapping[str, str]) -> Registry:
    """Returns the agents that settings and PATH offer."""
    from gitticks.agents.registry import Registry

    return Registry(settings.agents, settings.agent, settings.permissions.mode, environment)


def choose_agent(
    registry: Registry, task: Task, settings: Settings, role: Role, *, asked: str | None = None
) -> AgentSpec:
    """Returns the agent for one session.

    The first of `reviewers` reviews where there is one; else, and for work, it is the agent that the run was asked
    for, the task's own, or the default.

    Raises:
        GitticksError: an agent is named that does not exist.
    """
    if role is Role.REVIEWER and settings.reviewers and settings.reviewers[0].agent:
        return registry.spec(settings.reviewers[0].agent)
    name = asked or task.agent
    return registry.spec(name) if name else registry.default_spec()


def script_blocks(file: TaskFile, role: Role) -> tuple[str, ...]:
    """Returns the shell blocks that the task's `## Script` holds for a role."""
    blocks = file.scripts.reviewer if role is Role.REVIEWER else file.scripts.worker
    return tuple(block.text for block in blocks)


def find_waiver(
    registry: Registry, file: TaskFile, settings: Settings, *, asked: str | None = None
) -> str | None:
    """Returns why no agent can review the task, or None if one can or none is to."""
    if settings.review is ReviewPolicy.NONE or file.task.is_epic:
        return None
    try:
        agent = choose_agent(registry, file.task, settings, Role.REVIEWER, asked=asked)
    except GitticksError:
        return None
    if agent.kind is not AgentKind.SCRIPT or script_blocks(file, Role.REVIEWER):
        return None
    return NO_REVIEW_BLOCKS


def find_review_waiver(
    store: Store, task: Task, settings: Settings, environment: Mapping[str, str]
) -> str | None:
    """Returns the same for a command, which has no registry at hand."""
    if settings.review is ReviewPolicy.NONE or task.is_epic or not task.is_open:
        return None
    return find_waiver(registry_for(settings, environment), store.task_file(task.id), settings)
