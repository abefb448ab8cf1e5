"""What a claim that work is finished is checked against: the workspace, and the quality gates in it."""

from __future__ import annotations

from pathlib import Path

from gitticks.actions.context import Context
from gitticks.actions.trust import require_team_trusted, settings_here
from gitticks.errors import NotFoundError, RefusedError
from gitticks.git.checkouts import checkout_at
from gitticks.git.refs import read_ref
from gitticks.model.ids import TaskId
from gitticks.model.notes import Section
from gitticks.model.status import Isolation, Status
from gitticks.model.task import Task
from gitticks.runner.commit_checks import find_astray
from gitticks.runner.liveness import live_tasks
from gitticks.runner.partial_work import partial_ref
from gitticks.runner.verifiers import ChecksReport, has_gates, run_checks
from gitticks.runner.workspace_plan import read_occupant
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

    refuse_put_aside(context, file.task, workspace)
    other = occupied_by_other(context, file.task, workspace)
    if other is not None and has_gates(context.settings):
        raise RefusedError(
            f"the workspace of `{task_id}` is at `{other}` now, so the gates would test that",
            hint=f"`gt start {task_id}` takes it up there again",
        )
    astray = astray_in(context, file.task, workspace)
    if astray is not None:
        return ChecksReport(astray)
    require_team_trusted(context)
    settings = settings_here(context) if has_gates(context.settings) else context.settings
    return run_checks(workspace, settings, context.world.environment, context.repository)


def refuse_put_aside(context: Context, task: Task, workspace: Path) -> None:
    """Refuses where a person's uncommitted work on a task was put aside for another that shares its workspace."""
    ref, is_by_hand = partial_ref(task.id), task.claim is not None and task.claim.is_by_hand
    is_shared = workspace.name != task.id
    if is_by_hand and is_shared and read_ref(context.repository.common_dir, ref) is not None:
        raise RefusedError(
            f"what was not committed of `{task.id}` was put aside as another task was begun in its workspace",
            hint=f"`gt start {task.id}` brings it back, `git update-ref -d {ref}` drops it",
        )


def occupied_by_other(context: Context, task: Task, workspace: Path) -> str | None:
    """Returns the other task that a shared workspace was last prepared for, whose is what is uncommitted there."""
    if task.is_epic or workspace.name == task.id:
        return None
    occupant = read_occupant(context.repository, checkout_at(context.repository, workspace))
    return None if occupant == task.id else occupant
