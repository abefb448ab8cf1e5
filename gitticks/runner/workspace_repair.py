"""Creates a workspace's worktree, and repairs what a kill, a person or an agent did to it."""

from __future__ import annotations

import os
import shutil
from shlex import quote

from gitticks.errors import GitticksError, NotFoundError
from gitticks.git.checkouts import Checkout, checkout_at, current_branch, head
from gitticks.git.lock_files import clear_abandoned_locks
from gitticks.git.process import run_git
from gitticks.git.refs import BRANCHES, read_ref
from gitticks.git.repository import Repository
from gitticks.git.worktrees import add_worktree, is_half_made
from gitticks.runner import partial_work
from gitticks.runner.workspace_plan import OWN_FOLDERS, Workspace, shown_paths, uncommitted_paths


def ensure_worktree(repository: Repository, plan: Workspace, warnings: list[str]) -> Checkout:
    """Returns the planned worktree: made if it is missing, fixed if it is broken, on its branch if that loses nothing.

    What the agent and a person should know of it is added to `warnings`.

    Raises:
        GitticksError: something is in the way.
    """
    assert plan.branch is not None  # noqa: S101 - only the user's own checkout has none
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


def _add(repository: Repository, plan: Workspace, warnings: list[str]) -> Checkout:
    exists = read_ref(repository.common_dir, BRANCHES + (plan.branch or "")) is not None
    added = add_worktree(repository, plan.path, branch=plan.branch, commit=None if exists else plan.commit)
    if added.empty_submodules:
        warnings.append(f"submodules are empty here: {shown_paths(added.empty_submodules)}")
    if added.filters_left_out:
        names = ", ".join(f"`{name}`" for name in added.filters_left_out)
        warnings.append(f"files with these filters are here as git stores them: {names}")
    return added.checkout


def _fix_link(checkout: Checkout) -> None:
    """Makes sure that git started inside the workspace finds the repository."""
    link = checkout.path / ".git"
    if link.is_dir() and not link.is_symlink():
        raise GitticksError(
            f"`{checkout.path}` has become a repository of its own",
            hint=f"move it away: `mv {quote(str(checkout.path))} {quote(f'{checkout.path}.away')}`",
        )
    expected = b"gitdir: " + os.fsencode(checkout.git_dir) + b"\n"
    if not link.is_symlink() and link.is_file() and link.read_bytes() == expected:
        return
    temporary = checkout.git_dir / "gitticks-link"
    temporary.write_bytes(expected)
    shutil.move(temporary, link)  # which may are on another file system


def _remake_branch(repository: Repository, plan: Workspace) -> list[str]:
    """Makes the work branch again where an agent deleted it; git's reflog of HEAD still knows what stood on it."""
    ref = BRANCHES + (plan.branch or "")
    if read_ref(repository.common_dir, ref) is not None:
        return []
    asked = ["update-ref", "-m", "gitticks: make the branch again", ref, plan.commit, ""]
    run_git(asked, repository_dir=repository.common_dir)
    return [f"the branch `{plan.branch}` was deleted: it starts again at `{plan.commit[:10]}`"]


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
        partial_work.keep(repository, checkout, ref, f"Left on {was}", OWN_FOLDERS, even_if_empty=True)
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
