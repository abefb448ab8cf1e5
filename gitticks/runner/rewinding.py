"""Takes a workspace back to a checkpoint; what it has beyond that is kept under a ref."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from gitticks.errors import GitticksError
from gitticks.git.checkouts import Checkout, head
from gitticks.git.process import run_git
from gitticks.git.refs import BRANCHES, read_ref
from gitticks.git.repository import Repository
from gitticks.git.snapshots import Snapshot, discard, kept_files, take_snapshot
from gitticks.model.checkpoint import Checkpoint
from gitticks.model.ids import TaskId
from gitticks.runner import partial_work
from gitticks.runner.partial_work import partial_ref, rescued_ref
from gitticks.runner.workspace_plan import OWN_FOLDERS, Workspace, occupant_file, shown_paths
from gitticks.runner.workspace_repair import ensure_worktree

_MOST_COMMITS = 100


@dataclass(frozen=True, slots=True)
class Rewound:
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

    Each step leaves a workspace that the next call continues from.

    Args:
        repository: whose workspace it is.
        plan: where it is.
        checkpoint: where to go.
        tasks: the tasks that are worked on there.
        force: also where work is uncommitted, which is kept under a ref then.

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
    if present.files or present.left_out:
        _refuse_uncommitted(checkout, present, checkpoint, force=force)
    since = _partial_since(repository, checkpoint, tasks)
    commits = _commits_beyond(repository, plan, checkpoint, (tip, present.head or tip))
    rescued = None
    if present.files or commits or since:
        rescued = rescued_ref(plan.path.name)
        others = tuple(one for one in (tip, *since.values()) if one != present.head)
        _rescue(repository, checkout, rescued, f"Before going back to {checkpoint.id}", others)
    for ref, commit in since.items():
        run_git(["update-ref", "-d", ref, commit], repository_dir=repository.common_dir)
    _move(repository, checkout, branch, tip, checkpoint)
    occupant_file(repository, checkout).write_text(f"{checkpoint.task}\n", encoding="utf-8")
    restored = partial_work.Restored()
    if checkpoint.has_uncommitted:
        restored = partial_work.put_back(checkout, checkpoint.commit, OWN_FOLDERS)
        if restored.conflicts:
            warnings.append(
                f"changes that were uncommitted then are in the way of {shown_paths(restored.conflicts)}: "
                f"`git diff {checkpoint.commit[:12]}^1 {checkpoint.commit[:12]}` shows it"
            )
    return Rewound(plan.path, restored.paths, rescued, tuple(sorted(present.files)), commits, tuple(warnings))


def _refuse_uncommitted(
    checkout: Checkout, present: Snapshot, checkpoint: Checkpoint, *, force: bool
) -> None:
    if force and not present.left_out:
        return
    paths = tuple(sorted({*present.files, *present.left_out}))
    if present.left_out:
        raise GitticksError(
            f"{shown_paths(present.left_out)} in `{checkout.path}` cannot be kept in a commit",
            hint="commit it there, or move it away",
        )
    raise GitticksError(
        f"the workspace `{checkout.path}` has uncommitted work: {shown_paths(paths)}",
        hint=f"commit it there, or `gt resume {checkpoint.id} --force` keeps it under a ref",
    )


def _partial_since(repository: Repository, checkpoint: Checkpoint, tasks: Iterable[TaskId]) -> dict[str, str]:
    """Returns the refs of partial work of these tasks that was put aside after a checkpoint, with their commits."""
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


def _rescue(
    repository: Repository, checkout: Checkout, ref: str, message: str, others: tuple[str, ...]
) -> None:
    kept = partial_work.keep(repository, checkout, ref, message, OWN_FOLDERS, even_if_empty=True, also=others)
    if kept is not None:
        discard(checkout, kept)


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
