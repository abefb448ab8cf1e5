"""Removes workspaces; never deletes the only copy of anything.

A rename takes a workspace out of the way at one stroke; what is in the folder for removed ones has been judged and is
nobody's. So whoever finds something there deletes it: the run beside its merges, and after a kill the next run, merge
or `gt worktree gc`.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, Self

from gitticks.errors import GitticksError, NotFoundError
from gitticks.git.checkouts import checked_out_elsewhere, checkout_at, current_branch, head, list_worktrees
from gitticks.git.locks import clear_shared_locks, hold_lock
from gitticks.git.maintenance import has_many_loose_objects, pack_loose_objects
from gitticks.git.process import run_git
from gitticks.git.refs import BRANCHES, read_ref
from gitticks.git.repository import Repository
from gitticks.git.worktrees import remove_tree, remove_worktree
from gitticks.model.ids import WORK_BRANCH, is_valid_id
from gitticks.model.settings import Settings
from gitticks.model.status import Isolation
from gitticks.model.task import Task
from gitticks.runner import partial_work
from gitticks.runner.events import Warned
from gitticks.runner.shared_base import MERGE_LOCK
from gitticks.runner.workspace_plan import (
    OWN_FOLDERS,
    is_behind_link,
    read_occupant,
    shown_paths,
    uncommitted_paths,
)
from gitticks.runner.workspaces import commit_without_a_branch
from gitticks.sandbox.enclosure import take_home

if TYPE_CHECKING:
    from gitticks.model.ids import TaskId
    from gitticks.runner.context import RunContext


_BEING_REMOVED = "gitticks-removing"
"""A file in a worktree's own git directory while the worktree is removed, which nobody does at one stroke."""

_WORK = f"{BRANCHES}{WORK_BRANCH}".removesuffix("/")
_LOCK_SECONDS = 5.0
"""Whoever works here just now goes first; the next run tidies up."""
_REMOVED = ".removed"
"""In the folder of the workspaces, so that a rename is enough."""
_DELETION_LOCK_SECONDS = 60.0


class ListedWorkspace(NamedTuple):
    """One workspace of this clone; `name` is the id of its task or epic."""

    name: str
    path: Path
    branch: str
    head: str | None
    is_gone: bool


def remove(
    repository: Repository,
    listed: ListedWorkspace,
    settings: Settings,
    *,
    force: bool = False,
    warn: Callable[[str], None] = lambda _: None,
) -> str | None:
    """Removes a workspace; its branch stays. Returns the ref under which uncommitted work was kept.

    What a killed session committed in a sandbox is taken first. `warn` is called with what a person should know of
    these commits.

    Raises:
        NotFoundError: there is none.
        GitticksError: it holds uncommitted work, or commits that cannot be taken, and `force` is not given; or it holds
            what cannot be kept.
    """
    _take_commits(repository, listed, settings, warn, force=force)
    return _remove(repository, listed, force=force)


def _remove(
    repository: Repository,
    listed: ListedWorkspace,
    *,
    force: bool = False,
    leaves_files_for: Settings | None = None,
) -> str | None:
    """Removes a workspace of which everything is taken; by these settings its files are only set aside."""
    path = listed.path
    checkout = checkout_at(repository, path)
    kept = None
    being_removed = checkout.git_dir / _BEING_REMOVED
    if checkout.path.is_dir() and not checkout.path.is_symlink():
        paths = uncommitted_paths(checkout, OWN_FOLDERS)
        if being_removed.exists():  # what is missing was removed by a call that was killed
            paths = tuple(one for one in paths if os.path.lexists(checkout.path / one))
        lost = commit_without_a_branch(repository, checkout)
        if (paths or lost) and not force:
            what = shown_paths(paths) if paths else f"the commit `{(lost or '')[:10]}`, which is on no branch"
            raise GitticksError(
                f"the workspace `{path}` has uncommitted work: {what}",
                hint=f"commit it there, or `gt worktree clean {listed.name} --force` keeps it under a ref",
            )
        if paths or lost:
            kept = partial_work.rescued_ref(listed.name)
            partial_work.keep(repository, checkout, kept, f"Rescued from {path}", even_if_empty=True)
    being_removed.touch()
    if leaves_files_for is not None:
        set_aside(repository, leaves_files_for, checkout.path)
    try:
        remove_worktree(repository, path, _BEING_REMOVED)
    except GitticksError:
        being_removed.unlink(missing_ok=True)
        raise
    return kept


def _take_commits(
    repository: Repository,
    listed: ListedWorkspace,
    settings: Settings,
    warn: Callable[[str], None],
    *,
    force: bool = False,
) -> None:
    """Takes what was committed in a sandbox and not taken by the end of a session, which may have been killed."""
    checkout = checkout_at(repository, listed.path)
    if not checkout.path.is_dir():
        return
    try:
        for said in take_home(repository, checkout, WORK_BRANCH + listed.name, base=settings.base):
            warn(said)
    except GitticksError as error:
        what = f"what was committed in the sandbox of `{listed.path}`"
        # A removal that was killed has taken them, and may have deleted half of what they are in.
        if not (force or (checkout.git_dir / _BEING_REMOVED).exists()):
            raise GitticksError(
                f"{what} cannot be taken: {error.in_one_line}",
                hint=f"`gt worktree clean {listed.name} --force` removes it without that",
            ) from error
        warn(f"{what} is dropped: {error.in_one_line}")


