"""The workspaces of this clone: listing them, removing those and all else that nobody needs."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from shlex import quote
from typing import NamedTuple

from gitticks.actions.context import Context
from gitticks.actions.trust import require_team_trusted
from gitticks.agents.base import neutral_environment
from gitticks.errors import GitticksError
from gitticks.git.merges.asides import left_asides, sweep_asides
from gitticks.git.process import environment_of_a_shell, run_git
from gitticks.model.ids import TaskId
from gitticks.model.task import Task
from gitticks.runner import workspace_removal
from gitticks.runner.liveness import live_tasks
from gitticks.runner.partial_work import rescued_ref
from gitticks.runner.records import Sessions
from gitticks.runner.review_checkouts import FOLDER, ReviewCheckouts
from gitticks.runner.transcripts import TRANSCRIPTS_FOLDER
from gitticks.runner.workspace_plan import is_behind_link
from gitticks.runner.workspace_removal import ListedWorkspace, delete, list_removed


class WorkspaceState(NamedTuple):
    """A workspace with its task (None if there is none of that id, or it cannot be read) and whether an agent works in it."""

    workspace: ListedWorkspace
    task: Task | None
    is_live: bool
    is_unreadable: bool = False

    @property
    def is_needed(self) -> bool:
        """True until its task is closed and no agent works in it; whether one that is not there is, nobody knows."""
        return self.is_live or self.task is None or self.task.is_open


class Cleaned(NamedTuple):
    """What became of one workspace: removed, with uncommitted work kept under `rescued`, or left for `problem`."""

    name: str
    path: Path
    rescued: str | None = None
    problem: str | None = None


def list_worktrees(context: Context) -> list[WorkspaceState]:
    """Returns the workspaces of this clone, sorted by name."""
    snapshot = context.store.snapshot()
    tasks = {str(task_id): task for task_id, task in snapshot.all_tasks().items()}
    unreadable = {str(one) for one in snapshot.unreadable_ids()}
    live = {Path(record.workspace) for record in Sessions(context.repository.own_dir).live().values()}
    listed = workspace_removal.list_workspaces(context.repository, context.settings)
    return [
        WorkspaceState(one, tasks.get(one.name), one.path in live, one.name in unreadable) for one in listed
    ]


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
        return Cleaned(one.name, one.path, problem=f"an agent is working in it: `gt stop {one.name}`")
    try:
        rescued = _remove_workspace(context, one, force=force)
    except GitticksError as error:
        return Cleaned(one.name, one.path, problem=error.in_one_line)
    return Cleaned(one.name, one.path, rescued=rescued)


def _remove_workspace(context: Context, one: ListedWorkspace, *, force: bool = False) -> str | None:
    warn = context.warnings.once
    return workspace_removal.remove(context.repository, one, context.settings, force=force, warn=warn)


class Leftover(NamedTuple):
    """One thing that nobody needs: what it is, its name, how many bytes it takes, and why it stays if it does."""

    kind: str
    name: str
    size_bytes: int
    problem: str | None = None


class _Found(NamedTuple):
    leftover: Leftover
    remove: Callable[[], object]


def collect_leftovers(context: Context, *, dry_run: bool = False) -> list[Leftover]:
    """Removes what nobody needs any more and returns it.

    That is workspaces of closed tasks, checkouts of dead reviews and merges, transcripts older than
    `keep.transcripts`, and rescued work older than `keep.rescued`. A workspace with uncommitted work stays.
    """
    context.require_person("remove what is left over")
    require_team_trusted(context, ("workspace.", "keep."))
    return [one.leftover if dry_run else _remove(one) for one in _find(context)]


def remove_expired(context: Context) -> None:
    """Removes the transcripts whose time is over; rescued work stays, since it may be a person's."""
    with contextlib.suppress(OSError):  # somebody else removes them
        for one in _transcripts(context):
            _remove(one)


