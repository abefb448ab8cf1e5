"""The workspaces of this clone: which there are, and removing those that nobody needs any more."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from gitticks.actions.context import Context
from gitticks.errors import GitticksError
from gitticks.model.task import Task
from gitticks.runner import workspace_removal
from gitticks.runner.records import Sessions
from gitticks.runner.workspace_removal import ListedWorkspace


@dataclass(frozen=True, slots=True)
class WorkspaceState:
    """A workspace with its task (None if there is none of that id) and whether an agent works in it."""

    workspace: ListedWorkspace
    task: Task | None
    is_live: bool

    @property
    def is_needed(self) -> bool:
        """True while its task is open or an agent works in it."""
        return self.is_live or (self.task is not None and self.task.is_open)


@dataclass(frozen=True, slots=True)
class Cleaned:
    """What became of one workspace: removed, with uncommitted work kept under `rescued`, or left for `problem`."""

    name: str
    path: Path
    rescued: str | None = None
    problem: str | None = None


def list_worktrees(context: Context) -> list[WorkspaceState]:
    """Returns the workspaces of this clone, sorted by name."""
    tasks = {str(task_id): task for task_id, task in context.store.snapshot().all_tasks().items()}
    live = {Path(record.workspace) for record in Sessions(context.repository.own_dir).live().values()}
    listed = workspace_removal.list_workspaces(context.repository, context.settings)
    return [WorkspaceState(one, tasks.get(one.name), one.path in live) for one in listed]


def clean_worktrees(context: Context, names: tuple[str, ...], *, force: bool) -> list[Cleaned]:
    """Removes workspaces whose task is closed, or those named; never one that an agent works in.

    A workspace with uncommitted work stays, unless forced; then its work is kept under a ref.
    """
    context.require_person("remove workspaces")
    states = list_worktrees(context)
    unknown = set(names) - {state.workspace.name for state in states}
    if unknown:
        raise GitticksError(f"no workspace `{min(unknown)}`", hint="`gt worktree list`")
    chosen = [state for state in states if (state.workspace.name in names if names else not state.is_needed)]
    return [_clean(context, state, force=force) for state in chosen]


def _clean(context: Context, state: WorkspaceState, *, force: bool) -> Cleaned:
    one = state.workspace
    if state.is_live:
        return Cleaned(one.name, one.path, problem=f"an agent works in it: `gt stop {one.name}`")
    try:
        rescued = workspace_removal.remove(context.repository, one.path, force=force)
    except GitticksError as error:
        return Cleaned(one.name, one.path, problem=error.message)
    return Cleaned(one.name, one.path, rescued=rescued)
