"""Makes checkpoints, and takes a workspace back to one.

A checkpoint is a workspace's content under a ref, described in the commit that ends its session. What a workspace has
beyond the one that it goes back to is kept under another ref.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from gitticks.errors import GitticksError
from gitticks.git.checkouts import Checkout, head
from gitticks.git.process import run_git
from gitticks.git.refs import BRANCHES, read_ref
from gitticks.git.repository import Repository
from gitticks.git.snapshots import kept_files, take_snapshot
from gitticks.model.checkpoint import Cause, Checkpoint, checkpoint_id, is_due, next_number
from gitticks.model.ids import TaskId
from gitticks.model.task import Task
from gitticks.runner import partial_work
from gitticks.runner.context import RunContext
from gitticks.runner.events import Warned
from gitticks.runner.partial_work import partial_ref, rescued_ref
from gitticks.runner.places.place import SessionResult
from gitticks.runner.workspace_plan import OWN_FOLDERS, Workspace, occupant_file, shown_paths
from gitticks.runner.workspaces import ensure_worktree
from gitticks.store.branch import Store
from gitticks.store.checkpoints import iterations_around, numbers, put, read, ref_of, workspace_of
from gitticks.store.transaction import Transaction
from gitticks.workflow.budget import iterations_of
from gitticks.workflow.triggers import SessionEnded

_MOST_COMMITS = 100


@dataclass(slots=True)
class Capture:
    """What a workspace holds at the end of a session, kept by the ref of the checkpoint that is going to be written."""

    store: Store
    workspace: TaskId
    number: int
    head: str
    commit: str
    written: Checkpoint | None = None

    def write(self, transaction: Transaction, task: Task, at: datetime) -> None:
        """Writes the checkpoint."""
        self.written = put(transaction, task, Cause.ITERATIONS, at=at, head=self.head, commit=self.commit)

    def settle(self) -> None:
        """Moves the ref to where the checkpoint found its place, if others took its number meanwhile."""
        if self.written is not None and self.written.number != self.number:
            keep(self.store, self.workspace, self.written.number, self.commit)
            ref = ref_of(self.workspace, self.number)
            with contextlib.suppress(GitticksError):
                self.store.move_ref(ref, self.commit, None, "gitticks: checkpoint")


def capture_if_due(
    run: RunContext, store: Store, task: Task, ended: SessionEnded, result: SessionResult
) -> Capture | None:
    """Keeps what a workspace holds, uncommitted work too, if the session that ends makes a checkpoint due.

    If none can be made, that is reported and holds up nothing else.
    """
    head = result.work.head
    if result.workspace is None or not head:
        return None
    before = iterations_around(store, task)
    after = before + iterations_of(ended.role, ended.ending.value)
    if not is_due(before, after, run.settings.checkpoint_every):
        return None
    owner, snapshot = workspace_of(task), store.snapshot()
    number = next_number(after, numbers(snapshot, owner))
    while read_ref(store.repository.common_dir, ref_of(owner, number)) is not None:
        number += 1  # kept by somebody whose checkpoint is being written; ours finds its number then
    try:
        message = f"Checkpoint {checkpoint_id(owner, number)}\n"
        commit, left_out = run.place.capture(result.workspace, head, message)
        keep(store, owner, number, commit)
    except (GitticksError, OSError) as error:
        run.emit(Warned(task.id, f"no checkpoint was made: {error}"))
        return None
    if left_out:
        run.emit(Warned(task.id, f"a checkpoint cannot hold {shown_paths(left_out)}"))
    return Capture(store, owner, number, head, commit)


def keep_before_merge(store: Store, task: Task) -> Checkpoint | None:
    """Keeps the code of the checkpoint that an approval made, before anything becomes of the branch.

    Returns it if its code was not kept yet.
    """
    owner, snapshot = workspace_of(task), store.snapshot()
    for number in reversed(numbers(snapshot, owner)):
        found = read(snapshot, owner, number)
        if found is not None and found.commit == task.end_sha:
            return found if keep(store, owner, number, found.commit) else None
    return None


def keep(store: Store, workspace: TaskId, number: int, commit: str) -> bool:
    """Lets the ref of a checkpoint stand at a commit, and returns whether it was elsewhere.

    One that a killed run left there is replaced.
    """
    ref = ref_of(workspace, number)
    before = read_ref(store.repository.common_dir, ref)
    if before == commit:
        return False
    store.objects.sync([commit])
    store.move_ref(ref, before, commit, "gitticks: checkpoint")
    return True


class Rewound(NamedTuple):
    """A workspace reset to a checkpoint.

    Attributes:
        path: where it is.
        restored: the paths that are uncommitted there again.
        rescued: the ref that keeps what it held beyond the checkpoint; None if that was nothing.
        uncommitted: the paths of that which were not committed.
        commits: those that were, as `git log --oneline` shows them, newest first.
        warnings: what was odd on the way.
    """

    path: Path
    restored: tuple[str, ...] = ()
    rescued: str | None = None
    uncommitted: tuple[str, ...] = ()
    commits: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def rewind(
    repository: Repository, plan: Workspace, checkpoint: Checkpoint, tasks: Iterable[TaskId], *, force: bool
) -> Rewound:
    """Takes the planned workspace, made if it is missing, and its branch back to a checkpoint.

    It belongs to `tasks`. Each step leaves a workspace that the next call continues from. With `force` what is uncommitted
    is kept under a ref.

    Raises:
        GitticksError: work is uncommitted and `force` is not given, or cannot be kept; nothing was changed.
    """
    warnings: list[str] = []
    checkout = ensure_worktree(repository, plan, warnings)
    branch = BRANCHES + str(plan.branch)
    tip = read_ref(repository.common_dir, branch) or plan.commit
    kept = kept_files(checkout, checkpoint.commit) if checkpoint.has_uncommitted else {}
    present = take_snapshot(checkout, OWN_FOLDERS)
    if checkpoint.head == tip == present.head and dict(present.files) == kept:
        return Rewound(plan.path, tuple(sorted(kept)), warnings=tuple(warnings))
    partial_work.require_keepable(checkout, present)
    if present.files and not force:
        raise GitticksError(
            f"the workspace `{checkout.path}` has uncommitted work: {shown_paths(tuple(sorted(present.files)))}",
            hint=f"commit it there, or `gt resume {checkpoint.id} --force` keeps it under a ref",
        )
    since = _partial_since(repository, checkpoint, tasks)
    commits = _commits_beyond(repository, plan, checkpoint, (tip, present.head or tip))
    rescued = None
    if present.files or commits or since:
        rescued = rescued_ref(plan.path.name)
        others = tuple(one for one in (tip, *since.values()) if one != present.head)
        message = f"Before going back to {checkpoint.id}"
        partial_work.keep(repository, checkout, rescued, message, clear=True, even_if_empty=True, also=others)
    for ref, commit in since.items():
        run_git(["update-ref", "-d", ref, commit], repository_dir=repository.common_dir)
    _move(repository, checkout, branch, tip, checkpoint)
    occupant_file(repository, checkout).write_text(f"{checkpoint.task}\n", encoding="utf-8")
    restored = partial_work.Restored()
    if checkpoint.has_uncommitted:
        restored = partial_work.put_back(checkout, checkpoint.commit)
        if restored.conflicts:
            warnings.append(
                f"changes that were uncommitted then are in the way of {shown_paths(restored.conflicts)}: "
                f"`git diff {checkpoint.commit[:12]}^1 {checkpoint.commit[:12]}` shows it"
            )
    return Rewound(plan.path, restored.paths, rescued, tuple(sorted(present.files)), commits, tuple(warnings))


def _partial_since(repository: Repository, checkpoint: Checkpoint, tasks: Iterable[TaskId]) -> dict[str, str]:
    found = {}
    for ref in map(partial_ref, tasks):
        commit = read_ref(repository.common_dir, ref)
        if commit is None:
            continue
        asked = ["log", "-1", "--format=%ct", "--end-of-options", commit]
        if int(run_git(asked, repository_dir=repository.common_dir).text) > checkpoint.at.timestamp():
            found[ref] = commit
    return found


def _commits_beyond(
    repository: Repository, plan: Workspace, checkpoint: Checkpoint, tips: tuple[str, ...]
) -> tuple[str, ...]:
    """Returns the commits that only the branch and the workspace hold, and the checkpoint does not."""
    base = read_ref(repository.common_dir, BRANCHES + plan.base) if plan.base else None
    below = [checkpoint.commit, *([base] if base else [])]
    listed = run_git(
        [
            "log",
            f"--max-count={_MOST_COMMITS}",
            "--format=%h %s",
            *dict.fromkeys(tips),
            "--not",
            *below,
            "--",
        ],
        repository_dir=repository.common_dir,
    )
    return tuple(listed.text.splitlines())


def _move(repository: Repository, checkout: Checkout, branch: str, tip: str, checkpoint: Checkpoint) -> None:
    """Moves the workspace and then its branch, so that the workspace is clean after each step."""
    if head(checkout) != checkpoint.head:
        words = ["checkout", "--quiet", "--no-overwrite-ignore", "--detach", checkpoint.head, "--"]
        checkout.git(words, fenced=True, trusted=True)
    message = f"gitticks: back to {checkpoint.id}"
    common = repository.common_dir
    if tip != checkpoint.head:
        run_git(["update-ref", "-m", message, branch, checkpoint.head, tip], repository_dir=common)
    checkout.git(["symbolic-ref", "-m", message, "HEAD", branch])
