"""Moves the board along with the state branch, and catches up if it could not.

The journal holds the commit that the board was last up to date with. It is written after files and index, so whatever
happens in between, the next call finds out what is missing by comparing.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from gitticks.board.journal import Pending, PendingKind, load_journal, mark_of, save_journal
from gitticks.board.place import (
    BoardReport,
    board_checkout,
    errors_of_board,
    is_on_state_branch,
    unwritable_folder,
)
from gitticks.errors import GitticksError
from gitticks.git.checkouts import changed_paths
from gitticks.git.indexfile import INDEX, hold_index_lock, second_name
from gitticks.git.locks import hold_lock
from gitticks.git.refs import read_ref
from gitticks.git.repository import Repository
from gitticks.git.staged import is_sequencing
from gitticks.model.ids import BOARD_FOLDER
from gitticks.store.layout import STATE_REF

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from gitticks.board.sync import Sync
    from gitticks.git.checkouts import Checkout


@dataclass(slots=True)
class WorktreeStep:
    """One move of the state branch, to be followed by the board; `checkout` is None where none can follow."""

    repository: Repository
    checkout: Checkout | None
    warn: Callable[[str], object]
    rehearsed: Sync | None = None

    def __call__(self, old_commit: str, new_commit: str, /) -> None:
        """Brings the board up to date with the new commit, as far as nobody's edits are in the way.

        A commit that a person made on the board while no hook ran is followed first: what the new one takes back of
        it differs from nothing that the journal knows of.

        The move itself has happened and is acknowledged, so trouble with the board is no failure of it: the journal
        keeps what the board was up to date with, and the next call tries again.
        """
        if self.checkout is None:
            return
        try:
            journal = load_journal(self.repository)
            if journal.base not in (None, old_commit, new_commit):
                _sync(self.repository, self.checkout, old_commit)
            report = _sync(self.repository, self.checkout, new_commit, self.rehearsed)
            known = {path for path, one in journal.pending.items() if one.kind is PendingKind.CONFLICT}
            for path in sorted({*report.conflicts} - known):
                self.warn(
                    f"`{BOARD_FOLDER}/{path}` has changed where you edited it: "
                    "`gt status` says how to merge the two"
                )
        except (GitticksError, OSError):
            warn_if_unwritable(self.repository, self.checkout, self.warn)


class WorktreeBoard(NamedTuple):
    """The board as the store knows it: a linked worktree, and how edits are joined with the branch there.

    `warn` gets the reason why the board cannot follow a move of the branch, where only a person can remove it: a
    folder that cannot be written, an edit that conflicts.
    """

    warn: Callable[[str], object] = str

    @contextmanager
    def prepare(self, repository: Repository, new_commit: str, /) -> Iterator[WorktreeStep]:
        """Locks the board's index until the ref has moved to the new commit and the board has followed.

        All that takes long is done before that, since git refuses a commit while the lock is there. Where there is no board, or its index is busy for long, the step follows nothing. To be called with the
        store's lock held.
        """
        with contextlib.ExitStack() as held:
            rehearsed = _rehearsed(repository, new_commit)
            if rehearsed is not None:
                held.callback(rehearsed.files.ready.drop)
                with contextlib.suppress(GitticksError, OSError):
                    held.enter_context(rehearsed.ready_index())
            checkout = board_checkout(repository) if rehearsed is None else rehearsed.checkout
            yield WorktreeStep(repository, _taken(checkout, held), self.warn, rehearsed)

    def bring_in_step(self, repository: Repository) -> BoardReport | None:
        """Catches up with the state branch and returns the result; None if there is no board.

        Takes the store's lock, so it must not be called within a transaction.

        Raises:
            LostRaceError: the lock was not free for long.
            BoardError: its own files are damaged.
        """
        if board_checkout(repository) is None:
            return None
        with hold_lock(repository.own_file("lock")):
            tip = read_ref(repository.common_dir, STATE_REF)
            if tip is None:
                return BoardReport()
            checkout = board_checkout(repository)
            if (
                checkout is not None
                and is_on_state_branch(checkout)
                and _is_settled(repository, checkout, tip)
            ):
                if is_sequencing(checkout.git_dir):
                    _refresh_unlocked(checkout)
                return BoardReport()
            with self.prepare(repository, tip) as step:
                if step.checkout is None:
                    return BoardReport()
                with errors_of_board("the board cannot be updated"):
                    report = _sync(repository, step.checkout, tip, step.rehearsed)
            with errors_of_board("the board cannot be updated"):
                _refresh_stale(repository, step.checkout)
            return report


WORKTREE_BOARD = WorktreeBoard()
"""The board as every store has it."""


def pending(repository: Repository) -> Mapping[str, Pending]:
    """Returns the board's files that are not in step, by path; empty if there is no board."""
    return {} if board_checkout(repository) is None else load_journal(repository).pending


