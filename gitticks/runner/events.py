"""The events of a run; plain lines, JSON lines and tests all read these values."""

from __future__ import annotations

from typing import NamedTuple

from gitticks.model.checkpoint import Cause
from gitticks.model.ids import TaskId
from gitticks.model.status import Awaiting, Role, Status
from gitticks.model.task import Ending
from gitticks.runner.run_record import BudgetState


class SessionBegan(NamedTuple):
    """An agent was started on a task; `workspace` is its path from the repository's root.

    The work began at `start_sha` on the branch `origin`: the base, or a branch that the task shares with its epic.
    """

    task: TaskId
    title: str
    agent: str
    role: Role
    workspace: str
    base: str | None
    origin: str | None
    start_sha: str | None


class AgentSaid(NamedTuple):
    """One line of an agent's output."""

    task: TaskId
    line: str


class SessionSpent(NamedTuple):
    """A session is over: how it ended, what it used, and the state of every budget that counts it.

    `cost` is None if it is unknown; `cost_source` says where the price came from if the agent did not report it.
    """

    task: TaskId
    agent: str
    role: Role
    tokens: int
    cost: float | None
    cost_source: str | None
    seconds: float
    budgets: tuple[BudgetState, ...]
    ending: Ending


class BudgetReached(NamedTuple):
    """A budget reached a level, in per cent: 80 and 95 are warnings, at 100 nothing more is started."""

    budget: BudgetState
    level: int


class ChecksEnded(NamedTuple):
    """The quality gates ran; `failure` is None if they passed."""

    task: TaskId
    summary: str
    failure: str | None


class TaskMoved(NamedTuple):
    """A decision was written; `reason` is that of its last step or event, `passed` that of its first step."""

    task: TaskId
    title: str
    source: Status
    target: Status
    awaiting: Awaiting | None
    reason: str | None
    actor: str
    is_merging: bool = False
    passed: str | None = None


class Warned(NamedTuple):
    """Something unexpected happened; nothing was lost."""

    task: TaskId | None
    message: str


class PermissionAsked(NamedTuple):
    """An agent wants to do something that a person is to decide; `number` names the question in `gt permissions`."""

    task: TaskId
    number: int
    agent: str
    operation: str
    target: str
    reason: str


class TaskMerged(NamedTuple):
    """Approved work reached the base."""

    task: TaskId
    base: str
    sha: str
    summary: str


class MergeWaits(NamedTuple):
    """The merge could not be made now, and nothing was changed."""

    task: TaskId
    reason: str


class CheckpointMade(NamedTuple):
    """A checkpoint that `gt resume` can go back to; `iteration` is how many its workspace had until then.

    `head` is the last commit of the work; `commit` also holds what was uncommitted.
    """

    task: TaskId
    checkpoint: str
    cause: Cause
    iteration: int
    head: str
    commit: str


class RunWaits(NamedTuple):
    """The run is waiting; `reason` says for what."""

    reason: str


class RunAdded(NamedTuple):
    """Tasks or epics were added to the run by `gt run --add`."""

    tasks: tuple[TaskId, ...]


class RunEnded(NamedTuple):
    """The run is over; `waiting` counts its tasks that await a person, `done` those that it brought to their end.

    `hints` say how the others can continue.
    """

    reason: str
    exit_code: int
    iterations: int
    waiting: int
    stuck: int
    done: int
    cost: float
    hints: tuple[str, ...] = ()
    budgets: tuple[BudgetState, ...] = ()


RunEvent = (
    SessionBegan
    | AgentSaid
    | SessionSpent
    | BudgetReached
    | ChecksEnded
    | TaskMoved
    | Warned
    | PermissionAsked
    | TaskMerged
    | MergeWaits
    | CheckpointMade
    | RunWaits
    | RunAdded
    | RunEnded
)
