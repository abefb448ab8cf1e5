"""Workspaces: the checkouts that agents work in, from creation to the end of a session.

Everything the runner does with a workspace goes through here, so that an agent can be given a git directory of its
own without the loop's knowing. Nothing here throws uncommitted work away: it stays where it is, or it is kept under a
ref and said.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from shlex import quote

from gitticks.agents.process import StopRequest
from gitticks.errors import GitticksError, LostRaceError, NotFoundError
from gitticks.git.checkouts import Checkout, checkout_at, current_branch, head, refuse_filters, relink
from gitticks.git.config import exclude_folders
from gitticks.git.identity import ENGINE_IDENTITY
from gitticks.git.locks import clear_abandoned_locks
from gitticks.git.merges.base import Moved, move_base
from gitticks.git.merges.commits import Conflict, merge_in_memory, store_commit
from gitticks.git.merges.history import count_commits, is_ancestor
from gitticks.git.process import run_git
from gitticks.git.refs import BRANCHES, read_ref
from gitticks.git.repository import Repository
from gitticks.git.snapshots import blobs_at, store_snapshot, take_snapshot
from gitticks.git.worktrees import add_worktree, is_half_made, remove_worktree, submodules_of
from gitticks.model.ids import WORK_BRANCH, TaskId
from gitticks.model.settings import Settings, WorkspaceUpdate
from gitticks.model.status import Isolation, Status
from gitticks.model.task import Task
from gitticks.runner import partial_work, workspace_setup
from gitticks.runner.workspace_plan import (
    MAILBOX_FOLDER,
    OWN_FOLDERS,
    Workspace,
    base_of,
    left_in,
    occupant_file,
    own_folders,
    plan,
    read_occupant,
    refuse_link,
    shown_paths,
    uncommitted_paths,
    workspace_name,
)
from gitticks.runner.workspace_setup import install_hooks

__all__ = ["Workspace", "base_of", "plan", "workspace_name"]


def prepare(
    repository: Repository,
    plan: Workspace,
    settings: Settings,
    environment: Mapping[str, str],
    stop: StopRequest | None = None,
) -> Workspace:
    """Makes the planned workspace, or fixes it, and returns it ready for a session."""
    exclude_folders(repository, [MAILBOX_FOLDER, settings.workspace.dir])
    warnings = [*plan.warnings]
    if plan.isolation is Isolation.NONE:
        checkout = checkout_at(repository, plan.path)
    else:
        checkout = ensure_worktree(repository, plan, warnings)
    refuse_filters(checkout)  # before its settings change, which are asked for
    if plan.isolation is not Isolation.NONE:
        warnings += install_hooks(repository, checkout, plan.task_id)
    _change_hands(repository, checkout, plan, warnings)
    if plan.isolation is not Isolation.NONE:
        workspace_setup.set_up(repository, checkout, settings, environment, stop)
    is_taken_up = plan.lacks_base or settings.workspace.update is WorkspaceUpdate.BETWEEN_ITERATIONS
    if (plan.isolation is Isolation.TASK or plan.lacks_base) and (
        news := _news_of_base(repository, checkout, plan, is_taken_up=is_taken_up)
    ) is not None:
        warnings.append(news)
    return plan._replace(branch=plan.work_branch, warnings=tuple(warnings))


def find(repository: Repository, task: Task, path: Path) -> Workspace | None:
    """Returns the workspace at `path` as it stands, for the end of a session that another runner began."""
    try:
        checkout = checkout_at(repository, path)
    except NotFoundError:
        return None
    if not checkout.path.is_dir():
        return None
    isolation = Isolation.TASK if task.branch == WORK_BRANCH + task.id else Isolation.EPIC
    if checkout.git_dir == repository.common_dir:
        isolation = Isolation.NONE
    branch = None if isolation is Isolation.NONE else task.branch or current_branch(checkout)
    start_sha = task.start_sha or head(checkout) or ""
    return Workspace(task.id, checkout.path, branch, task.base, start_sha, start_sha, isolation)


def collect(repository: Repository, workspace: Workspace) -> tuple[str, tuple[str, ...]]:
    """Returns the commit that the agent's work has come to, and what was odd on the way.

    It is the tip of the work branch, whatever is checked out.
    """
    checkout = checkout_at(repository, workspace.path)
    if workspace.branch is None:
        return head(checkout) or workspace.start_sha, ()
    tip = read_ref(repository.common_dir, BRANCHES + workspace.branch)
    if tip is None:
        return workspace.start_sha, (
            f"the branch `{workspace.branch}` was deleted: there is no work to take",
        )
    warnings = []
    other = current_branch(checkout)
    if other != workspace.branch:
        where = f"the branch `{other}`" if other else f"no branch (`{(head(checkout) or '')[:10]}`)"
        warnings.append(
            f"the workspace is on {where}: only commits on `{workspace.branch}` count; `git merge` them there"
        )
    if repository.objects.find(repository.objects.tree_of(tip), MAILBOX_FOLDER) is not None:
        warnings.append(f"`{MAILBOX_FOLDER}` was committed: `git rm -r --cached {MAILBOX_FOLDER}` removes it")
    return tip, tuple(warnings)


def capture(
    repository: Repository, workspace: Workspace, settings: Settings, head: str, message: str
) -> tuple[str, tuple[str, ...]]:
    """Returns a commit of a workspace with what is uncommitted, and the paths that no commit can hold.

    Where nothing is uncommitted it is the head itself. Neither index nor HEAD is touched, and no ref names the commit yet.

    Raises:
        GitticksError: it cannot be made.
    """
    checkout = checkout_at(repository, workspace.path)
    folders = own_folders(settings) if workspace.isolation is Isolation.NONE else OWN_FOLDERS
    found = take_snapshot(checkout, folders)
    if not found.files and found.head == head:
        return head, found.left_out
    others = [] if found.head == head else [head]
    return store_snapshot(checkout, found, message, others), found.left_out


def settle(repository: Repository, workspace: Workspace, task: Task) -> None:
    """Puts partial work aside in a shared workspace while its task waits, so that another task can continue there.

    In the user's own checkout a copy is kept and the files stay: some of them may be the person's by now.

    Raises:
        GitticksError: something there cannot be kept; nothing was changed.
    """
    waits = task.awaiting is not None or task.status in (Status.STUCK, Status.DONE, Status.CANCELLED)
    if workspace.isolation is Isolation.TASK or not waits or not workspace.path.is_dir():
        return
    refuse_link(repository, workspace.path)
    checkout = checkout_at(repository, workspace.path)
    if read_occupant(repository, checkout) not in (None, task.id):
        return  # another task's by now: this one's was put aside when that moved in
    ref, clear = partial_work.partial_ref(task.id), workspace.isolation is not Isolation.NONE
    partial_work.keep(repository, checkout, ref, f"Partial work on {task.id}", clear=clear)


def _news_of_base(
    repository: Repository, checkout: Checkout, workspace: Workspace, *, is_taken_up: bool
) -> str | None:
    """Returns what the agent should know of a base that moved, which if `is_taken_up` is merged in where that is clean.

    Uncommitted work and a workspace that an agent left on another branch are left alone, and so is a conflict.
    """
    base, branch = workspace.base, workspace.branch
    if base is None or branch is None or current_branch(checkout) != branch:
        return None
    tip = read_ref(repository.common_dir, BRANCHES + base)
    own = read_ref(repository.common_dir, BRANCHES + branch)
    if tip is None or own is None or is_ancestor(repository, tip, own):
        return None
    count = count_commits(repository, own, tip)
    news = f"`{base}` has {count} new commit{'' if count == 1 else 's'}"
    if not is_taken_up:
        return f"{news}: `git merge {base}` brings them in, if your work needs them"
    if uncommitted_paths(checkout, OWN_FOLDERS) or (checkout.git_dir / "MERGE_HEAD").exists():
        return f"{news}, which are merged once everything here is committed"
    merged = merge_in_memory(repository, own, tip)
    if isinstance(merged, Conflict) and merged.is_unrelated:
        return f"`{base}` was rewritten: `git rebase --onto {base} {workspace.start_sha[:10]}` puts your commits on it"
    if isinstance(merged, Conflict):
        return f"{news} that conflict with yours in {shown_paths(merged.paths)}: `git merge {base}` and resolve the conflict"
    message = f"Merge {base} into {branch}\n"
    commit = store_commit(repository, merged.tree, [own, tip], message, ENGINE_IDENTITY.variables())
    try:
        moved = move_base(repository, branch, own, commit, f"gitticks: take up {base}")
    except LostRaceError:
        return None  # somebody is at work there just now; the next iteration asks again
    return f"{news}, which were merged into your branch" if isinstance(moved, Moved) else None


def _change_hands(repository: Repository, checkout: Checkout, plan: Workspace, warnings: list[str]) -> None:
    before = read_occupant(repository, checkout)
    if plan.isolation is Isolation.EPIC and before is not None and before != plan.task_id:
        ref = partial_work.partial_ref(TaskId(before))
        partial_work.keep(repository, checkout, ref, f"Partial work on {before}", clear=True)
    file = occupant_file(repository, checkout)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"{plan.task_id}\n", encoding="utf-8")
    ref = partial_work.partial_ref(plan.task_id)
    if plan.isolation is Isolation.TASK:
        if before is None and read_ref(repository.common_dir, ref) is not None:
            warnings.append(
                f"earlier uncommitted work on it is kept at `{ref}`: `git diff {ref}^ {ref}` shows it"
            )
        return
    restored = partial_work.restore(repository, checkout, ref)
    if restored.conflicts:
        warnings.append(
            f"your earlier uncommitted work is kept at `{ref}`, and differs from what is here in "
            f"{shown_paths(restored.conflicts)}: `git diff HEAD {ref}` shows it"
        )


def ensure_worktree(repository: Repository, plan: Workspace, warnings: list[str]) -> Checkout:
    """Returns the planned worktree: made if it is missing, fixed if it is broken, on its branch if that loses nothing.

    What the agent and a person should know of it is added to `warnings`.
    """
    assert plan.branch is not None  # noqa: S101 - only the user's own checkout has none
    refuse_link(repository, plan.path)
    try:
        checkout = checkout_at(repository, plan.path)
    except NotFoundError:
        return _add(repository, plan, warnings)
    if not plan.path.is_dir() or is_half_made(repository, checkout):
        return _add(repository, plan, warnings)
    _fix_link(checkout)
    warnings += [
        f"another git seems to be running here; if not: `rm {lock}`"
        for lock in clear_abandoned_locks(checkout, plan.branch)
    ]
    warnings += _remake_branch(repository, plan)
    warnings += _return_to_branch(repository, checkout, plan.branch)
    return checkout


def restore(repository: Repository, workspace: Workspace) -> None:
    """Makes a worktree again that its agent removed with git, at the last commit of its branch."""
    if workspace.isolation is not Isolation.NONE:
        try:
            checkout_at(repository, workspace.path)
        except NotFoundError:
            _add(repository, workspace, [])


def require_program(repository: Repository, workspace: Workspace, argv: Sequence[str]) -> None:
    """Refuses to start a program of the repository that was deleted in this workspace: the agent itself is not to blame.

    Raises:
        GitticksError: it is committed, and not there.
    """
    program = argv[0] if argv else ""
    if "/" not in program or program.startswith("/") or (workspace.path / program).exists():
        return
    path = os.path.normpath(program)
    if blobs_at(checkout_at(repository, workspace.path).git_dir, "HEAD", [path]):
        raise GitticksError(
            f"`{program}` was deleted in the workspace",
            hint=f"`git -C {quote(str(workspace.path))} checkout -- {quote(path)}` restores it",
        )


def _add(repository: Repository, plan: Workspace, warnings: list[str]) -> Checkout:
    refuse_link(repository, plan.path)
    exists = read_ref(repository.common_dir, BRANCHES + (plan.branch or "")) is not None
    checkout = add_worktree(repository, plan.path, branch=plan.branch, commit=None if exists else plan.commit)
    try:
        refuse_filters(checkout)
    except GitticksError:  # filled without the filter, it would be committed so once there is one
        remove_worktree(repository, plan.path)
        raise
    if submodules := submodules_of(checkout):
        warnings.append(f"submodules are empty here: {shown_paths(submodules)}")
    return checkout


def _fix_link(checkout: Checkout) -> None:
    """Makes sure that git started inside the workspace finds the repository."""
    link = checkout.path / ".git"
    if link.is_dir() and not link.is_symlink():
        raise GitticksError(
            f"`{checkout.path}` has become a repository of its own",
            hint=f"move it away: `mv {quote(str(checkout.path))} {quote(f'{checkout.path}.away')}`",
        )
    expected = b"gitdir: " + os.fsencode(checkout.git_dir) + b"\n"
    if link.is_symlink() or not link.is_file() or link.read_bytes() != expected:
        relink(checkout)


def _remake_branch(repository: Repository, plan: Workspace) -> list[str]:
    """Makes the work branch again where an agent deleted it; git's reflog of HEAD still knows what stood on it."""
    ref = BRANCHES + (plan.branch or "")
    if read_ref(repository.common_dir, ref) is not None:
        return []
    asked = ["update-ref", "-m", "gitticks: make the branch again", ref]
    run_git([*asked, plan.commit, ""], repository_dir=repository.common_dir)
    last = left_in(repository, plan.path, plan.branch or "")
    commit = last if last and repository.objects.has(last) else plan.commit
    run_git([*asked, commit, plan.commit], repository_dir=repository.common_dir)
    return [f"the branch `{plan.branch}` was deleted: it starts again at `{commit[:10]}`"]