def is_in_step(repository: Repository) -> bool:
    """True if every file of the board that nobody edited is as the state branch has it."""
    journal = load_journal(repository)
    if journal.pending or journal.base == read_ref(repository.common_dir, STATE_REF):
        return not journal.pending
    # Git may have brought it there, as by `git reset`; the journal learns of that when something is written.
    checkout = board_checkout(repository)
    return checkout is not None and is_on_state_branch(checkout) and not changed_paths(checkout).changed


def warn_if_unwritable(repository: Repository, checkout: Checkout, warn: Callable[[str], object]) -> bool:
    """True if a folder of the board cannot be written to; warns if the board is behind for that."""
    folder = unwritable_folder(checkout)
    if folder is not None and not is_in_step(repository):
        warn(f"the board is behind the state branch, as `{folder}` cannot be written to")
    return folder is not None


def _taken(checkout: Checkout | None, held: contextlib.ExitStack) -> Checkout | None:
    """Returns the board with its index locked for as long as `held` lasts; None if it cannot follow now."""
    with contextlib.suppress(OSError):
        if (
            checkout is not None
            and is_on_state_branch(checkout)
            and held.enter_context(hold_index_lock(checkout.git_dir))
        ):
            return checkout
    return None


def _rehearsed(repository: Repository, tip: str) -> Sync | None:
    """Returns a sync that has found out, and brought to the disk, what there is to do; None if it cannot.

    Whatever is not so any more once the index is locked, it finds out again.
    """
    with contextlib.suppress(GitticksError, OSError):
        checkout = board_checkout(repository)
        if checkout is not None and is_on_state_branch(checkout):
            from gitticks.board.sync import Sync  # not where there is no board

            sync = Sync.of(repository, checkout, load_journal(repository), tip)
            sync.sweep()
            try:
                sync.rehearse()
            except (GitticksError, OSError):
                sync.files.ready.drop()
            else:
                return sync
    return None


def _sync(repository: Repository, checkout: Checkout, tip: str, rehearsed: Sync | None = None) -> BoardReport:
    from gitticks.board.sync import Sync  # not where there is no board

    journal = load_journal(repository)
    if rehearsed is not None and (rehearsed.tip, rehearsed.journal) == (tip, journal):
        sync = rehearsed
    else:
        sync = Sync.of(repository, checkout, journal, tip)
    journal, report = sync.run()
    save_journal(repository, journal)
    if sync.has_staged:  # a file that git has not compared yet is in the way of `git merge --abort`
        with refreshed_aside(checkout) as aside:
            if aside.exists():
                aside.replace(checkout.git_dir / "index")
    return report


def _refresh_unlocked(checkout: Checkout) -> str | None:
    """Lets git compare what is staged where nobody holds the index, and returns the mark it had.

    None where somebody holds or wrote it meanwhile: it is left as it is.
    """
    index = checkout.git_dir / "index"
    mark = mark_of(index)
    with (
        refreshed_aside(checkout) as aside,
        hold_index_lock(checkout.git_dir, wait_seconds=0.0) as is_held,
    ):
        if not is_held or not aside.exists() or mark_of(index) != mark:
            return None
        aside.replace(index)
        return mark


def _refresh_stale(repository: Repository, checkout: Checkout) -> None:
    """Lets git compare what only it can; an index that is written meanwhile is left to the next call."""
    journal = load_journal(repository)
    mark = _refresh_unlocked(checkout) if journal.is_index_stale else None
    if mark is not None:
        known = mark_of(checkout.git_dir / "index") if mark == journal.index_mark else ""
        save_journal(repository, journal._replace(is_index_stale=False, index_mark=known))


def _is_settled(repository: Repository, checkout: Checkout, tip: str) -> bool:
    journal = load_journal(repository)
    return (
        journal.base == tip and not journal.pending and not journal.is_index_stale and checkout.path.is_dir()
    )


@contextlib.contextmanager
def refreshed_aside(checkout: Checkout) -> Iterator[Path]:
    """Gives a second index in which git has noted which files are unchanged, so that `git status` is quick."""
    with second_name(checkout.git_dir, INDEX, "gitticks-refreshed") as aside:
        checkout.git(
            ["update-index", "-q", "--unmerged", "--refresh"],
            fenced=True,
            variables={"GIT_INDEX_FILE": str(aside)},
            check=False,
        )
        yield aside
