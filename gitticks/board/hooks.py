"""Puts gitticks' hooks into the board, and on a server where pushes are judged; other worktrees keep their own."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType

from gitticks.board import board_checkout
from gitticks.errors import GitticksError
from gitticks.git.checkouts import Checkout
from gitticks.git.config import (
    CHECKOUT_FOLDER,
    HIDDEN_HOOKS_PATH,
    HOOKS_PATH,
    enable_worktree_config,
    find_own_hooks,
    is_of_ours,
    read_worktree_setting,
    write_worktree_setting,
)
from gitticks.git.locks import hold_lock
from gitticks.git.repository import Repository
from gitticks.store.hook_files import (
    HooksState,
    fill_folder,
    hook_files,
    is_filled,
    is_left_in_front,
    put_in_front,
    remove_folder,
    stands_in_front,
    take_away,
)

SERVER_HOOKS = ("pre-receive",)

BOARD_HOOKS = (
    "pre-commit",
    "pre-merge-commit",
    "pre-applypatch",
    "post-commit",
    "post-merge",
    "post-checkout",
    "post-rewrite",
    "pre-push",
)
PASSED_ON = (
    "applypatch-msg",
    "commit-msg",
    "post-applypatch",
    "pre-rebase",
    "prepare-commit-msg",
)
"""Hooks that gitticks has no word in; the person's own are run."""
_OFF = "hooks-off"


def install_server_hooks(repository: Repository) -> None:
    """Installs the hook of a server, or brings it up to date.

    Raises:
        GitticksError: the repository has a checkout, or its hooks are those of others too.
    """
    if repository.main_worktree is not None:
        raise GitticksError(
            "this repository has a checkout: the hook of a server belongs into the bare repository that clones push to",
            hint="`gt hooks install` is for this one",
        )
    hooks, own = repository.common_dir / "hooks", find_own_hooks(repository)
    shared = own.named if own.named is not None else hooks if hooks.is_symlink() else None
    if shared is not None:
        raise GitticksError(
            f"the hooks of this repository are in `{shared}`, which others may use as well",
            hint="let `pre-receive` there hand its stdin to `gt hook pre-receive`, and refuse what that refuses",
        )
    fill_folder(_folder(repository), hook_files(SERVER_HOOKS))
    put_in_front(hooks, SERVER_HOOKS, _folder(repository))


def uninstall_server_hooks(repository: Repository) -> tuple[str, ...]:
    """Removes the hook of a server and puts back what was there; returns what a person has to look at."""
    told = take_away(repository.common_dir / "hooks", SERVER_HOOKS, _folder(repository))
    remove_folder(_folder(repository))
    with contextlib.suppress(OSError):  # whatever else is in it stays
        repository.own_dir.rmdir()
    return told


def server_hooks_state(repository: Repository) -> HooksState:
    """Returns whether the hook of a server is there and works."""
    hooks = repository.common_dir / "hooks"
    if not any(is_left_in_front(hooks, name) for name in SERVER_HOOKS):
        return HooksState.ABSENT
    is_whole = is_filled(_folder(repository), hook_files(SERVER_HOOKS))
    if not is_whole or not all(stands_in_front(hooks, name) for name in SERVER_HOOKS):
        return HooksState.BROKEN
    return HooksState.INSTALLED if find_own_hooks(repository).named is None else HooksState.HIDDEN


def _folder(repository: Repository) -> Path:
    return repository.own_dir / "server-hooks"


def install_board_hooks(repository: Repository) -> Path:
    """Installs the board's hooks, or brings them up to date, and returns their folder.

    Raises:
        GitticksError: there is no board.
    """
    checkout = _require_board(repository)
    folder = _hooks_folder(repository)
    with hold_lock(repository.own_dir / "hooks.lock"):
        fill_folder(folder, hook_files(BOARD_HOOKS, PASSED_ON))
        (repository.own_dir / _OFF).unlink(missing_ok=True)
        enable_worktree_config(repository)
        name_hooks(repository, checkout, folder)
    return folder


def keep_board_hooks(repository: Repository) -> None:
    """Installs the board's hooks or brings them up to date, unless a person has uninstalled them.

    Raises:
        GitticksError: there is no board.
    """
    if not are_hooks_off(repository):
        install_board_hooks(repository)


