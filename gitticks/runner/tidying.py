"""Tidies up after a run, which may have made thousands of commits; nothing that goes wrong here is the run's failure."""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from gitticks.errors import GitticksError
from gitticks.git.lock_files import clear_shared_locks
from gitticks.git.locks import hold_lock
from gitticks.git.maintenance import has_many_loose_objects, pack_loose_objects
from gitticks.git.process import run_git
from gitticks.git.refs import BRANCHES
from gitticks.git.repository import Repository
from gitticks.model.status import Status
from gitticks.runner import workspace_removal
from gitticks.store.layout import WORK_BRANCH

if TYPE_CHECKING:
    from gitticks.runner.context import RunContext

_WORK = f"{BRANCHES}{WORK_BRANCH}".removesuffix("/")
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
    """Removes workspaces and branches of merged tasks that a killed merge left; later commits and other work stay."""
    with contextlib.suppress(GitticksError, OSError, KeyboardInterrupt):
        branches = _work_branches(run.repository)
        if not branches:
            return
        with hold_lock(run.repository.own_dir / "merge.lock", wait_seconds=_LOCK_SECONDS):
            for task in run.open_store().snapshot().all_tasks().values():
                is_merged = task.status is Status.DONE and task.merged_sha is not None
                if is_merged and task.branch in branches:
                    with contextlib.suppress(GitticksError, OSError):
                        workspace_removal.remove_after_merge(run.repository, task, run.settings)


def _work_branches(repository: Repository) -> frozenset[str]:
    """Returns the branches of tasks, once no dead git keeps them or the list of packed refs locked."""
    names = run_git(["for-each-ref", "--format=%(refname)", _WORK], repository_dir=repository.common_dir).text
    locked = (repository.common_dir / _WORK).rglob("*.lock")
    held = [str(lock.relative_to(repository.common_dir)).removesuffix(".lock") for lock in locked]
    clear_shared_locks(repository.common_dir, "packed-refs", *held)
    return frozenset(name.removeprefix(BRANCHES) for name in names.split())
