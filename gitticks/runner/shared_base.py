"""`merge.push`: a merge is made on the remote's base and pushed before the task is done here.

With it go the end of its task and of its claim, together or none of them: no clone sees a task done whose code is
missing, nor code whose task is still open. Where the tasks are not shared with the base's remote, the merge alone is
pushed.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from gitticks.errors import GitticksError, RefusedError
from gitticks.git.identity import ENGINE_IDENTITY
from gitticks.git.large_files import push_large_files
from gitticks.git.locks import hold_lock
from gitticks.git.merges.base import BaseHeld, CheckoutOverlaps, move_base
from gitticks.git.merges.history import count_commits, is_ancestor
from gitticks.git.process import GitError
from gitticks.git.refs import BRANCHES, logged, read_ref
from gitticks.git.repository import Repository
from gitticks.git.sharing import (
    LONGEST_SECONDS,
    Fetched,
    Pushed,
    PushedBranch,
    fetch,
    push,
    push_together,
    remote_of_branch,
)
from gitticks.model.task import Task
from gitticks.store.branch import Store
from gitticks.store.decisions import carry_out
from gitticks.store.layout import STATE_BRANCH
from gitticks.store.publishing import pause
from gitticks.store.sharing import join, last_shared, remember_shared, take_in
from gitticks.workflow.decision import Decision
from gitticks.workflow.triggers import Merged

if TYPE_CHECKING:
    from gitticks.runner.context import RunContext

MERGE_LOCK = "merge.lock"
"""In the clone's own folder: whoever holds it merges, and moves bases."""
LONGEST_MERGE_SECONDS = 3600.0
_MOST_SEEN = 20
_MOST_ROUNDS = 12
"""So often others may move the tasks before us; the merge and its tests stand meanwhile."""


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
        if (dropped := _dropped(repository, remote, base, here, there)) is not None:
            lost = count_commits(repository, there, dropped)
            raise BaseNotSharedError(
                f"`{base}` was rewritten on `{remote}`: it lacks {lost} commit{'' if lost == 1 else 's'} there that "
                "it had, and that are here",
                hint=f"`git log {there[:10]}..{dropped[:10]}` lists them; `git push --force-with-lease {remote} {base}` "
                f"restores them there, `git rebase --onto {remote}/{base} {dropped[:10]} {base}` drops them here",
            )
        ahead = count_commits(repository, there, here)
        behind = count_commits(repository, here, there)
        first = f"`git pull --no-rebase {remote} {base}`, then " if behind else ""
        raise BaseNotSharedError(
            f"`{base}` has {ahead} commit{'' if ahead == 1 else 's'} that `{remote}` does not have, and a merge "
            "pushes nothing but itself",
            hint=f"{first}`git push {remote} {base}`",
        )
    moved = move_base(repository, base, here, there, f"gitticks: catch up with {remote}")
    if isinstance(moved, CheckoutOverlaps | BaseHeld):
        raise BaseNotSharedError(f"changes on `{remote}` cannot be taken over here: {moved.words}")


def _dropped(repository: Repository, remote: str, base: str, here: str, there: str) -> str | None:
    """Returns the newest commit that the remote's base was seen at, the base here has, and the remote's has not any more."""
    seen = islice(logged(repository.common_dir, f"refs/remotes/{remote}/{base}"), _MOST_SEEN)
    return next(
        (
            one
            for one in seen
            if is_ancestor(repository, one, here) and not is_ancestor(repository, one, there)
        ),
        None,
    )


def judge_push(remote: str, base: str, pushed: PushedBranch) -> bool:
    """Returns whether a push of a merge went through, or else came too late."""
    if pushed.outcome in (Pushed.DONE, Pushed.LATE):
        return pushed.outcome is Pushed.DONE
    if pushed.outcome is Pushed.REFUSED:
        raise BaseNotSharedError(f"`{remote}` refused the merge into `{base}`: {pushed.words}")
    raise BaseNotSharedError(
        f"`{remote}` did not say whether it accepted the merge into `{base}`: {pushed.words}",
        hint=f"`git ls-remote {remote}`",
    )


