"""Sessions on this machine, in worktrees of the run's own repository."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path

from gitticks.agents.base import AgentReport, Front, is_session_id, neutral_environment
from gitticks.agents.process import StopRequest
from gitticks.document.taskfile import TaskFile
from gitticks.errors import GitticksError, MachineError
from gitticks.git.checkouts import checkout_at, head
from gitticks.git.identity import agent_identity
from gitticks.git.refs import BRANCHES, read_ref
from gitticks.git.repository import Repository
from gitticks.git.worktrees import HalfMadeError
from gitticks.model.settings import SandboxPreset, Settings
from gitticks.model.status import Isolation, Role
from gitticks.model.task import Ending, SessionRecord, Task
from gitticks.redaction import secret_values
from gitticks.runner import mailbox, workspaces
from gitticks.runner.commit_checks import find_astray, find_made_elsewhere, judge_commits, judge_paths
from gitticks.runner.outbox import Request
from gitticks.runner.places.conversation import PASSING, Conversation, failed_start
from gitticks.runner.places.place import Heard, SessionOrder, SessionResult, WantsChecks, Work
from gitticks.runner.review_checkouts import ReviewCheckouts
from gitticks.runner.reviewing import COUNCIL
from gitticks.runner.verifiers import ChecksReport, judge_tree, run_checks
from gitticks.runner.workspace_environment import remove_temporary_folder, temporary_folder
from gitticks.runner.workspace_setup import name_committer
from gitticks.runner.workspaces import Workspace
from gitticks.sandbox.enclosure import take_home
from gitticks.store.branch import Store
from gitticks.store.permissions import policy_layers
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
            workspaces.require_program(self.repository, workspace, order.agent.argv)
            if workspace.isolation is not Isolation.NONE:
                name_committer(self.repository, workspace.path, agent_identity(order.agent.name))
        except (GitticksError, OSError) as error:
            return _not_ready(error, stop)
        return self._converse(workspace, order, stop, heard)

    def _converse(
        self, workspace: Workspace, order: SessionOrder, stop: StopRequest, heard: Heard
    ) -> SessionResult:
        checkout = checkout_at(self.repository, workspace.path)
        with temporary_folder(self.repository, checkout) as variables:
            desk = Desk(self, workspace, order.file, order.record, stop, heard.wants_checks, variables)
            report = Conversation(desk, order, heard).run()
            heard.end()
            if order.record.role is not Role.REVIEWER:
                workspaces.restore(self.repository, workspace)
            return SessionResult(report, desk.look(report), workspace)

    def _reviews(self, warn: Callable[[str], None]) -> ReviewCheckouts:
        return ReviewCheckouts(self.repository, self.settings, self.outer_environment, warn)

    def _hold_review(self, order: SessionOrder, stop: StopRequest, heard: Heard) -> SessionResult:
        with ExitStack() as held:
            try:
                workspace = held.enter_context(self._reviews(heard.warn).made(order.plan, stop))
            except (GitticksError, OSError) as error:
                return _not_ready(error, stop)
            return self._converse(workspace, order, stop, heard)

    def recover(
        self, record: SessionRecord, file: TaskFile, stop: StopRequest, wants_checks: WantsChecks
    ) -> SessionResult:
        """Returns what is in a dead session's workspace."""
        session_id = record.session_id if is_session_id(record.session_id or "") else None
        detail = "the runner ended before it had looked at the session's work"
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
        self._reviews(warnings.append).remove_of(file.task, Path(record.workspace))
        return SessionResult(report, replace(work, warnings=(*work.warnings, *warnings)))

    def capture(self, workspace: Workspace, head: str, message: str) -> tuple[str, tuple[str, ...]]:
        """Returns a commit of what is there."""
        return workspaces.capture(self.repository, workspace, self.settings, head, message)

    def settle(self, workspace: Workspace, task: Task) -> None:
        """Puts partial work aside."""
        workspaces.settle(self.repository, workspace, task)


def _not_ready(error: GitticksError | OSError, stop: StopRequest) -> SessionResult:
    """Returns the end of a session without a workspace, which counts for nothing if it may go well later."""
    passes = isinstance(error, (*PASSING, OSError))
    return SessionResult(failed_start(error, stop, Ending.SANDBOX_FAILED if passes else Ending.START_FAILED))


