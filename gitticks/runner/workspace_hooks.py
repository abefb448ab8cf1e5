"""A workspace's own configuration: the person's hooks run there too, commits name their task and who made them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from gitticks.git.checkouts import Checkout, checkout_at, linked_checkouts
from gitticks.git.hooks_path import OwnHooks, find_own_hooks
from gitticks.git.repository import Repository
from gitticks.git.worktree_config import enable_worktree_config, read_worktree_setting, write_worktree_setting
from gitticks.git.worktrees import worktrees_lock
from gitticks.model.ids import TaskId
from gitticks.store.hook_files import SHARED, fill_folder, has_content, read_source, remove_folder
from gitticks.store.hooks import BOARD_HOOKS, PASSED_ON, are_hooks_off, forget_hooks, name_hooks, names_hooks

if TYPE_CHECKING:
    from gitticks.git.identity import Identity

_SCRIPT = "workspace"
_TASK, _CHECKOUT = "gitticks.task", "gitticks.checkout"


def install_hooks(repository: Repository, checkout: Checkout, task_id: TaskId) -> tuple[str, ...]:
    """Points the workspace's own configuration at our hooks, and says there which task it works on.

    The hooks are those of a person's daily work, and every other one that the repository has: some of these cost each
    git command time, so they stand there only if somebody wants them. Nothing happens where a person has uninstalled
    the hooks. Returns what the agent and a person should know: hooks of their own that cannot run.
    """
    own = find_own_hooks(repository)
    if not are_hooks_off(repository):
        folder = _folder(repository)
        _fill(folder, own)
        notes = {_TASK: str(task_id)}
        if repository.main_worktree is not None:
            notes[_CHECKOUT] = str(repository.main_worktree)
        with worktrees_lock(repository):
            enable_worktree_config(repository)
            name_hooks(repository, checkout, folder, notes)
    if own.is_missing:
        return (f"none of your own hooks runs: `{own.named}`, which `core.hooksPath` names, is missing",)
    return ()


def uninstall_hooks(repository: Repository) -> int:
    """Takes the hooks out of every workspace and returns how many had them."""
    folder = _folder(repository)
    with worktrees_lock(repository):
        found = workspaces_with_hooks(repository)
        for checkout in found:
            forget_hooks(repository, checkout, folder, (_TASK, _CHECKOUT))
    remove_folder(folder)
    return len(found)


def workspaces_with_hooks(repository: Repository) -> tuple[Checkout, ...]:
    """Returns the workspaces whose own configuration names our hooks."""
    folder = _folder(repository)
    return tuple(one for one in linked_checkouts(repository) if names_hooks(one, folder))


def name_committer(repository: Repository, path: Path, committer: Identity | None) -> None:
    """Makes commits in the workspace at `path` be by `committer`; None leaves them to whoever is at work there.

    Said in its own configuration, since some agents hide the environment and the person's configuration from the
    commands that they run.
    """
    checkout = checkout_at(repository, path)
    named = {
        "user.name": committer.name if committer else None,
        "user.email": committer.email if committer else None,
    }
    with worktrees_lock(repository):
        for key, value in named.items():
            if read_worktree_setting(checkout.git_dir, key) != value:
                write_worktree_setting(checkout.git_dir, key, value)


def _fill(folder: Path, own: OwnHooks) -> None:
    """Puts the one script in place, and a link to it under the name of every hook."""
    files = {name: read_source(name) for name in (SHARED, _SCRIPT)}
    missing = {name: content for name, content in files.items() if not has_content(folder / name, content)}
    fill_folder(folder, missing)
    for name in {*BOARD_HOOKS, *PASSED_ON, *_others(own.folder)} - files.keys():
        link = folder / name
        if not link.is_symlink():
            link.unlink(missing_ok=True)
            link.symlink_to(_SCRIPT)


def _folder(repository: Repository) -> Path:
    return repository.own_dir / "workspace-hooks"


def _others(folder: Path) -> list[str]:
    if not folder.is_dir():
        return []
    return [file.name for file in folder.iterdir() if "." not in file.name and os.access(file, os.X_OK)]
