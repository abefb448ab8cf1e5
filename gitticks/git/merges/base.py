"""Moves a base branch and every checkout of it, without losing an edit.

The order is: a note of the move, the ref, the checkouts, the note away. Killed in between, the note tells the next
call that the branch moved and which checkouts did not follow; git alone would show such a checkout as one where
somebody staged the removal of the merge. The other order would need a way back when the branch turns out to have
moved.
"""

from __future__ import annotations

import contextlib
import json
import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from shlex import quote
from typing import NamedTuple

from gitticks.errors import LostRaceError, NotFoundError, first_of
from gitticks.git.checkouts import Checkout, checkout_at, current_branch, is_in_place, list_worktrees
from gitticks.git.files import write_synced
from gitticks.git.indexfile import hold_index_lock, index_aside
from gitticks.git.locks import clear_shared_locks, hold_lock
from gitticks.git.merges.following import BaseMove, Fixed, FollowingCheckout, fix, overlapping_paths
from gitticks.git.process import GitError, printable, run_git
from gitticks.git.refs import BRANCHES, read_ref
from gitticks.git.repository import Repository
from gitticks.git.staged import rebased_ref
from gitticks.git.worktrees import HALF_MADE, lock_reason
from gitticks.safe_read import read_plain_file

_LOCK = "base.lock"
_SHOWN_PATHS = 5


class Moved(NamedTuple):
    """The base is at the new commit, and its checkouts are up to date with it; `fixed` were edited meanwhile."""

    fixed: tuple[Fixed, ...] = ()


class BaseMoved(NamedTuple):
    """Somebody else moved the base, which is at `commit` now (None: it is gone); nothing was changed."""

    commit: str | None


class CheckoutOverlaps(NamedTuple):
    """Uncommitted edits or untracked files in `checkout` are in the way at `paths`; nothing was changed."""

    checkout: Path
    paths: tuple[str, ...]

    @property
    def words(self) -> str:
        """Returns what is in the way, for people."""
        shown = first_of(self.paths, _SHOWN_PATHS)
        return f"your uncommitted changes in {self.checkout} are in the way: {shown}"


class BaseHeld(NamedTuple):
    """A checkout of the branch keeps it where it is, for the reason in `words`; nothing was changed.

    `is_costly` says that finding out takes long, as by a filter that fetches what it writes.
    """

    words: str
    is_costly: bool = False


def move_base(
    repository: Repository, branch: str, old: str, new: str, message: str, *, is_rehearsal: bool = False
) -> Moved | BaseMoved | CheckoutOverlaps | BaseHeld:
    """Moves `branch` from `old`, which the caller saw, to `new` if no checkout of it holds an edit in the way.

    Edits elsewhere in these checkouts survive. A rehearsal moves nothing, and says what would be in the way. What an earlier call that was killed left undone is done first.

    Raises:
        LostRaceError: another program is at work in a checkout of the branch; nothing was changed.
    """
    move = BaseMove(branch, old, new)
    with hold_lock(repository.own_file(_LOCK)):
        _finish(repository)
        tip = read_ref(repository.common_dir, BRANCHES + branch)
        if tip != old:
            return BaseMoved(tip)
        there = [one for one in list_worktrees(repository) if _may_hold(one, branch)]
        worktrees = [one for one in there if _is_own(one) or not one.path.is_dir()]
        for checkout in worktrees:
            if (held_by := _why_held(checkout, branch)) is not None:
                return BaseHeld(held_by)
        places = [
            checkout
            for checkout in worktrees
            if current_branch(checkout) == branch and checkout.path.is_dir()
        ]
        with contextlib.ExitStack() as held:
            following = []
            for place in places:
                held.enter_context(_hold_index(place))
                index = held.enter_context(index_aside(place.git_dir))  # put in its place at the end
                following.append(FollowingCheckout.prepare(repository, place, move, index))
            for each in following:
                in_the_way = overlapping_paths(each)
                if in_the_way:
                    return CheckoutOverlaps(each.checkout.path, in_the_way)
                if (failed := each.failing_filter(repository.own_file("ahead"))) is not None:
                    words = f"a filter cannot write files in {each.checkout.path}: {failed}"
                    return BaseHeld(words, is_costly=True)
            if is_rehearsal:
                return Moved()
            paths = [os.fspath(place.path) for place in places]
            write_synced(_note(repository), json.dumps({**move._asdict(), "checkouts": paths}).encode())
            if not _swap(repository, places, move, message):
                forget_move(repository)
                return BaseMoved(read_ref(repository.common_dir, BRANCHES + branch))
            behind = [each.checkout for each in following if not each.update()]
        return Moved(_finish(repository, behind))