def _remove(found: _Found) -> Leftover:
    try:
        found.remove()
    except GitticksError as error:
        return found.leftover._replace(problem=error.in_one_line)
    except OSError as error:
        return found.leftover._replace(problem=str(error))
    return found.leftover


def _find(context: Context) -> Iterator[_Found]:
    repository = context.repository
    for state in list_worktrees(context):
        if not state.is_needed:
            one = state.workspace
            yield _Found(
                Leftover("workspace", one.name, size_of(one.path)), partial(_remove_workspace, context, one)
            )
    for path in list_removed(repository, context.settings):
        yield _Found(Leftover("workspace", path.name, size_of(path)), partial(delete, path))
    yield from _reviews(context)
    if asides := left_asides(repository):
        size = sum(map(size_of, asides))
        yield _Found(Leftover("merge", asides[0].parent.name, size), partial(sweep_asides, repository))
    yield from _transcripts(context)
    yield from _rescued(context)


def _reviews(context: Context) -> Iterator[_Found]:
    project = context.repository.project_dir
    folder = None if project is None else project / context.settings.workspace.dir / FOLDER
    if folder is None or is_behind_link(context.repository, folder) or not folder.is_dir():
        return
    live = live_tasks(context.repository.own_place)
    for path in sorted(folder.iterdir()):
        task_id = TaskId(path.name.partition(".")[0])
        if task_id not in live:
            remove = partial(_remove_review, context, path, task_id)
            yield _Found(Leftover("review", path.name, size_of(path)), remove)


def _remove_review(context: Context, path: Path, task_id: TaskId) -> None:
    reviewed = None
    # Of a task that is gone nobody knows which commit was reviewed: all that is there is kept.
    with contextlib.suppress(GitticksError):
        reviewed = context.store.task_file(task_id).task.end_sha
    outer = neutral_environment(context.world.environment)
    reviews = ReviewCheckouts(context.repository, context.settings, outer, context.warnings.once)
    reviews.remove_left(path, task_id, reviewed)


def _transcripts(context: Context) -> Iterator[_Found]:
    oldest = context.now.timestamp() - context.settings.keep.transcripts
    live = live_tasks(context.repository.own_place)
    for path in sorted(context.repository.own_file(TRANSCRIPTS_FOLDER).glob("*/*.log")):
        found = path.lstat()
        if found.st_mtime < oldest and path.parent.name not in live:
            name = f"{path.parent.name}/{path.name}"
            yield _Found(Leftover("transcript", name, found.st_size), path.unlink)


def _rescued(context: Context) -> Iterator[_Found]:
    common = context.repository.common_dir
    folder = rescued_ref("")
    asked = ["for-each-ref", "--format=%(objectname) %(committerdate:unix) %(refname)", folder]
    for line in run_git(asked, repository_dir=common).text.splitlines():
        commit, at, ref = line.split(" ", 2)
        kept = context.now - datetime.fromtimestamp(int(at or 0), UTC)
        if kept.total_seconds() > context.settings.keep.rescued:
            yield _Found(
                Leftover("rescued", f"{ref.removeprefix(folder)} ({commit[:10]})", 0),
                partial(run_git, ["update-ref", "-d", ref, commit], repository_dir=common),
            )


def size_of(path: Path) -> int:
    """Returns how many bytes the files in a folder take, links not followed."""
    total = 0
    for folder, _, names in os.walk(path):
        for name in names:
            try:
                total += Path(folder, name).lstat().st_size
            except FileNotFoundError:
                continue
    return total


def open_shell(context: Context, path: Path) -> None:
    """Starts the person's shell in a folder, and waits for its end."""
    context.require_person("open a shell")
    shell = context.world.environment.get("SHELL") or "/bin/sh"
    if shutil.which(shell) is None:
        raise GitticksError(f"there is no shell `{shell}`", hint=f"`cd {quote(str(path))}`")
    environment = environment_of_a_shell(context.world.environment)
    subprocess.run([shell], cwd=path, env=environment, check=False)