def restore_board_hooks(repository: Repository) -> None:
    """Makes the board's hooks again whose folder is gone, as where somebody deleted all that can be made again.

    Git says nothing of a folder of hooks that is missing, and runs none.
    """
    folder = _hooks_folder(repository)
    if folder.is_dir() or are_hooks_off(repository):
        return
    checkout = board_checkout(repository)
    if checkout is not None and names_hooks(checkout, folder):
        install_board_hooks(repository)


def uninstall_board_hooks(repository: Repository) -> None:
    """Removes the board's hooks and gives back a hooks path that it had before; they stay away until asked for."""
    checkout = board_checkout(repository)
    if checkout is not None:
        with hold_lock(repository.own_dir / "hooks.lock"):
            forget_hooks(checkout, _hooks_folder(repository))
        (repository.own_dir / _OFF).touch()
    remove_folder(_hooks_folder(repository))


def are_hooks_off(repository: Repository) -> bool:
    """True if a person has uninstalled the hooks of boards and workspaces, and not installed them again."""
    return (repository.own_dir / _OFF).exists()


def board_hooks_state(repository: Repository) -> HooksState:
    """Returns whether the board's hooks are there and work."""
    checkout = board_checkout(repository)
    if checkout is None:
        return HooksState.NO_BOARD
    if not names_hooks(checkout, _hooks_folder(repository)):
        return HooksState.ABSENT
    is_whole = is_filled(_hooks_folder(repository), hook_files(BOARD_HOOKS, PASSED_ON))
    return HooksState.INSTALLED if is_whole else HooksState.BROKEN


def name_hooks(
    repository: Repository, checkout: Checkout, folder: Path, notes: Mapping[str, str] = MappingProxyType({})
) -> None:
    """Lets a worktree's own configuration name a folder of hooks; the one that it named itself is kept beside it.

    `notes` are further settings of that worktree, which the hooks read.
    """
    wanted = dict(notes)
    present = read_worktree_setting(checkout.git_dir, HOOKS_PATH)
    if present is not None and not names_hooks(checkout, folder):
        if is_of_ours(repository, checkout.path / present):
            write_worktree_setting(checkout.git_dir, HOOKS_PATH, None)  # git copied it from the main worktree
        else:
            wanted[HIDDEN_HOOKS_PATH] = present
    wanted[HOOKS_PATH] = _name_of(checkout, folder)  # last: what it hides is written down by then
    for key, value in wanted.items():
        if read_worktree_setting(checkout.git_dir, key) != value:
            write_worktree_setting(checkout.git_dir, key, value)


def forget_hooks(checkout: Checkout, folder: Path, notes: Iterable[str] = ()) -> None:
    """Gives a worktree back the hooks path that it had; nothing happens where it does not name `folder`.

    `notes` are further settings to be removed.
    """
    if not names_hooks(checkout, folder):
        return
    hidden = read_worktree_setting(checkout.git_dir, HIDDEN_HOOKS_PATH)
    write_worktree_setting(checkout.git_dir, HOOKS_PATH, hidden)
    for key in (HIDDEN_HOOKS_PATH, *notes):
        write_worktree_setting(checkout.git_dir, key, None)


def names_hooks(checkout: Checkout, folder: Path) -> bool:
    """True if a worktree's own configuration names this folder of hooks, or where it was before a move."""
    named = read_worktree_setting(checkout.git_dir, HOOKS_PATH)
    if named is None:
        return False
    is_moved = folder.name == CHECKOUT_FOLDER and Path(named).parts[-2:] == folder.parts[-2:]
    return is_moved or os.path.realpath(checkout.path / named) == os.path.realpath(folder)


def leads_to_hooks(checkout: Checkout, folder: Path) -> bool:
    """True if git finds this folder of hooks by a worktree's own configuration."""
    return read_worktree_setting(checkout.git_dir, HOOKS_PATH) == _name_of(checkout, folder)


def _name_of(checkout: Checkout, folder: Path) -> str:
    """Returns the name of a folder that survives a move of the repository.

    That of the main worktree cannot: git copies it into each worktree that it adds, and there it has to hold too.
    """
    return str(folder) if folder.name == CHECKOUT_FOLDER else os.path.relpath(folder, checkout.path)


def _require_board(repository: Repository) -> Checkout:
    checkout = board_checkout(repository)
    if checkout is None:
        raise GitticksError("there is no board to put hooks into", hint="`gt init` makes it")
    return checkout


def _hooks_folder(repository: Repository) -> Path:
    return repository.own_dir / "hooks"