@dataclass(frozen=True, slots=True)
class Desk:
    """A session's workspace, and what can be learned from it."""

    place: LocalPlace
    workspace: Workspace
    file: TaskFile
    record: SessionRecord
    stop: StopRequest
    wants_checks: WantsChecks
    variables: Mapping[str, str] = field(default_factory=dict)

    def read(self) -> mailbox.Delivery:
        """Returns what the agent wrote."""
        return mailbox.read(self.workspace.mailbox, self.file, self.record.role, self.secrets)

    @property
    def secrets(self) -> dict[str, str]:
        """Returns what is masked in all that comes from the agent: values, with their names."""
        return secret_values(self.place.world.environment, (str(self.workspace.path),))

    def look(self, end: AgentReport | Request) -> Work:
        """Returns all that is there, the gates' findings if they are wanted."""
        delivery = self.read()
        brought, refused = self._bring_home()
        checks = self._check(refused) if self.wants_checks(end, delivery) else None
        if self.record.role is Role.REVIEWER:
            branch = self.workspace.branch
            tip = read_ref(self.place.repository.common_dir, BRANCHES + branch) if branch else None
            return Work(delivery, tip, checks)
        tip, warnings = workspaces.collect(self.place.repository, self.workspace)
        return Work(delivery, tip, checks, (*brought, *warnings))

    def _bring_home(self) -> tuple[tuple[str, ...], str | None]:
        """Takes what was committed in a sandbox; returns what is odd, and why nothing was taken if that is so."""
        place, workspace = self.place, self.workspace
        if workspace.isolation is Isolation.NONE or self.record.role is Role.REVIEWER:
            return (), None
        checkout = checkout_at(place.repository, workspace.path)
        try:
            found = take_home(place.repository, checkout, workspace.branch, base=place.settings.base)
        except GitticksError as error:
            if not workspace.path.is_dir():
                gone = f"its workspace {workspace.path} was removed while its agent worked"
                return (gone,), gone
            # This session's own commits are not among them.
            if place.settings.sandbox.preset is SandboxPreset.NONE:
                return (f"what was committed in a sandbox earlier is not taken: {error.message}",), None
            if isinstance(error, (HalfMadeError, MachineError)):
                raise  # nothing that the agent did
            refused = f"what was committed in the sandbox is refused: {error.message}"
            if (last := head(checkout)) is not None:
                refused += (
                    f"; `git reset --soft {last[:10]}` goes back to the last commit that was accepted: "
                    "then take out what is refused and commit again"
                )
            return (refused,), refused
        return found, None

    def _check(self, refused: str | None) -> ChecksReport:
        """Runs the quality gates, if the agent's work is where it belongs."""
        place = self.place
        if refused is not None:
            return ChecksReport(refused, ("the commits are refused",))
        if (astray := self._find_astray()) is not None:
            return ChecksReport(astray, ("commits outside the branch",))
        if (refused := self._judge_tree()) is not None:
            return ChecksReport(refused, ("the commits are refused",))
        path, outer = self.workspace.path, {**place.outer_environment, **self.variables}
        return run_checks(path, place.settings, outer, place.repository, stop=self.stop)

    def _judge_tree(self) -> str | None:
        repository, workspace = self.place.repository, self.workspace
        base = workspace.base and read_ref(repository.common_dir, f"{BRANCHES}{workspace.base}")
        begin, end = base or workspace.start_sha, head(checkout_at(repository, workspace.path))
        if not begin or end is None:
            return None
        environment = self.place.world.environment
        rules = policy_layers(repository, environment, self.place.overrides)
        return (
            judge_tree(repository, begin, end)
            or judge_paths(repository, begin, end, rules)
            or judge_commits(Store(repository), workspace.task_id, begin, end, environment)
        )

    def _find_astray(self) -> str | None:
        repository, workspace, record = self.place.repository, self.workspace, self.record
        branch, start_sha = workspace.branch, workspace.start_sha or None
        if branch is None:
            return None
        agent = agent_identity(record.agent)
        return find_astray(
            repository, workspace.path, branch=branch, start_sha=start_sha, base=workspace.base
        ) or find_made_elsewhere(repository, record.task, branch=branch, agent=agent, since=record.started)
