"""The end of a session, whether its runner sees it or finds it later: read, check, decide, write, tell."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from gitticks.errors import GitticksError
from gitticks.model.event import Actor
from gitticks.model.ids import TaskId
from gitticks.model.session import Ending
from gitticks.model.status import Role
from gitticks.runner import mailbox, workspaces
from gitticks.runner.events import ChecksEnded, Warned
from gitticks.runner.handover import Handover, write_handover
from gitticks.runner.mailbox import Delivery
from gitticks.runner.reviewing import find_waiver
from gitticks.runner.telling import tell
from gitticks.runner.verifiers import ChecksReport, run_checks
from gitticks.workflow.decision import is_turn_of
from gitticks.workflow.sessions import wants_checks
from gitticks.workflow.signals import read_signal
from gitticks.workflow.triggers import SessionEnded

if TYPE_CHECKING:
    from gitticks.agents.base import AgentReport
    from gitticks.agents.stopping import StopRequest
    from gitticks.document.taskfile import TaskFile
    from gitticks.runner.context import RunContext
    from gitticks.runner.workspaces import Workspace
    from gitticks.store.branch import Store
    from gitticks.workflow.decision import Decision


@dataclass(frozen=True, slots=True)
class SessionEnding:
    """Which session ended, and what its agent's output tells."""

    actor: Actor
    role: Role
    round: int
    report: AgentReport

    def trigger(self) -> SessionEnded:
        """Returns the end with the signal that counts."""
        report, total = self.report, self.report.total_usage
        reading = read_signal(report.text, on_own_lines=report.signals_on_own_lines)
        return SessionEnded(
            self.actor,
            self.role,
            self.round,
            report.ending,
            reading.signal,
            reading.warnings,
            report.detail or None,
            report.session_id,
            None if total is None else (total.tokens_in, total.tokens_out),
            report.spent,
        )


def finish_session(
    run: RunContext,
    store: Store,
    given: TaskFile,
    ending: SessionEnding,
    *,
    workspace: Workspace | None,
    stop: StopRequest,
) -> Decision:
    """Judges what an agent left and writes it, whatever the state has become meanwhile.

    Args:
        run: the run, or the command that found the dead session.
        store: the calling thread's store.
        given: the file that the agent was given.
        ending: the session.
        workspace: where it worked; None if it could not be made.
        stop: ends checks that are running.
    """
    task_id = given.task.id
    delivery = Delivery() if workspace is None else mailbox.read(workspace.mailbox, given, ending.role)
    ended = ending.trigger()
    before = store.task_file(task_id).task
    checks: ChecksReport | None = None
    if workspace is not None and wants_checks(before, ended, handoff=delivery.handoff is not None):
        checks = check(run, before.id, workspace, stop)
        if checks.is_stopped:
            # Whoever stopped the checks stopped the session: neither its hand-off nor a failure counts.
            ended = replace(ended, ending=Ending.STOPPED)
    handover = Handover(
        task_id, ending.actor, ending.role, delivery, ending.report, ended, checks.lines if checks else ()
    )
    head = None if workspace is None else _collect(run, workspace)
    waiver = find_waiver(run.registry, store.task_file(task_id), run.settings, asked=run.options.agent)
    circumstances = run.with_failed_checks(
        run.circumstances(head=head, review_waiver=waiver), checks.failure if checks else None
    )
    decision = store.transact(
        lambda transaction: write_handover(transaction, handover, circumstances), author=run.author
    )
    if workspace is not None:
        _settle(run, workspace, decision)
    if ended.ending is not Ending.STOPPED or is_turn_of(before, ending.role):
        # A session that was stopped since its task had moved on: that move was told when it was made.
        tell(run, before, decision)
    return decision


def _collect(run: RunContext, workspace: Workspace) -> str:
    collected = workspaces.collect(run.repository, workspace)
    for warning in collected.warnings:
        run.emit(Warned(workspace.task_id, warning))
    return collected.head


def _settle(run: RunContext, workspace: Workspace, decision: Decision) -> None:
    """Puts partial work aside where the workspace is shared; what cannot be put aside stays, and is said."""
    try:
        workspaces.settle(run.repository, workspace, decision.task)
    except GitticksError as error:
        run.emit(
            Warned(workspace.task_id, f"its uncommitted work stays in {workspace.path}: {error.message}")
        )


def check(run: RunContext, task_id: TaskId, workspace: Workspace, stop: StopRequest) -> ChecksReport:
    """Runs the quality gates in a workspace and tells what they found."""
    report = run_checks(workspace.path, run.settings, run.outer_environment(), run.repository, stop=stop)
    run.emit(ChecksEnded(task_id, "; ".join(report.lines), report.failure))
    if report.left:
        run.emit(Warned(task_id, f"the checks left files behind: {', '.join(report.left[:5])}"))
    return report
