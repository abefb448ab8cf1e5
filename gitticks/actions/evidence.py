"""What a claim that work is finished is held against: the task's workspace, and the quality gates in it."""

from __future__ import annotations

from pathlib import Path

from gitticks.actions.context import Context
from gitticks.model.ids import TaskId
from gitticks.model.notes import Section
from gitticks.model.status import Isolation, Status
from gitticks.model.task import Task
from gitticks.workflow.transitions import targets


def workspace_of(context: Context, task: Task) -> Path | None:
    """Returns where work on a task stands in this clone; None if nobody began it here."""
    if task.start_sha is None:
        return None
    if (task.isolation or context.settings.isolation) is Isolation.NONE:
        return context.repository.main_worktree
    from gitticks.git.worktree_list import list_worktrees

    found = (one.path for one in list_worktrees(context.repository) if one.branch == task.branch)
    return next((path for path in found if path.is_dir()), None)


def uncommitted_in(context: Context, workspace: Path) -> tuple[str, ...]:
    """Returns the paths in a workspace that no commit has, sorted."""
    from gitticks.git.checkouts import checkout_at
    from gitticks.runner.workspace_plan import own_folders, uncommitted_paths

    return uncommitted_paths(checkout_at(context.repository, workspace), own_folders(context.settings))


def failed_check(context: Context, task_id: TaskId) -> str | None:
    """Returns the first quality gate that fails in the task's workspace, in words; None if all pass or none applies.

    Without a hand-off nothing is run: the task cannot go on in any case.
    """
    file = context.store.task_file(task_id)
    workspace = workspace_of(context, file.task)
    may_hand_off = Status.AGENT_REVIEW in targets(file.task.status)
    is_finished = may_hand_off and file.section(Section.HANDOFF) is not None
    if workspace is None or not is_finished:
        return None
    from gitticks.actions.trust import require_team_trusted
    from gitticks.runner.verifiers import run_checks

    require_team_trusted(context)
    return run_checks(workspace, context.settings, context.world.environment, context.repository).failure
