"""Who works on a task, who reviews it, and whether anybody can."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from gitticks.agents.base import AgentSpec
from gitticks.errors import GitticksError, NotFoundError
from gitticks.model.settings import AgentKind, ReviewPolicy, Settings
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


class Reviewer(NamedTuple):
    """One who reviews: a name of its own among the others, the agent, and what it is to look at."""

    name: str
    agent: AgentSpec
    focus: str = ""


def first_awake(agents: tuple[AgentSpec, ...], resting: Container[str]) -> AgentSpec:
    """Returns the first that does not rest; the first of all if all do."""
    return next((one for one in agents if one.name not in resting), agents[0])


def script_blocks(file: TaskFile, role: Role) -> tuple[str, ...]:
    """Returns the shell blocks that the task's `## Script` holds for a role."""
    blocks = file.scripts.reviewer if role is Role.REVIEWER else file.scripts.worker
    return tuple(block.text for block in blocks)


def require_program(agent: AgentSpec, registry: Registry) -> None:
    """Refuses an agent whose client is not installed."""
    if registry.lacks(agent):
        raise NoAgentError(
            f"the agent `{agent.name}` is not on PATH", hint="`gt agents` lists those that are"
        )


class Staff(NamedTuple):
    """Who may work and review; `asked` and `model` are the agent and the model that a run was asked for."""

    registry: Registry
    settings: Settings
    asked: str | None = None
    model: str | None = None

    def agent(self, task: Task, role: Role) -> AgentSpec:
        """Returns the agent for one session.

        The first of `reviewers` reviews where there is one, with its own model; else, and for work, it is the agent that
        the run was asked for, the task's own, or the default, with the `model` that the run was asked for or the task's.
        """
        reviewers = self.settings.reviewers
        if role is Role.REVIEWER and reviewers and reviewers[0].agent:
            return self.registry.spec(reviewers[0].agent)
        spec = self._own(task)
        return replace(spec, model=self.model or task.model or spec.model)

    def _own(self, task: Task) -> AgentSpec:
        name = self.asked or task.agent
        return self.registry.spec(name) if name else self.registry.default_spec()

    def reviewers(self, task: Task) -> tuple[Reviewer, ...]:
        """Returns who reviews a task: all of `reviewers` where a council does, else the first; never none."""
        wanted = self.settings.reviewers
        if not wanted:
            first = self.agent(task, Role.REVIEWER)
            return (Reviewer(first.name, first),)
        spec, own = self.registry.spec, self._own(task)
        if self.settings.review is not ReviewPolicy.COUNCIL:
            wanted = wanted[:1]
        return tuple(
            Reviewer(one.name, spec(one.agent) if one.agent else own, one.focus or "") for one in wanted
        )

    def agents(self, task: Task, role: Role) -> tuple[AgentSpec, ...]:
        """Returns the agents that a session starts: all reviewers of a council, else one."""
        if role is Role.REVIEWER and self.settings.review is ReviewPolicy.COUNCIL:
            return tuple(one.agent for one in self.reviewers(task))
        return (self.agent(task, role),)

    def left(self, agent: AgentSpec, history: Callable[[], Iterable[Event]]) -> tuple[AgentSpec, ...]:
        """Returns an agent and its fallbacks, without those that are not installed or refused the task; never none.

        A refusal holds until the task moves or a person speaks. `history` is the task's, read only where there are
        fallbacks.
        """
        if not agent.fallback:
            return (agent,)
        refused = refused_since_last_word(history())
        # An unknown or incomplete one must not keep the agent itself from work.
        chain = (agent, *filter(None, map(self.registry.whole_spec, agent.fallback)))
        found = tuple(one for one in chain if one.name not in refused and not self.registry.lacks(one))
        return found or (agent,)

    def require_worker(self, agent: AgentSpec, file: TaskFile) -> None:
        """Refuses to start a client that is not installed, or the embedded agent where it has nothing to run."""
        require_program(agent, self.registry)
        if agent.kind is not AgentKind.SCRIPT or script_blocks(file, Role.WORKER):
            return
        if self.registry.default is None and file.task.agent is None:
            raise NoAgentError(
                "no agent was found on PATH, and the task has no `## Script`", hint=NO_AGENT_HINT
            )
        raise NoAgentError(
            f"the agent is `{agent.name}`, and the task has no `sh` block under `## Script`",
            hint=f"`gt edit {file.task.id}` adds one, `gt run --agent NAME` chooses another agent",
        )

    def require_reviewers(self, task: Task) -> tuple[Reviewer, ...]:
        """Refuses work that nobody could review, before it is paid for; returns who of a council is not installed.

        Raises:
            NotFoundError: the settings do not know a reviewer's agent.
            NoAgentError: no reviewer is installed.
        """
        if self.settings.review is ReviewPolicy.NONE:
            return ()
        try:
            reviewers = self.reviewers(task)
            first = [self.left(one.agent, tuple)[0] for one in reviewers]
            absent = [one for one, agent in zip(reviewers, first, strict=True) if self.registry.lacks(agent)]
            if len(absent) == len(reviewers):
                require_program(absent[0].agent, self.registry)
        except (NotFoundError, NoAgentError) as error:
            raise type(error)(f"nobody could review its work: {error.message}", hint=error.hint) from error
        return tuple(absent)

    def require_any_worker(self, store: Store, tasks: Iterable[Task]) -> None:
        """Refuses if there are tasks, and none of them has an agent; an agent of an unknown name is another error.

        Raises:
            NoAgentError: that of the first task.
        """
        first: NoAgentError | None = None
        for task in tasks:
            try:
                agent = self.left(self.agent(task, Role.WORKER), tuple)[0]
                self.require_worker(agent, store.task_file(task.id))
            except NoAgentError as error:
                first = first or error
            except GitticksError:
                return
            else:
                return
        if first is not None:
            raise first

    def waiver(self, file: TaskFile) -> str | None:
        """Returns why no agent can review the task, or None if one can or none is to."""
        if self.settings.review is ReviewPolicy.NONE:
            return None
        try:
            reviewers = self.reviewers(file.task)
        except GitticksError:
            return None
        is_scripted = all(one.agent.kind is AgentKind.SCRIPT for one in reviewers)
        return NO_REVIEW_BLOCKS if is_scripted and not script_blocks(file, Role.REVIEWER) else None


def find_review_waiver(
    store: Store, task: Task, settings: Settings, environment: Mapping[str, str]
) -> str | None:
    """Returns the same for a command that has no registry, if a hand-off may lead to a review."""
    if settings.review is ReviewPolicy.NONE or task.status not in _HANDED_OFF_FROM:
        return None
    return Staff(registry_for(settings, environment), settings).waiver(store.task_file(task.id))