def remove_after_merge(
    repository: Repository, task: Task, settings: Settings, warn: Callable[[str], None] = lambda _: None
) -> None:
    """Removes the workspace and the branch of work that was merged or had no commits; a branch that went on since stays.

    The files of the workspace wait for `delete_removed`, which nobody has to wait for under a lock. `warn` is called
    with what a person should know of the commits.

    Raises:
        GitticksError: the workspace holds uncommitted work, or the branch has more commits; both stay.
    """
    branch = task.branch
    if branch != WORK_BRANCH + task.id:
        return
    workspaces = list_workspaces(repository, settings, branch)
    for listed in workspaces:
        _take_commits(repository, listed, settings, warn)
    tip = read_ref(repository.common_dir, BRANCHES + branch)
    merged = task.end_sha or task.start_sha
    if tip is not None and tip != merged:
        raise GitticksError(
            f"`{branch}` has commits that were not merged", hint=f"`git log {merged}..{branch}`"
        )
    for listed in workspaces:
        _remove(repository, listed, leaves_files_for=settings)
    for tree in list_worktrees(repository):
        if current_branch(tree) == branch:  # one that a person added
            raise checked_out_elsewhere(repository, branch, tree.path)
    if tip is not None:
        common = repository.common_dir  # the folder of this process may have been the workspace
        run_git(["update-ref", "-d", BRANCHES + branch, tip], repository_dir=common, directory=common)


def remove_merged(run: RunContext, merged: Task) -> None:
    """Removes what a task leaves behind that was merged or had no commits, unless it was reopened; says why something stays."""
    _remove_merged(run, merged)
    delete_removed(run.repository, run.settings)


def _remove_merged(run: RunContext, merged: Task) -> None:
    try:
        now = run.open_store().task_file(merged.id).task
        if now.is_landed and now.merged_sha == merged.merged_sha:
            remove_after_merge(run.repository, merged, run.settings, partial(_warn, run, merged.id))
    except (GitticksError, OSError) as error:
        words = error.in_one_line if isinstance(error, GitticksError) else str(error)
        _warn(run, merged.id, f"its workspace stays: {words}")


def _warn(run: RunContext, task: TaskId, said: str) -> None:
    run.emit(Warned(task, said))


class Removals:
    """Removes what merged tasks leave behind, one after the other and beside what else the run does."""

    def __init__(self, run: RunContext) -> None:
        self._run = run
        self._is_over = threading.Event()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="removals")
        self._begun: dict[TaskId, Future[None]] = {}

    def __enter__(self) -> Self:
        """Removes nothing yet."""
        return self

    def __exit__(self, *_: object) -> None:
        """Waits until the workspaces are out of the way; what is not deleted by then waits for `delete_removed`."""
        self._is_over.set()
        self._thread.shutdown()

    @property
    def task_ids(self) -> frozenset[TaskId]:
        """The tasks whose workspaces are not out of the way yet: nobody may start there."""
        return frozenset(one for one, removal in list(self._begun.items()) if not removal.done())

    def begin(self, merged: Task) -> None:
        """Removes the workspace of a task in its turn."""
        self._begun[merged.id] = self._thread.submit(_remove_merged, self._run, merged)
        self._thread.submit(delete_removed, self._run.repository, self._run.settings, self._is_over.is_set)
        self._thread.submit(tidy_up, self._run.repository)  # the end of the run may be days away


def list_workspaces(
    repository: Repository, settings: Settings, branch: str | None = None
) -> tuple[ListedWorkspace, ...]:
    """Returns the workspaces of this clone, sorted by name: worktrees in the folder for them, and those moved from there.

    With a branch only those of it. A worktree that a person added is none, also on a work branch.
    """
    project = repository.project_dir
    folder = None if project is None else Path(os.path.realpath(project / settings.workspace.dir))
    if folder is None or not folder.is_dir():
        paths = []
    else:
        paths = sorted(folder.iterdir()) if branch is None else [folder / branch.removeprefix(WORK_BRANCH)]
    for path in paths:
        with contextlib.suppress(NotFoundError, OSError):
            checkout_at(repository, path)  # this fixes its links if the repository was moved or copied
    found = []
    for tree in list_worktrees(repository):
        there, name = current_branch(tree), tree.path.name
        if branch not in (None, there or WORK_BRANCH + name):
            continue
        is_inside = folder is not None and Path(os.path.realpath(tree.path)).parent == folder
        if tree.git_dir == repository.common_dir or (
            not is_inside and read_occupant(repository, tree) is None
        ):
            continue
        if there is not None and there.startswith(WORK_BRANCH):
            # An agent may be on the branch of another task; a person may have given the folder another name.
            own = f"{BRANCHES}{WORK_BRANCH}{name}"
            is_own = is_inside and is_valid_id(name) and read_ref(repository.common_dir, own) is not None
            name = name if is_own else there.removeprefix(WORK_BRANCH)
        elif not is_inside:
            continue
        found.append(
            ListedWorkspace(name, tree.path, there or WORK_BRANCH + name, head(tree), not tree.path.is_dir())
        )
    return tuple(sorted(found, key=lambda one: one.name))