def remote_of_base(repository: Repository, base: str) -> str:
    """Returns the remote that the base is shared with."""
    remote = remote_of_branch(repository, base)
    if remote is None:
        raise BaseNotSharedError(
            f"`merge.push` is set, and `{base}` has no remote",
            hint="`git remote add origin URL`, or `gt config merge.push false`",
        )
    return remote


class Published(NamedTuple):
    """A merge that is at the remote; `closing` is the commit there that closes the task, with the decision about it."""

    closing: tuple[str, Decision] | None = None

    def settle(self, store: Store) -> Decision | None:
        """Takes the end of the task in here, once the base has the merge; None if it has still to be decided."""
        if self.closing is None:
            return None
        commit, decision = self.closing
        join(store, commit, "merge the tasks\n", "gitticks: merged and pushed", author=ENGINE_IDENTITY)
        return decision


def publish_closed(run: RunContext, store: Store, task: Task, base: str, merge: str) -> Published | None:
    """Takes a merge to the remote, together with the end of its task; None if it is to be made again.

    Raises:
        BaseNotSharedError: the remote refused it, or gave no answer.
    """
    repository = run.repository
    remote = remote_of_base(repository, base)
    try:
        push_large_files(repository, remote, merge)
    except GitError as error:
        raise BaseNotSharedError(error.message, hint=error.hint) from error
    for number in range(_MOST_ROUNDS):
        with hold_lock(repository.own_file("sync.lock"), wait_seconds=2 * LONGEST_SECONDS):
            if not _take_in_tasks(run, store, remote):
                pushed = push(repository, remote, merge, base)
                return Published() if judge_push(remote, base, pushed) else None
            now = store.task_file(task.id).task
            if not now.is_merging or now.end_sha != task.end_sha:
                return None
            circumstances = run.circumstances()
            state, decision = store.propose(
                lambda transaction: carry_out(transaction, task.id, Merged(merge), circumstances),  # noqa: B023
                author=ENGINE_IDENTITY,
            )
            try:
                run.refuse_push(remote, state, last_shared(store, remote))
            except RefusedError as error:
                raise BaseNotSharedError(error.message, hint=error.hint) from error
            with run.claims.ref_at(remote, task.id) as claim:
                pushed = push_together(repository, remote, {base: merge, STATE_BRANCH: state}, claim)
                if judge_push(remote, base, pushed):
                    remember_shared(store, remote, state)
                    run.claims.note_released(task.id)
                    return Published((state, decision))
        known = store.objects
        fetched = fetch(repository, remote, base)
        if fetched.commit is not None and not known.is_ancestor(fetched.commit, merge):
            return None
        run.claims.confirm(task.id)
        pause(number)
    raise BaseNotSharedError(
        f"others changed the tasks of `{remote}` first {_MOST_ROUNDS} times in a row", hint="`gt sync`"
    )


def closed_at_remote(run: RunContext, store: Store, task: Task, base: str) -> Decision | None:
    """Takes in the end of a task that was pushed with its merge; None if it has still to be decided here."""
    remote = remote_of_base(run.repository, base)
    with hold_lock(run.repository.own_file("sync.lock"), wait_seconds=2 * LONGEST_SECONDS):
        _take_in_tasks(run, store, remote)
    now = store.task_file(task.id).task
    return Decision(now) if now.is_landed else None


def _take_in_tasks(run: RunContext, store: Store, remote: str) -> bool:
    """Takes in what the remote has of the tasks; False if they are not shared there, or only `gt sync` may continue."""
    known = last_shared(store, remote)
    if known is None or remote_of_branch(run.repository, STATE_BRANCH) != remote:
        return False
    fetched = fetch(run.repository, remote, STATE_BRANCH)
    if fetched.outcome in (Fetched.UNREACHABLE, Fetched.REFUSED):
        raise BaseNotSharedError(
            f"`{remote}` could not be asked for the tasks: {fetched.words}", hint="`gt sync`"
        )
    if fetched.commit is None or not store.objects.is_ancestor(known, fetched.commit):
        return False
    take_in(store, fetched.commit, remote, author=ENGINE_IDENTITY)
    remember_shared(store, remote, fetched.commit)
    return True
