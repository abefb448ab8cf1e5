"""Who works on a task, who reviews it, and whether anybody can."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from gitticks.agents.base import AgentKind, AgentSpec
from gitticks.errors import GitticksError, NotFoundError
from gitticks.model.settings import ReviewPolicy, Settings
from gitticks.model.status import Role, Status
from gitticks.model.task import Task
from gitticks.workflow.artifacts import refused_since_last_word

if TYPE_CHECKING:
    from gitticks.agents.registry import Registry
    from gitticks.document.taskfile import TaskFile
    from gitticks.model.event import Event
    from gitticks.store.branch import Store

NO_AGENT_HINT = (
    "install claude, codex, gemini or opencode, or configure your own program: "
    "`gt config agents.mine.argv '[\"./agent.sh\"]'` and `gt config agent mine`"
)
_HANDED_OFF_FROM = (Status.WORKING, Status.STUCK)
COUNCIL = "council"
"""Who the history says a council's session is by."""
NO_REVIEW_BLOCKS = "the script agent has no `sh reviewer` block in this task"


class NoAgentError(GitticksError):
    """There is no agent that could work on a task."""


def registry_for(settings: Settings, environment: Mapping[str, str]) -> Registry:
    """Returns the agents that settings and PATH offer."""
    from gitticks.agents.registry import Registry

    return Registry(settings.agents, settings.agent, settings.permissions.mode, environment)


def choose_agent(
    registry: Registry,
    task: Task,
    settings: Settings,
    role: Role,
    *,
    asked: str | None = None,
    model: str | None = None,
) -> AgentSpec:
    """Returns the agent for one session.

    The first of `reviewers` reviews where there is one, with its own model; else, and for work, it is the agent that
    the run was asked for, the task's own, or the default, with the `model` that the run was asked for or the task's.
    """
    if role is Role.REVIEWER and settings.reviewers and settings.reviewers[0].agent:
        return registry.spec(settings.reviewers[0].agent)
    name = asked or task.agent
    spec = registry.spec(name) if name else registry.default_spec()
    return replace(spec, model=model or task.model or spec.model)


class Reviewer(NamedTuple):
    """One who reviews: a name of its own among the others, the agent, and what it is to look at."""

    name: str
    agent: AgentSpec
    focus: str = ""


def choose_reviewers(
    registry: Registry, task: Task, settings: Settings, *, asked: str | None = None
) -> tuple[Reviewer, ...]:
    """Returns who reviews a task: all of `reviewers` where a council does, else the first; never none."""
    first = choose_agent(registry, task, settings, Role.REVIEWER, asked=asked)
    if not settings.reviewers:
        return (Reviewer(first.name, first),)
    own = registry.spec(asked or task.agent or "") if asked or task.agent else registry.default_spec()
    wanted = settings.reviewers if settings.review is ReviewPolicy.COUNCIL else settings.reviewers[:1]
    return tuple(
        Reviewer(one.name, registry.spec(one.agent) if one.agent else own, one.focus or "") for one in wanted
    )


def agents_left(
    registry: Registry, agent: AgentSpec, history: Callable[[], Iterable[Event]]
) -> tuple[AgentSpec, ...]:
    """Returns an agent and its fallbacks, without those that are not installed or refused the task; never none.

    A refusal holds until the task moves or a person speaks. `history` is the task's, read only where there are
    fallbacks.
    """
    if not agent.fallback:
        return (agent,)
    refused = refused_since_last_word(history())
    chain = (agent, *registry.fallbacks(agent))
    return tuple(one for one in chain if one.name not in refused and not is_missing(one, registry)) or (
        agent,
    )


def first_awake(agents: tuple[AgentSpec, ...], resting: Container[str]) -> AgentSpec:
    """Returns the first that does not rest; the first of all if all do."""
    return next((one for one in agents if one.name not in resting), agents[0])


def is_missing(agent: AgentSpec, registry: Registry) -> bool:
    """True for a client that is not on PATH; commands from the settings are not checked."""
    from gitticks.agents.registry import CLIENTS

    return agent.kind in CLIENTS and not agent.argv and registry.path_of(agent) is None


def script_blocks(file: TaskFile, role: Role) -> tuple[str, ...]:
    """Returns the shell blocks that the task's `## Script` holds for a role."""
    blocks = file.scripts.reviewer if role is Role.REVIEWER else file.scripts.worker
    return tuple(block.text for block in blocks)


def require_program(agent: AgentSpec, registry: Registry) -> None:
    """Refuses an agent whose client is not installed."""
    if is_missing(agent, registry):
        raise NoAgentError(
            f"the agent `{agent.name}` is not on PATH", hint="`gt agents` lists those that are"
        )


def require_worker(agent: AgentSpec, file: TaskFile, registry: Registry) -> None:
    """Refuses to start a client that is not installed, or the embedded agent where it has nothing to run."""
    require_program(agent, registry)
    if agent.kind is not AgentKind.SCRIPT or script_blocks(file, Role.WORKER):
        return
    if registry.default is None and file.task.agent is None:
        raise NoAgentError("no agent was found on PATH, and the task has no `## Script`", hint=NO_AGENT_HINT)
    raise NoAgentError(
        f"the agent is `{agent.name}`, and the task has no `sh` block under `## Script`",
        hint=f"`gt edit {file.task.id}` adds one, `gt run --agent NAME` chooses another agent",
    )


def require_reviewers(
    registry: Registry, task: Task, settings: Settings, *, asked: str | None = None
) -> None:
    """Refuses work that nobody could review, before it is paid for: the settings know no agent of a reviewer's."""
    if settings.review is ReviewPolicy.NONE:
        return
    try:
        choose_reviewers(registry, task, settings, asked=asked)
    except NotFoundError as error:
        raise NotFoundError(f"nobody could review its work: {error.message}", hint=error.hint) from error


def require_any_worker(
    store: Store, tasks: Iterable[Task], registry: Registry, settings: Settings, *, asked: str | None = None
) -> None:
    """Refuses if there are tasks, and none of them has an agent; an agent of an unknown name is another error.

    Raises:
        NoAgentError: that of the first task.
    """
    first: NoAgentError | None = None
    for task in tasks:
        try:
            agent = choose_agent(registry, task, settings, Role.WORKER, asked=asked)
            agent = agents_left(registry, agent, tuple)[0]
            require_worker(agent, store.task_file(task.id), registry)
        except NoAgentError as error:
            first = first or error
        except GitticksError:
            return
        else:
            return
    if first is not None:
        raise first


def find_waiver(
    registry: Registry, file: TaskFile, settings: Settings, *, asked: str | None = None
) -> str | None:
    """Returns why no agent can review the task, or None if one can or none is to."""
    if settings.review is ReviewPolicy.NONE or file.task.is_epic:
        return None
    try:
        reviewers = choose_reviewers(registry, file.task, settings, asked=asked)
    except GitticksError:
        return None
    is_scripted = all(one.agent.kind is AgentKind.SCRIPT for one in reviewers)
    return NO_REVIEW_BLOCKS if is_scripted and not script_blocks(file, Role.REVIEWER) else None


def find_review_waiver(
    store: Store, task: Task, settings: Settings, environment: Mapping[str, str]
) -> str | None:
    """Returns the same for a command that has no registry, if a hand-off may lead to a review."""
    if settings.review is ReviewPolicy.NONE or task.is_epic or task.status not in _HANDED_OFF_FROM:
        return None
    return find_waiver(registry_for(settings, environment), store.task_file(task.id), settings)
