"""Checkouts for reviewers: a fresh one of the reviewed commit, thrown away afterwards.

Nothing that a reviewer does there reaches the work: what it commits or changes is kept under a ref, and said.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from gitticks.agents.process import StopRequest
from gitticks.errors import GitticksError, NotFoundError
from gitticks.git.checkouts import Checkout, changed_paths, checkout_at, head
from gitticks.git.config import exclude_folders
from gitticks.git.repository import Repository
from gitticks.git.worktrees import add_worktree, remove_tree, remove_worktree, worktrees_lock
from gitticks.model.ids import TaskId
from gitticks.model.queries import TaskGraph
from gitticks.model.settings import Settings
from gitticks.model.status import Isolation
from gitticks.model.task import Task
from gitticks.runner import partial_work, workspace_setup
from gitticks.runner.workspace_environment import remove_temporary_folder
from gitticks.runner.workspace_plan import MAILBOX_FOLDER, Workspace, plan, refuse_link, shown_paths
from gitticks.sandbox.enclosure import take_home

FOLDER = "reviews"
"""The folder of these checkouts in the one of the workspaces."""


def plan_review(
    task: Task, graph: TaskGraph, settings: Settings, repository: Repository, number: int = 1
) -> Workspace:
    """Returns where the reviewer of this number, from 1, looks at a task's work; nothing is made."""
    folder = repository.require_project_dir("a review") / settings.workspace.dir / FOLDER
    path = folder / (task.id if number == 1 else f"{task.id}.{number}")
    if task.isolation_in(settings.isolation) is Isolation.NONE and task.end_sha is not None:
        start = task.start_sha or task.end_sha
        return Workspace(task.id, path, None, None, start, task.end_sha, Isolation.NONE)
    planned = plan(task, graph, settings, repository)
    return planned._replace(path=path, commit=task.end_sha or planned.commit)


class ReviewCheckouts(NamedTuple):
    """The checkouts of reviewers in one clone; `warn` gets what is odd, `environment` is what set-up commands see."""

    repository: Repository
    settings: Settings
    environment: Mapping[str, str]
    warn: Callable[[str], None]

    @contextlib.contextmanager
    def made(self, planned: Workspace, stop: StopRequest | None) -> Iterator[Workspace]:
        """Gives a reviewer a detached checkout of what `plan_review` says, made ready as a workspace is.

        Only whoever holds the task's session may call this: what is there is a dead one's and goes.
        """
        repository = self.repository
        refuse_link(repository, planned.path)
        exclude_folders(repository, [MAILBOX_FOLDER, self.settings.workspace.dir])
        remove_review_checkout(repository, planned.path)
        try:
            checkout = add_worktree(repository, planned.path, commit=planned.commit)
            workspace_setup.set_up(repository, checkout, self.settings, self.environment, stop)
            before = _changed(checkout)
            yield planned
            self._take_commits(checkout)
            self._keep(checkout, planned.task_id, planned.commit, before)
        finally:
            try:
                remove_review_checkout(repository, planned.path)
            except (GitticksError, OSError) as error:  # the review counts all the same
                self.warn(f"the checkout of a review stays in {planned.path}: {error}")

    def remove_of(self, task: Task, path: Path) -> None:
        """Removes a dead session's checkouts, of which the first was at `path`, in any order; what is no review stays.

        What its reviewers committed or changed there is kept.
        """
        top = self.repository.project_dir
        if top is None or path.parent != top / self.settings.workspace.dir / FOLDER:
            return  # the workspaces were elsewhere then
        for other in (path, *path.parent.glob(f"{path.name}.*")):
            self.remove_left(other, task.id, task.end_sha)

    def remove_left(self, path: Path, task_id: TaskId, reviewed: str | None) -> None:
        """Removes one checkout of a dead session that `reviewed` a commit; what its reviewer left there is kept."""
        with contextlib.suppress(NotFoundError):
            checkout = checkout_at(self.repository, path)
            self._take_commits(checkout)
            self._keep(checkout, task_id, reviewed)
        remove_review_checkout(self.repository, path)

    def _take_commits(self, checkout: Checkout) -> None:
        """Brings what a reviewer committed in a sandbox into the checkout; no branch that was there before moves."""
        try:
            odd = take_home(self.repository, checkout, None, base=self.settings.base)
        except GitticksError as error:
            odd = (f"what a reviewer may have committed in the sandbox is dropped: {error.message}",)
        for message in odd:
            self.warn(message)

    def _keep(
        self, checkout: Checkout, task_id: TaskId, commit: str | None, before: frozenset[str] = frozenset()
    ) -> None:
        """Keeps what a reviewer committed, or changed beyond what the set-up had, where somebody can find it."""
        if not checkout.path.is_dir():
            return
        what = "changed its checkout"
        ref = partial_work.rescued_ref(f"review-{task_id}")
        message = f"Left by a reviewer of {task_id}"
        try:
            changed, now = sorted(_changed(checkout) - before), head(checkout)
            if not changed and now == commit:
                return
            what = (
                f"changed {shown_paths(tuple(changed))}"
                if changed
                else f"made the commit `{(now or '')[:10]}`"
            )
            partial_work.keep(self.repository, checkout, ref, message, even_if_empty=True)
        except GitticksError as error:
            self.warn(f"a reviewer {what}, which is dropped: {error.message}")
        else:
            self.warn(f"a reviewer {what}, which is not part of the work: it is kept at `{ref}`")


def remove_review_checkout(repository: Repository, path: Path) -> None:
    """Removes the checkout at `path`, if there is one."""
    with contextlib.suppress(NotFoundError):
        remove_temporary_folder(repository, checkout_at(repository, path))
        remove_worktree(repository, path)
    if os.path.lexists(path):
        with contextlib.suppress(OSError):
            remove_tree(path)
    if path.parent.is_dir():
        # Once no other review needs it: under the lock, as git makes it before it makes the checkout in it.
        with worktrees_lock(repository), contextlib.suppress(OSError):
            path.parent.rmdir()


def _changed(checkout: Checkout) -> frozenset[str]:
    return frozenset(changed_paths(checkout).changed)
