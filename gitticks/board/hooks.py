"""Installs and removes gitticks' hooks: on the board, on a server, in the main checkout.

The main checkout is theirs: there are some only where they were asked for. Where git reads the repository's own folder
of hooks, ours stand in front of the person's there: a hooks path of ours would make hook managers refuse their work.
Where a hooks path is named already, or that folder is a link, cannot be written or holds hooks that must keep their
name, the main worktree's own configuration names a folder of ours, which calls theirs; nothing of theirs is touched.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType

from gitticks.board.place import board_checkout
from gitticks.errors import GitticksError
from gitticks.git.checkouts import Checkout, linked_checkouts
from gitticks.git.config import (
    CHECKOUT_FOLDER,
    HIDDEN_HOOKS_PATH,
    HOOKS_PATH,
    OwnHooks,
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
    folder_state,
    hook_files,
    is_bound_to_its_name,
    is_left_in_front,
    put_in_front,
    remove_folder,
    stands_in_front,
    take_away,
)

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
SERVER_HOOKS = ("pre-receive",)
CHECKOUT_HOOKS = ("post-merge", "pre-push")

HOOKS_LOCK = "hooks.lock"
"""Held while configurations are made to name hooks, or to forget them."""
_OFF = "hooks-off"
_BOARD_FOLDER, _SERVER_FOLDER = "hooks", "server-hooks"


def install_board_hooks(repository: Repository) -> None:
    """Installs the board's hooks, or brings them up to date."""
    checkout = board_checkout(repository)
    if checkout is None:
        raise GitticksError("there is no board to install hooks for", hint="`gt init` creates it")
    folder = repository.own_file(_BOARD_FOLDER)
    with hold_lock(repository.own_file(HOOKS_LOCK)):
        fill_folder(folder, hook_files(BOARD_HOOKS, PASSED_ON))
        repository.own_file(_OFF).unlink(missing_ok=True)
        enable_worktree_config(repository)
        name_hooks(repository, checkout, folder)


def keep_board_hooks(repository: Repository) -> None:
    """Installs the board's hooks or brings them up to date, unless a person has uninstalled them."""
    if not are_hooks_off(repository):
        install_board_hooks(repository)


def restore_board_hooks(repository: Repository) -> None:
    """Makes the board's hooks again whose folder is gone, as where somebody deleted all that can be made again.

    Git says nothing of a folder of hooks that is missing, and runs none.
    """
    folder = repository.own_file(_BOARD_FOLDER)
    if folder.is_dir() or are_hooks_off(repository):
        return
    checkout = board_checkout(repository)
    if checkout is not None and names_hooks(checkout, folder):
        install_board_hooks(repository)


def uninstall_board_hooks(repository: Repository) -> None:
    """Removes the board's hooks and gives back a hooks path that it had before; they stay away until asked for."""
    checkout, folder = board_checkout(repository), repository.own_file(_BOARD_FOLDER)
    if checkout is not None:
        with hold_lock(repository.own_file(HOOKS_LOCK)):
            forget_hooks(checkout, folder)
    if checkout is not None or folder.is_dir():  # the board alone may be gone
        repository.own_file(_OFF).touch()
    remove_folder(folder)


def are_hooks_off(repository: Repository) -> bool:
    """True if a person has uninstalled the hooks of boards and workspaces, and not installed them again."""
    return repository.own_file(_OFF).exists()


def board_hooks_state(repository: Repository) -> HooksState:
    """Returns whether the board's hooks are there and work."""
    checkout, folder = board_checkout(repository), repository.own_file(_BOARD_FOLDER)
    if checkout is None:
        return HooksState.NO_BOARD
    if not names_hooks(checkout, folder):
        return HooksState.ABSENT
    return folder_state(folder, hook_files(BOARD_HOOKS, PASSED_ON))


def install_server_hooks(repository: Repository) -> None:
    """Installs the hook of a server, or brings it up to date.

    Raises:
        GitticksError: the repository has a checkout, or its hooks are those of others too.
    """
    if repository.main_worktree is not None:
        raise GitticksError(
            "this repository has a checkout: a server hook belongs in the bare repository that clones push to",
            hint="`gt hooks install` is for this one",
        )
    hooks, own = repository.common_dir / "hooks", find_own_hooks(repository)
    shared = own.named if own.named is not None else hooks if hooks.is_symlink() else None
    if shared is not None:
        raise GitticksError(
            f"the hooks of this repository are in `{shared}`, which others may use as well",
            hint="have `pre-receive` there pass its stdin to `gt hook pre-receive`, and fail if that fails",
        )
    fill_folder(repository.own_file(_SERVER_FOLDER), hook_files(SERVER_HOOKS))
    put_in_front(hooks, SERVER_HOOKS, repository.own_file(_SERVER_FOLDER))


