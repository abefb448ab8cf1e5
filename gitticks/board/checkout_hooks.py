"""Hooks in the user's main checkout, which is theirs: there are some only where they were asked for.

Where git reads the repository's own folder of hooks, ours stand in front of the person's there: a hooks path of ours
would make hook managers refuse their work. Where a hooks path is named already, or that folder is a link, cannot be
written or holds hooks that must keep their name, the main worktree's own configuration names a folder of ours, which
calls theirs; nothing of theirs is touched.
"""

from __future__ import annotations

import os
from pathlib import Path

from gitticks.board.hooks import BOARD_HOOKS, PASSED_ON, forget_hooks, leads_to_hooks, name_hooks, names_hooks
from gitticks.errors import GitticksError
from gitticks.git.checkouts import Checkout, linked_checkouts
from gitticks.git.config import CHECKOUT_FOLDER, OwnHooks, enable_worktree_config, find_own_hooks
from gitticks.git.locks import hold_lock
from gitticks.git.repository import Repository
from gitticks.store.hook_files import (
    HooksState,
    fill_folder,
    hook_files,
    is_bound_to_its_name,
    is_filled,
    is_left_in_front,
    put_in_front,
    remove_folder,
    stands_in_front,
    take_away,
)

CHECKOUT_HOOKS = ("post-merge", "pre-push")

_PASSED_ON = tuple(name for name in (*BOARD_HOOKS, *PASSED_ON) if name not in CHECKOUT_HOOKS)


def install_checkout_hooks(repository: Repository) -> None:
    """Installs the hooks of the main checkout, or brings them up to date.

    Raises:
        GitticksError: the repository is bare, or something is in the way.
    """
    checkout = _main_checkout(repository)
    folder, hooks = _folder(repository), repository.common_dir / "hooks"
    with hold_lock(repository.own_dir / "hooks.lock"):
        own = find_own_hooks(repository)
        is_named = _must_be_named(hooks, own)
        fill_folder(folder, _files(own))
        if is_named:
            take_away(hooks, CHECKOUT_HOOKS, folder)
            enable_worktree_config(repository)
            name_hooks(repository, checkout, folder)
        else:
            put_in_front(hooks, CHECKOUT_HOOKS, folder)
            _forget(repository, folder)


def uninstall_checkout_hooks(repository: Repository) -> tuple[str, ...]:
    """Removes the hooks of the main checkout and puts back what was there; returns what a person has to look at."""
    if repository.main_worktree is None:
        return ()
    folder = _folder(repository)
    with hold_lock(repository.own_dir / "hooks.lock"):
        _forget(repository, folder)
    told = take_away(repository.common_dir / "hooks", CHECKOUT_HOOKS, folder)
    remove_folder(folder)
    return told


def checkout_hooks_state(repository: Repository) -> HooksState:
    """Returns whether the hooks of the main checkout are there and work."""
    if repository.main_worktree is None:
        return HooksState.ABSENT
    folder, hooks = _folder(repository), repository.common_dir / "hooks"
    own = find_own_hooks(repository)
    is_whole = is_filled(folder, _files(own))
    if names_hooks(_main_checkout(repository), folder):
        leads = leads_to_hooks(_main_checkout(repository), folder)
        return HooksState.INSTALLED if is_whole and leads else HooksState.BROKEN
    if not any(is_left_in_front(hooks, name) for name in CHECKOUT_HOOKS):
        return HooksState.ABSENT
    if not is_whole or not all(stands_in_front(hooks, name) for name in CHECKOUT_HOOKS):
        return HooksState.BROKEN
    return HooksState.INSTALLED if own.named is None else HooksState.HIDDEN


def _forget(repository: Repository, folder: Path) -> None:
    """Takes our folder out of the main worktree's own configuration, and out of those that git made after it."""
    for checkout in (_main_checkout(repository), *linked_checkouts(repository)):
        forget_hooks(checkout, folder)


def _must_be_named(hooks: Path, own: OwnHooks) -> bool:
    if own.named is not None or hooks.is_symlink():
        return True
    if not os.path.lexists(hooks):
        return False
    if not hooks.is_dir() or not os.access(hooks, os.W_OK | os.X_OK):
        return True
    return any(is_bound_to_its_name(hooks / name) for name in CHECKOUT_HOOKS)


def _files(own: OwnHooks) -> dict[str, bytes]:
    """Returns the files of our folder, which passes on every hook that the person may have."""
    return hook_files(CHECKOUT_HOOKS, (*_PASSED_ON, *_others(own.folder)))


def _others(folder: Path) -> list[str]:
    """Returns the hooks in a folder that a worktree seldom has; each costs git time, so they are passed on if there."""
    if not folder.is_dir():
        return []
    known = {*BOARD_HOOKS, *PASSED_ON}
    return sorted(
        file.name
        for file in folder.iterdir()
        if file.name not in known and "." not in file.name and file.is_file() and os.access(file, os.X_OK)
    )


def _main_checkout(repository: Repository) -> Checkout:
    main = repository.main_worktree
    if main is None:
        raise GitticksError(
            f"`{repository.common_dir}` is a bare repository: it has no checkout for hooks",
            hint="`gt hooks install` is for the board and the workspaces",
        )
    return Checkout(main, repository.common_dir, repository.common_dir)


def _folder(repository: Repository) -> Path:
    return repository.own_dir / CHECKOUT_FOLDER