def workspace_of(repository: Repository, settings: Settings, task: Task) -> Path | None:
    """Returns where work on a task is in this clone; None if nobody began it here."""
    if task.start_sha is None:
        return None
    if task.isolation_in(settings.isolation) is Isolation.NONE:
        return repository.main_worktree
    there = [one for one in list_workspaces(repository, settings) if not one.is_gone]
    on_branch = (one.path for one in there if one.branch == task.branch)
    # Who works there may have left the branch.
    in_place = (one.path for one in there if WORK_BRANCH + one.name == task.branch)
    return next(on_branch, None) or next(in_place, None)


def tidy_up(repository: Repository) -> int:
    """Packs loose objects if there are many and the person's git may do that by itself; returns how many it packed."""
    with contextlib.suppress(GitticksError, OSError, KeyboardInterrupt):
        if has_many_loose_objects(repository):
            with hold_lock(repository.own_file("lock"), wait_seconds=_LOCK_SECONDS):
                return pack_loose_objects(repository)
    return 0


def remove_merged_workspaces(run: RunContext) -> None:
    """Removes workspaces and branches that tasks left when they were done; later commits and other work stay."""
    with contextlib.suppress(GitticksError, OSError, KeyboardInterrupt):
        delete_removed(run.repository, run.settings)
        branches = _work_branches(run.repository)
        if not branches:
            return
        with hold_lock(run.repository.own_file(MERGE_LOCK), wait_seconds=_LOCK_SECONDS):
            for task in run.open_store().snapshot().all_tasks().values():
                if task.is_landed and task.branch in branches:
                    with contextlib.suppress(GitticksError, OSError):
                        remove_after_merge(run.repository, task, run.settings, partial(_warn, run, task.id))
        delete_removed(run.repository, run.settings)


def _work_branches(repository: Repository) -> frozenset[str]:
    """Returns the branches of tasks, once no dead git keeps them or the list of packed refs locked."""
    names = run_git(["for-each-ref", "--format=%(refname)", _WORK], repository_dir=repository.common_dir).text
    locked = (repository.common_dir / _WORK).rglob("*.lock")
    held = [str(lock.relative_to(repository.common_dir)).removesuffix(".lock") for lock in locked]
    clear_shared_locks(repository.common_dir, "packed-refs", *held)
    return frozenset(name.removeprefix(BRANCHES) for name in names.split())


def set_aside(repository: Repository, settings: Settings, path: Path) -> bool:
    """Moves a workspace to those that wait to be deleted; False if it is not in the folder for workspaces."""
    folder = _folder(repository, settings)
    if folder is None or path.is_symlink() or path.resolve().parent != folder.parent.resolve():
        return False
    try:
        folder.mkdir(exist_ok=True)
        path.rename(folder / f"{path.name}.{secrets.token_hex(4)}")
    except OSError:  # it is a mount, say
        with contextlib.suppress(OSError):
            folder.rmdir()
        return False
    return True


def list_removed(repository: Repository, settings: Settings) -> tuple[Path, ...]:
    """Returns the removed workspaces that are not deleted yet."""
    folder = _folder(repository, settings)
    try:
        return () if folder is None else tuple(sorted(folder.iterdir()))
    except (FileNotFoundError, NotADirectoryError):
        return ()


def delete_removed(
    repository: Repository, settings: Settings, is_enough: Callable[[], bool] = lambda: False
) -> None:
    """Deletes the removed workspaces until it `is_enough`; what cannot be deleted stays for `gt worktree gc`."""
    if not list_removed(repository, settings):
        return
    with (
        contextlib.suppress(GitticksError, OSError),
        hold_lock(repository.own_file("removed.lock"), wait_seconds=_DELETION_LOCK_SECONDS),
    ):
        for path in list_removed(repository, settings):
            if is_enough():
                return
            with contextlib.suppress(OSError):
                delete(path)


def delete(path: Path) -> None:
    """Deletes one removed workspace, which somebody else may be deleting."""
    with contextlib.suppress(FileNotFoundError):
        remove_tree(path)
    with contextlib.suppress(OSError):
        path.parent.rmdir()  # once no other waits


def _folder(repository: Repository, settings: Settings) -> Path | None:
    project = repository.project_dir
    folder = None if project is None else project / settings.workspace.dir / _REMOVED
    return None if folder is None or is_behind_link(repository, folder) else folder
