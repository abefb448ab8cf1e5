"""The interface between a run and the place where a session runs: order, messages, result.

The run plans a session, writes its start and end, and decides what follows; the place has the workspace. Nothing of a
workspace is read on the run's side, so a place may be on another host.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol

from gitticks.agents.base import AgentReport, AgentSpec
from gitticks.agents.process import StopRequest
from gitticks.document.taskfile import TaskFile
from gitticks.errors import GitticksError
from gitticks.model.task import SessionRecord, Task, Usage
from gitticks.runner.mailbox import Delivery
from gitticks.runner.outbox import Request
from gitticks.runner.places.permission_socket import HookAnswer, ToolCall
from gitticks.runner.verifiers import ChecksReport
from gitticks.runner.workspaces import Workspace


@dataclass(frozen=True, slots=True)
class EarlierSession:
    """An agent's own session: its name, and the tokens that the agent counted in it."""

    session_id: str
    counted: Usage = field(default_factory=Usage)


class SessionOrder(NamedTuple):
    """What a session is to do.

    `file` is the task as the agent is given it, `prompt` what it reads; if it continues with an `earlier` session and
    that is gone, it reads `prompt_anew`. `script` holds the blocks that the embedded agent runs. Of several reviewers
    that look at the same work each has its `number`, from 1, and its name, as `reviewer`.
    """

    record: SessionRecord
    plan: Workspace
    file: TaskFile
    agent: AgentSpec
    script: tuple[str, ...]
    prompt: str
    earlier: EarlierSession | None
    prompt_anew: str
    number: int = 1
    reviewer: str = ""


@dataclass(frozen=True, slots=True)
class Work:
    """What a session has come to: what the agent wrote, the head of its branch, what the gates found if they ran."""

    delivery: Delivery = field(default_factory=Delivery)
    head: str | None = None
    checks: ChecksReport | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SessionResult:
    """The result of a session; `workspace` is None if there is none that `Place.settle` could tidy."""

    report: AgentReport
    work: Work = field(default_factory=Work)
    workspace: Workspace | None = None


WantsChecks = Callable[["AgentReport | Request", Delivery], bool]
"""Decides whether the gates are to run on what an agent has delivered by its end, or asks for by a request."""


class Heard(Protocol):
    """What a place reports to the run during a session; called from any thread."""

    def begin(self) -> None:
        """The agent is about to be started: from now on what is in its mailbox is its own."""

    def end(self) -> None:
        """The agent is over; the checks come next."""

    def say(self, text: str) -> None:
        """The agent said something worth showing."""

    def line(self, line: str) -> None:
        """The agent printed a line."""

    def warn(self, message: str) -> None:
        """Something was odd."""

    def name_session(self, session_id: str) -> None:
        """The agent reported the id of its own session."""

    def wants_checks(self, end: AgentReport | Request, delivery: Delivery) -> bool:
        """Returns whether the gates are to run."""

    def request(self, request: Request, work: Work) -> float | None:
        """The agent asks for something; returns how many seconds it may still take if its work is over by that."""

    def permit(self, agent: AgentSpec, call: ToolCall, workspace: Path) -> HookAnswer:
        """The agent's client is about to use a tool and asks; answered by the rules, or by a person."""

    def saw(self, agent: AgentSpec, call: ToolCall, workspace: Path) -> None:
        """The agent's client shows that it has used a tool, whether it asked before or not."""

    def refuse(self, error: GitticksError) -> None:
        """What the agent asked for could not be looked at."""


class Place(Protocol):
    """Where sessions run."""

    def hold(self, order: SessionOrder, stop: StopRequest, heard: Heard) -> SessionResult:
        """Runs a session to its end."""

    def recover(
        self, record: SessionRecord, file: TaskFile, stop: StopRequest, wants_checks: WantsChecks
    ) -> SessionResult:
        """Returns what a session has come to whose runner died."""

    def capture(self, workspace: Workspace, head: str, message: str) -> tuple[str, tuple[str, ...]]:
        """Returns a commit of the run's repository that holds all there is in a workspace, and the paths it cannot hold.

        Raises:
            GitticksError: it cannot be made.
        """

    def settle(self, workspace: Workspace, task: Task) -> None:
        """Puts partial work aside where the workspace is shared, once it is decided what becomes of the task.

        Raises:
            GitticksError: it cannot be put aside, and stays.
        """
