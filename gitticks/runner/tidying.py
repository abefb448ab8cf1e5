"""Tidies up after a run, which may have made thousands of commits; nothing that goes wrong here is the run's failure."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from gitticks.errors import GitticksError
from gitticks.git.locks import hold_lock
from gitticks.git.packing import has_many_loose_objects, pack_loose_objects
from gitticks.git.repository import Repository
from gitticks.model.status import Status
from gitticks.runner import workspaces

if TYPE_CHECKING:
    from gitticks.runner.context import RunContext

_LOCK_SECONDS = 5.0
"""Whoever works here just now goes first; the next run tidies up."""


def tidy_up(repository: Repository) -> int:
    """Packs loose objects if there are many and the person's git may do that by itself; returns how many it packed."""
    with contextlib.suppress(GitticksError, OSError, KeyboardInterrupt):
        if has_many_loose_objects(repository):
            with hold_lock(repository.own_dir / "lock", wait_seconds=_LOCK_SECONDS):
                return pack_loose_objects(repository)
    return 0


def remove_merged_workspaces(run: RunContext) -> None:
    """Removes the workspaces of merged tasks that a killed merge left; uncommitted work and later commits stay."""
    with contextlib.suppress(GitticksError, OSError, KeyboardInterrupt):
        listed = workspaces.list_workspaces(run.repository, run.settings)
        if not listed:
            return
        with hold_lock(run.repository.own_dir / "merge.lock", wait_seconds=_LOCK_SECONDS):
            tasks = run.open_store().snapshot().all_tasks()
            for workspace in listed:
                task = next((task for task in tasks.values() if task.branch == workspace.branch), None)
                if task is not None and task.status is Status.DONE and task.merged_sha is not None:
                    with contextlib.suppress(GitticksError, OSError):
                        workspaces.remove_after_merge(run.repository, task, run.settings)
