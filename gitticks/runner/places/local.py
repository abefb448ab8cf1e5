"""Sessions on this machine, in worktrees of the run's own repository."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from gitticks.agents.base import (
    AgentReport,
    Front,
    is_session_id,
    neutral_environment,
)
from gitticks.agents.process import StopRequest
from gitticks.document.taskfile import TaskFile
from gitticks.errors import GitticksError
from gitticks.git.checkouts import checkout_at
from gitticks.git.identity import agent_identity
from gitticks.git.repository import Repository
from gitticks.model.settings import Settings
from gitticks.model.status import Isolation, Role
from gitticks.model.task import Ending, SessionRecord, Task
from gitticks.runner import workspaces
from gitticks.runner.places.conversation import Conversation, failed_start
from gitticks.runner.places.desk import Desk
from gitticks.runner.places.place import Heard, SessionOrder, SessionResult, WantsChecks, Work
from gitticks.runner.review_checkouts import remove_reviews_of, review_checkout
from gitticks.runner.reviewing import COUNCIL
from gitticks.runner.workspace_environment import remove_temporary_folder, temporary_folder
from gitticks.runner.workspace_setup import name_committer
from gitticks.runner.workspaces import Captured, Workspace
from gitticks.world import World


@dataclass(frozen=True, slots=True)
class LocalPlace:
    """The user's own repository; `settings` say how a workspace is set up, bounded and checked.

    `front` is where agents can be seen and talked to, `overrides` are the settings that the run's flags give.
    """

    repository: Repository
    settings: Settings
    world: World
    front: Front = Front.NONE
    overrides: Mapping[str, str] = field(default_factory=dict)

    @property
    def outer_environment(self) -> dict[str, str]:
        """Returns what set-up commands and checks see."""
        return neutral_environment(self.world.environment)

    def hold(self, order: SessionOrder, stop: StopRequest, heard: Heard) -> SessionResult:
        """Makes the workspace, runs the agent in it, and returns what both came to."""
        if order.record.role is Role.REVIEWER:
            return self._hold_review(order, stop, heard)
        try:
            workspace = workspaces.prepare(
                self.repository, order.plan, self.settings, self.outer_environment, stop
            )
            if workspace.isolation is not Isolation.NONE:
                name_committer(self.repository, workspace.path, agent_identity(order.agent.name))
        except GitticksError as error:
            return SessionResult(failed_start(error, stop))
        return self._converse(workspace, order, stop, heard)

    def _converse(
        self, workspace: Workspace, order: SessionOrder, stop: StopRequest, heard: Heard
    ) -> SessionResult:
        checkout = checkout_at(self.repository, workspace.path)
        with temporary_folder(self.repository, checkout) as variables:
            desk = Desk(self, workspace, order.file, order.record, stop, heard.wants_checks, variables)
            report = Conversation(desk, order, heard).run()
            heard.end()
            return SessionResult(report, desk.look(report), workspace)

    def _hold_review(self, order: SessionOrder, stop: StopRequest, heard: Heard) -> SessionResult:
        with ExitStack() as held:
            aside = review_checkout(
                self.repository, order.plan, self.settings, self.outer_environment, stop=stop, warn=heard.warn
            )
            try:
                workspace = held.enter_context(aside)
            except GitticksError as error:
                return SessionResult(failed_start(error, stop))
            return self._converse(workspace, order, stop, heard)

    def recover(
        self, record: SessionRecord, file: TaskFile, stop: StopRequest, wants_checks: WantsChecks
    ) -> SessionResult:
        """Returns what is in a dead session's workspace."""
        session_id = record.session_id if is_session_id(record.session_id or "") else None
        detail = "the runner died with the session"
        report = AgentReport(Ending.INTERRUPTED, detail=detail, session_id=session_id)
        # Before the mailbox was filled, what is there is an earlier session's and has been judged.
        workspace = (
            workspaces.find(self.repository, file.task, Path(record.workspace)) if record.is_briefed else None
        )
        # The answers of a council are its runner's to count: what one of them wrote is no review.
        is_council = record.role is Role.REVIEWER and record.agent == COUNCIL
        if workspace is None or is_council:
            work = Work()
        else:
            remove_temporary_folder(self.repository, checkout_at(self.repository, workspace.path))
            work = Desk(self, workspace, file, record, stop, wants_checks).look(report)
        if record.role is not Role.REVIEWER:
            return SessionResult(report, work, workspace)
        warnings: list[str] = []
        remove_reviews_of(self.repository, self.settings, Path(record.workspace), file.task, warnings.append)
        return SessionResult(report, replace(work, warnings=(*work.warnings, *warnings)))

    def capture(self, workspace: Workspace, head: str, message: str) -> Captured:
        """Returns a commit of what is there."""
        return workspaces.capture(self.repository, workspace, self.settings, head, message)

    def settle(self, workspace: Workspace, task: Task) -> None:
        """Puts partial work aside."""
        workspaces.settle(self.repository, workspace, task)