def _is_own(checkout: Checkout) -> bool:
    """False for a worktree of another repository's, which an entry names where the repository was copied."""
    return checkout.git_dir == checkout.common_dir or is_in_place(checkout)


def _may_hold(checkout: Checkout, branch: str) -> bool:
    """False for one that has another branch checked out, and is not in the middle of a rebase of this one."""
    is_there = current_branch(checkout) in (None, branch)
    return is_there or rebased_ref(checkout.git_dir) == BRANCHES + branch


def _why_held(checkout: Checkout, branch: str) -> str | None:
    """Returns that the end of a rebase would take a move back, or that a worktree on a removable disk could not follow."""
    if not checkout.path.is_dir():
        if current_branch(checkout) != branch or lock_reason(checkout) in (None, HALF_MADE):
            return None
        gone = f"`git worktree remove -f -f {quote(str(checkout.path))}`"
        return f"`{branch}` is checked out in the locked worktree {checkout.path}, which is not there: bring it back, or, if it is gone for good, {gone}"
    if rebased_ref(checkout.git_dir) == BRANCHES + branch:
        return (
            f"`{branch}` is being rebased in {checkout.path}; `git rebase --continue` or `--abort` ends that"
        )
    return None


def finish_checkout(repository: Repository) -> tuple[Fixed, ...]:
    """Brings checkouts up to date with a base that an earlier, killed call moved; edits made since survive."""
    if _noted_move(repository) is None:
        return ()
    with hold_lock(repository.own_file(_LOCK)):
        return _finish(repository)


def _finish(repository: Repository, behind: Sequence[Checkout] | None = None) -> tuple[Fixed, ...]:
    """Fixes the checkouts of the noted move (`behind`: only these) and forgets it."""
    noted = _noted_move(repository)
    if noted is None:
        return ()
    move, paths = noted
    if behind is None:
        clear_shared_locks(repository.common_dir, "HEAD", BRANCHES + move.branch)
        for checkout in _still_there(repository, move, paths):
            clear_shared_locks(checkout.git_dir, "HEAD")
    tip = read_ref(repository.common_dir, BRANCHES + move.branch)
    fixed = []
    if tip is not None and tip != move.old:
        for checkout in _still_there(repository, move, paths) if behind is None else behind:
            with _hold_index(checkout):
                fixed.append(fix(repository, checkout, move, tip))
    forget_move(repository)
    return tuple(fixed)


def _noted_move(repository: Repository) -> tuple[BaseMove, tuple[Path, ...]] | None:
    """Returns the move that was noted and its checkouts; None if there is none, or only a torn note."""
    try:
        note = json.loads(read_plain_file(_note(repository)))
        move = BaseMove(str(note["branch"]), str(note["old"]), str(note["new"]))
        return move, tuple(Path(path) for path in note["checkouts"])
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def forget_move(repository: Repository) -> None:
    """Removes the note of a move that is through."""
    _note(repository).unlink(missing_ok=True)


def _note(repository: Repository) -> Path:
    return repository.own_file("base-move.json")


def _still_there(repository: Repository, move: BaseMove, paths: Sequence[Path]) -> Iterator[Checkout]:
    for path in paths:
        with contextlib.suppress(NotFoundError):
            checkout = checkout_at(repository, path)
            if checkout.path.is_dir() and _is_own(checkout) and current_branch(checkout) == move.branch:
                yield checkout


@contextlib.contextmanager
def _hold_index(checkout: Checkout) -> Iterator[None]:
    with hold_index_lock(checkout.git_dir) as is_held:
        if not is_held:
            raise LostRaceError(
                f"another git is running in `{checkout.path}`",
                hint=f"try again when it has finished; if none is running: `rm {quote(str(checkout.git_dir / 'index.lock'))}`",
            )
        yield


def _swap(repository: Repository, places: Sequence[Checkout], move: BaseMove, message: str) -> bool:
    """Moves the ref, seen from a checkout of it so that the reflog of its HEAD tells of the move too."""
    git_dir = places[0].git_dir if places else repository.common_dir
    words = ["update-ref", "-m", message, f"{BRANCHES}{move.branch}", move.new, move.old]
    result = run_git(["-c", "core.fsync=reference", *words], repository_dir=git_dir, check=False)
    if result.code == 0:
        return True
    if read_ref(repository.common_dir, BRANCHES + move.branch) == move.old:
        raise GitError(f"`{move.branch}` could not be moved: {printable(result.stderr)}", code=result.code)
    return False
