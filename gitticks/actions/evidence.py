"""What a claim that work is finished is checked against: the workspace, and the quality gates in it."""

from __future__ import annotations

from pathlib import Path

from gitticks.actions.context import Context
from gitticks.actions.trust import require_team_trusted, settings_here
from gitticks.errors import NotFoundError, RefusedError
from gitticks.model.ids import TaskId
from gitticks.model.notes import Section
from gitticks.model.status import Isolation, Status
from gitticks.model.task import Task
from gitticks.runner.commit_checks import find_astray
from gitticks.runner.liveness import live_tasks
from gitticks.runner.verifiers import ChecksReport, has_gates, run_checks
from gitticks.runner.workspace_removal import workspace_of
from gitticks.workflow.transitions import targets


def astray_in(context: Context, task: Task, workspace: Path, *, is_tested_there: bool = True) -> str | None:
    """Returns why the task's branch does not bring what was committed in its workspace, or None."""
    if task.branch is None or task.isolation_in(context.settings.isolation) is Isolation.NONE:
        return None

    return find_astray(
        context.repository,
        workspace,
        branch=task.branch,
        start_sha=task.start_sha,
        base=task.base,
        is_tested_there=is_tested_there,
    )


def verify_task(context: Context, task_id: TaskId) -> ChecksReport:
    """Runs the quality gates in a task's workspace, as its hand-off would; the task stays as it is."""
    workspace = workspace_of(context.repository, context.settings, context.store.task_file(task_id).task)
    if workspace is None:
        raise NotFoundError(
            f"`{task_id}` has no workspace in this clone", hint=f"`gt start {task_id}` makes one"
        )
    if task_id in live_tasks(context.repository.own_place):
        raise RefusedError(
            f"an agent is working on `{task_id}`; the gates run when it hands off",
            hint=f"`gt stop {task_id}` ends it",
        )
    if not has_gates(context.settings):
        raise RefusedError("there are no quality gates", hint='`gt config verify.test "make test"` adds one')
    require_team_trusted(context)
    return run_checks(workspace, settings_here(context), context.world.environment, context.repository)


def check_work(context: Context, task_id: TaskId) -> ChecksReport | None:
    """Returns what the quality gates find in the task's workspace; None where it has none.

    Without a hand-off nothing is run: the task cannot continue in any case.
    """
    file = context.store.task_file(task_id)
    workspace = workspace_of(context.repository, context.settings, file.task)
    may_hand_off = Status.AGENT_REVIEW in targets(file.task.status)
    is_finished = may_hand_off and file.section(Section.HANDOFF) is not None
    if workspace is None or not is_finished:
        return None

    astray = astray_in(context, file.task, workspace)
    if astray is not None:
        return ChecksReport(astray)
    require_team_trusted(context)
    settings = settings_here(context) if has_gates(context.settings) else context.settings
    return run_checks(workspace, settings, context.world.environment, context.repository)
