"""A workspace's own configuration: the person's hooks run there too, commits name their task and who made them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from gitticks.git.checkouts import Checkout, checkout_at
from gitticks.git.repository import Repository
from gitticks.git.worktree_config import enable_worktree_config, read_worktree_setting, write_worktree_setting
from gitticks.git.worktrees import worktrees_lock
from gitticks.model.ids import TaskId
from gitticks.store.hooks import BOARD_HOOKS, PASSED_ON, hook_sources

if TYPE_CHECKING:
    from gitticks.git.identity import Identity

_SCRIPT, _SHARED = "workspace", "chain.sh"


def install_hooks(repository: Repository, checkout: Checkout, task_id: TaskId) -> None:
    """Points the workspace's own configuration at our hooks, and says there which task it works on.

    The hooks are those of a person's daily work, and every other one that the repository has: some of these cost each
    git command time, so they stand there only if somebody wants them.
    """
    folder = repository.own_dir / "workspace-hooks"
    folder.mkdir(parents=True, exist_ok=True)
    for name in (_SHARED, _SCRIPT):
        _copy(hook_sources() / name, folder / name)
    for name in {*BOARD_HOOKS, *PASSED_ON, *_others(repository.common_dir / "hooks")}:
        link = folder / name
        if not link.is_symlink():
            link.unlink(missing_ok=True)
            link.symlink_to(_SCRIPT)
    named = os.path.relpath(folder, checkout.path)  # survives a move of the repository
    settings = {"core.hooksPath": named, "gitticks.task": str(task_id)}
    if repository.main_worktree is not None:
        settings["gitticks.checkout"] = str(repository.main_worktree)
    with worktrees_lock(repository):
        enable_worktree_config(repository)
        for key, value in settings.items():
            if read_worktree_setting(checkout.git_dir, key) != value:
                write_worktree_setting(checkout.git_dir, key, value)


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


def _copy(source: Path, place: Path) -> None:
    """Puts a file in place in one rename; a commit may be running it at this moment."""
    content = source.read_bytes()
    if place.is_file() and place.read_bytes() == content and os.access(place, os.X_OK):
        return
    temporary = place.with_name(f".{place.name}.{os.getpid()}")
    temporary.write_bytes(content)
    temporary.chmod(0o755)
    temporary.replace(place)


def _others(folder: Path) -> list[str]:
    if not folder.is_dir():
        return []
    return [file.name for file in folder.iterdir() if "." not in file.name and os.access(file, os.X_OK)]
