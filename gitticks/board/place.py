"""Where the board is: created, found, and repaired after the repository was moved or copied."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from shlex import quote
from typing import NamedTuple

from gitticks.board.journal import Journal, load_journal, mark_of, save_journal
from gitticks.errors import GitticksError, LostRaceError, NotFoundError
from gitticks.git.checkouts import (
    Checkout,
    checkout_at,
    is_elsewhere,
    linked_places,
    named_by,
    relink,
    straight_at,
)
from gitticks.git.files import SCRATCH_IN_CHECKOUT
from gitticks.git.refs import read_ref, read_symbolic_ref
from gitticks.git.repository import Repository
from gitticks.model.ids import BOARD_FOLDER
from gitticks.store.layout import STATE_BRANCH, STATE_REF, no_tasks

OWN_FOLDERS = (BOARD_FOLDER, ".gitticks-work", ".gt", SCRATCH_IN_CHECKOUT)
"""Board, workspaces, mailbox and what is being prepared: never a part of the user's own branches."""

_AS_STORED = {
    "core.autocrlf": "false",
    "core.eol": "lf",
    "core.safecrlf": "false",
    "core.attributesFile": os.devnull,  # those that the person has for every repository
    "core.sparseCheckout": "false",  # what the person left out of their checkout
    "index.sparse": "false",
}
_FILES_OF_GIT = ("HEAD", "gitdir", "commondir", "index", "config.worktree")

REFUSALS_FILE = "refusals.json"
"""In our own folder of a clone: the notes that were written beside edits on the board which were not applied."""


def board_path(repository: Repository) -> Path | None:
    """Returns the board's folder; None if there is no board."""
    checkout = board_checkout(repository)
    return None if checkout is None else checkout.path


def board_checkout(repository: Repository) -> Checkout | None:
    """Returns the board; None if there is none. Its links are fixed if the repository was moved or copied."""
    if repository.project_dir is None:
        return None
    place = str(repository.project_dir / BOARD_FOLDER)
    found = straight_at(repository, place)
    named = found or named_by(repository.common_dir, place)
    if named is None or not all(_is_plain(f"{named.git_dir}/{name}") for name in _FILES_OF_GIT):
        return None
    return found or _relink(repository, named)


def unwritable_folder(checkout: Checkout) -> Path | None:
    """Returns the first folder of the board that cannot be written to; None if all can."""
    folders = (Path(folder) for folder, _, _ in os.walk(checkout.path))
    return next((folder for folder in folders if not os.access(folder, os.W_OK)), None)


def is_on_state_branch(checkout: Checkout) -> bool:
    """True unless a person has something else checked out in the board, or is rebasing there."""
    return read_symbolic_ref(checkout.git_dir, "HEAD") == STATE_REF


def create_board(repository: Repository) -> Path:
    """Makes the board, or finds it and fixes its links, and returns its folder.

    Raises:
        NotFoundError: there is no state branch.
        GitticksError: the repository is bare, something is in the way, or the state branch is checked out elsewhere.
    """
    from gitticks.git.config import exclude_folders
    from gitticks.git.locks import hold_lock
    from gitticks.git.worktrees import is_half_made

    folder = repository.require_project_dir("the board") / BOARD_FOLDER
    exclude_folders(repository, OWN_FOLDERS)
    with hold_lock(repository.own_file("lock")):
        checkout = board_checkout(repository)
        if checkout is None or is_half_made(repository, checkout):
            checkout = _add(repository, folder)
        else:
            is_unknown = load_journal(repository).base is None  # its making was killed
            _set_up(repository, checkout, is_new=is_unknown)
    return checkout.path


def _add(repository: Repository, folder: Path) -> Checkout:
    from gitticks.git.worktrees import add_worktree

    tip = read_ref(repository.common_dir, STATE_REF)
    if tip is None:
        raise no_tasks(repository)
    if _is_in_the_way(repository, folder):
        raise GitticksError(
            f"`{folder}` is in the way of the board",
            hint=f"`mv {quote(str(folder))} {quote(f'{folder}.old')}` moves it aside",
        )
    save_journal(repository, Journal())  # that of an earlier board would say that this one is set up
    checkout = add_worktree(repository, folder, branch=STATE_BRANCH, settings=_AS_STORED)
    _set_up(repository, checkout, is_new=True)
    save_journal(repository, Journal(base=tip, index_mark=mark_of(checkout.git_dir / "index")))
    return checkout


def _is_in_the_way(repository: Repository, folder: Path) -> bool:
    """True for anything that git did not put there while it was adding a board; that is cleared."""
    if not os.path.lexists(folder):
        return False
    if folder.is_symlink() or not folder.is_dir():
        return True
    try:
        checkout_at(repository, folder)
    except NotFoundError:
        return any(folder.iterdir())
    return False


def _set_up(repository: Repository, checkout: Checkout, *, is_new: bool) -> None:
    """Gives the board the settings that it lacks, also one whose making was killed before it had them.

    What a new one has already, git copied from the main worktree.
    """
    from gitticks.git.config import enable_worktree_config, read_worktree_setting, write_worktree_setting

    enable_worktree_config(repository)
    for key, value in _AS_STORED.items():
        present = read_worktree_setting(checkout.git_dir, key)
        if present is None or (is_new and present != value):
            write_worktree_setting(checkout.git_dir, key, value)


def _is_plain(file: str) -> bool:
    """False for a pipe and the like, which git would wait for, and for a folder; nothing at all is no harm."""
    try:
        return stat.S_ISREG(os.lstat(file).st_mode)
    except FileNotFoundError:
        return True


def _relink(repository: Repository, board: Checkout) -> Checkout | None:
    """Fixes the links of the board, and before it those of all other worktrees that moved with the repository."""
    if not is_on_state_branch(board) or is_elsewhere(board):
        return None
    places = dict(linked_places(board.common_dir))
    before = places.pop(board.git_dir, board.path).parent
    for place in places.values():
        if place.is_relative_to(before):
            with suppress(NotFoundError, OSError):
                checkout_at(repository, board.path.parent / place.relative_to(before))
    relink(board)
    return board


class BoardError(GitticksError):
    """The board is damaged; the state branch, and so every task, is not."""


@contextmanager
def errors_of_board(doing: str) -> Iterator[None]:
    """Turns what goes wrong with the board's own files into an error that begins with what could not be done."""
    try:
        yield
    except LostRaceError:
        raise
    except (GitticksError, OSError) as error:
        raise BoardError(f"{doing}: {error}", hint="`gt doctor` says what is wrong with the board") from error


class BoardReport(NamedTuple):
    """What bringing the board in step came to; paths from the board's top, sorted.

    Attributes:
        conflicts: files with a person's edit that excludes the branch's version; they are as the person left them.
        deferred: files that somebody was writing at that moment.
        rescued: where bytes were kept that had no other place.
    """

    conflicts: tuple[str, ...] = ()
    deferred: tuple[str, ...] = ()
    rescued: tuple[Path, ...] = ()