def _return_to_branch(repository: Repository, checkout: Checkout, branch: str) -> list[str]:
    """Checks the work branch out again where an agent left another one; its commits there are kept and named."""
    other = current_branch(checkout)
    if other == branch:
        return []
    was = f"`{other}`" if other else "a detached HEAD"
    paths = uncommitted_paths(checkout, OWN_FOLDERS)
    if paths:
        return [
            f"the workspace is on {was} with uncommitted changes: `git switch {branch}` and take them along"
        ]
    warnings = []
    lost = commit_without_a_branch(repository, checkout)
    if lost is not None:
        ref = partial_work.rescued_ref(checkout.path.name)
        partial_work.keep(repository, checkout, ref, f"Left on {was}", even_if_empty=True)
        warnings.append(f"commits that were made on a detached HEAD are under `{ref}^1`")
    elif other is not None:
        warnings.append(f"the workspace was on {was}: `git merge {other}` if that work belongs to the task")
    checkout.git(["checkout", "--quiet", branch, "--"], fenced=True, trusted=True)
    return warnings


def commit_without_a_branch(repository: Repository, checkout: Checkout) -> str | None:
    """Returns the commit of a detached HEAD that no branch and no tag contains; None if nothing hangs in the air."""
    commit = head(checkout)
    if commit is None or current_branch(checkout) is not None:
        return None
    branches = run_git(
        ["for-each-ref", "--contains", commit, "--count=1", "refs/heads", "refs/remotes", "refs/tags"],
        repository_dir=repository.common_dir,
    )
    return None if branches.text else commit