def uninstall_server_hooks(repository: Repository) -> tuple[str, ...]:
    """Removes the hook of a server and puts back what was there; returns what a person has to look at."""
    warnings = take_away(repository.common_dir / "hooks", SERVER_HOOKS, repository.own_file(_SERVER_FOLDER))
    remove_folder(repository.own_file(_SERVER_FOLDER))
    with contextlib.suppress(OSError):  # whatever else is in it stays
        repository.own_dir.rmdir()
    return warnings


def server_hooks_state(repository: Repository) -> HooksState:
    """Returns whether the hook of a server is there and works."""
    files = hook_files(SERVER_HOOKS)
    return _state_in_front(repository, SERVER_HOOKS, repository.own_file(_SERVER_FOLDER), files)


def install_checkout_hooks(repository: Repository) -> None:
    """Installs the hooks of the main checkout, or brings them up to date."""
    checkout = _main_checkout(repository)
    folder, hooks = repository.own_file(CHECKOUT_FOLDER), repository.common_dir / "hooks"
    with hold_lock(repository.own_file(HOOKS_LOCK)):
        own = find_own_hooks(repository)
        is_named = _must_be_named(hooks, own)
        fill_folder(folder, _checkout_files(own))
        if is_named:
            take_away(hooks, CHECKOUT_HOOKS, folder)
            enable_worktree_config(repository)
            name_hooks(repository, checkout, folder)
        else:
            put_in_front(hooks, CHECKOUT_HOOKS, folder)
            _forget_everywhere(repository, folder)


def uninstall_checkout_hooks(repository: Repository) -> tuple[str, ...]:
    """Removes the hooks of the main checkout and puts back what was there; returns what a person has to look at."""
    if repository.main_worktree is None:
        return ()
    folder = repository.own_file(CHECKOUT_FOLDER)
    with hold_lock(repository.own_file(HOOKS_LOCK)):
        _forget_everywhere(repository, folder)
    warnings = take_away(repository.common_dir / "hooks", CHECKOUT_HOOKS, folder)
    remove_folder(folder)
    return warnings


def checkout_hooks_state(repository: Repository) -> HooksState:
    """Returns whether the hooks of the main checkout are there and work."""
    if repository.main_worktree is None:
        return HooksState.ABSENT
    folder, checkout = repository.own_file(CHECKOUT_FOLDER), _main_checkout(repository)
    files = _checkout_files(find_own_hooks(repository))
    if not names_hooks(checkout, folder):
        return _state_in_front(repository, CHECKOUT_HOOKS, folder, files)
    is_named = read_worktree_setting(checkout.git_dir, HOOKS_PATH) == _name_of(checkout, folder)
    return folder_state(folder, files) if is_named else HooksState.BROKEN


def _forget_everywhere(repository: Repository, folder: Path) -> None:
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


def _checkout_files(own: OwnHooks) -> dict[str, bytes]:
    """Returns the files of our folder, which passes on every hook that the person may have."""
    others = {*BOARD_HOOKS, *PASSED_ON, *hooks_in(own.folder)}.difference(CHECKOUT_HOOKS)
    return hook_files(CHECKOUT_HOOKS, sorted(others))


def hooks_in(folder: Path) -> list[str]:
    """Returns the hooks in a person's folder; seldom ones cost git time, so they are passed on only if there."""
    if not folder.is_dir():
        return []
    return [
        file.name
        for file in folder.iterdir()
        if "." not in file.name and file.is_file() and os.access(file, os.X_OK)
    ]


def _main_checkout(repository: Repository) -> Checkout:
    main = repository.main_worktree
    if main is None:
        raise GitticksError(
            f"`{repository.common_dir}` is a bare repository: it has no checkout for hooks",
            hint="`gt hooks install` is for the board and the workspaces",
        )
    return Checkout(main, repository.common_dir, repository.common_dir)


def _state_in_front(
    repository: Repository, names: Sequence[str], folder: Path, files: Mapping[str, bytes]
) -> HooksState:
    """Returns the state of our wrappers around the user's hooks."""
    hooks = repository.common_dir / "hooks"
    if not any(is_left_in_front(hooks, name) for name in names):
        return HooksState.ABSENT
    state = folder_state(folder, files)
    are_run = all(os.access(hooks / name, os.X_OK) and is_left_in_front(hooks, name) for name in names)
    if state is HooksState.BROKEN or not are_run:
        return HooksState.BROKEN
    if find_own_hooks(repository).named is not None:
        return HooksState.HIDDEN
    return state if all(stands_in_front(hooks, name) for name in names) else HooksState.OUTDATED


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


def _name_of(checkout: Checkout, folder: Path) -> str:
    """Returns the name of a folder that survives a move of the repository.

    That of the main worktree cannot: git copies it into each worktree that it adds, and there it has to hold too.
    """
    return str(folder) if folder.name == CHECKOUT_FOLDER else os.path.relpath(folder, checkout.path)
