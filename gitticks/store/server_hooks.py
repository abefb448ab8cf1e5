"""The hook of a server: whatever clones push to the state branch is judged there before it is in."""

from __future__ import annotations

import contextlib
from pathlib import Path

from gitticks.errors import GitticksError
from gitticks.git.hooks_path import find_own_hooks
from gitticks.git.repository import Repository
from gitticks.store.hook_files import HooksState, fill_folder, hook_files, is_filled, remove_folder
from gitticks.store.hooks_in_front import is_left_in_front, put_in_front, stands_in_front, take_away

SERVER_HOOKS = ("pre-receive",)


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
