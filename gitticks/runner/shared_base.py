"""`merge.push`: merges are made on the remote's base and pushed before the task is done here."""

from __future__ import annotations

from gitticks.errors import GitticksError
from gitticks.git.merges.base import CheckoutOverlaps, move_base
from gitticks.git.merges.history import count_commits, is_ancestor
from gitticks.git.refs import BRANCHES, read_ref
from gitticks.git.repository import Repository
from gitticks.git.sharing import Fetched, Pushed, PushedBranch, fetch, push, remote_of_branch
from gitticks.runner.workspace_plan import shown_paths

MERGE_LOCK = "merge.lock"
"""In the clone's own folder: whoever holds it merges, and moves bases."""
LONGEST_MERGE_SECONDS = 3600.0


class BaseNotSharedError(GitticksError):
    """The base cannot be brought up to date with its remote; the merge waits, and nothing was changed."""


def catch_up(repository: Repository, base: str) -> None:
    """Moves the base forward to where its remote has it; to be called with the merge lock held.

    Raises:
        BaseNotSharedError: there is no remote, it did not answer, or the base has commits that the remote has not.
    """
    remote = remote_of_base(repository, base)
    fetched = fetch(repository, remote, base)
    if fetched.outcome in (Fetched.UNREACHABLE, Fetched.REFUSED):
        raise BaseNotSharedError(
            f"`{remote}` could not be asked for `{base}`: {fetched.words}",
            hint=f"`git fetch {remote} {base}`",
        )
    here, there = read_ref(repository.common_dir, BRANCHES + base), fetched.commit
    if there is None or here is None or here == there:
        return
    if not is_ancestor(repository, here, there):
        ahead = count_commits(repository, there, here)
        behind = count_commits(repository, here, there)
        first = f"`git pull {remote} {base}`, then " if behind else ""
        raise BaseNotSharedError(
            f"`{base}` has {ahead} commit{'' if ahead == 1 else 's'} that `{remote}` does not have, and a merge "
            "pushes nothing but itself",
            hint=f"{first}`git push {remote} {base}`",
        )
    moved = move_base(repository, base, here, there, f"gitticks: catch up with {remote}")
    if isinstance(moved, CheckoutOverlaps):
        raise BaseNotSharedError(
            f"your uncommitted changes in {moved.checkout} are in the way of changes on `{remote}`: "
            f"{shown_paths(moved.paths)}"
        )


def publish(repository: Repository, base: str, commit: str) -> bool:
    """Takes a commit to the remote's base; returns False if somebody else was first, so that it is to be made again.

    Raises:
        BaseNotSharedError: the remote refused it, or did not report.
    """
    remote = remote_of_base(repository, base)
    return judge_push(remote, base, push(repository, remote, commit, base))


def judge_push(remote: str, base: str, pushed: PushedBranch) -> bool:
    """Returns whether a push of a merge went through, or else came too late.

    Raises:
        BaseNotSharedError: the remote refused it, or did not report.
    """
    if pushed.outcome in (Pushed.DONE, Pushed.LATE):
        return pushed.outcome is Pushed.DONE
    how = (
        "refused the merge"
        if pushed.outcome is Pushed.REFUSED
        else "did not say whether it accepted the merge"
    )
    raise BaseNotSharedError(
        f"`{remote}` {how} into `{base}`: {pushed.words}", hint=f"`git ls-remote {remote}`"
    )


def remote_of_base(repository: Repository, base: str) -> str:
    """Returns the remote that the base is shared with.

    Raises:
        BaseNotSharedError: there is none.
    """
    remote = remote_of_branch(repository, base)
    if remote is None:
        raise BaseNotSharedError(
            f"`merge.push` is set, and `{base}` has no remote",
            hint="`git remote add origin URL`, or `gt config merge.push false`",
        )
    return remote
