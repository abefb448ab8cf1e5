"""Settings of a single worktree, in its own `config.worktree`, which no other checkout of the repository sees."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from gitticks.git.checkouts import Checkout
from gitticks.git.process import run_git
from gitticks.git.repository import Repository
from gitticks.git.worktrees import worktrees_lock

_EXTENSION = "extensions.worktreeConfig"


def set_worktree_settings(repository: Repository, checkout: Checkout, settings: Mapping[str, str]) -> None:
    """Sets keys in the checkout's own configuration; the repository is told to read such files, if it was not yet."""
    with worktrees_lock(repository):
        _enable(repository.common_dir)
        file = checkout.git_dir / "config.worktree"
        for key, value in settings.items():
            if _read(file, key) != value:
                _write(file, key, value)


def _enable(common_dir: Path) -> None:
    """Turns worktree configuration on; what then may only concern the main worktree moves to its own file first."""
    shared, main = common_dir / "config", common_dir / "config.worktree"
    if _read(shared, _EXTENSION, "--type=bool") == "true":
        return
    moved = {}
    if _read(shared, "core.bare", "--type=bool") == "true":
        moved["core.bare"] = "true"
    worktree = _read(shared, "core.worktree")
    if worktree:
        moved["core.worktree"] = worktree
    for key, value in moved.items():
        _write(main, key, value)
    _write(shared, _EXTENSION, "true")
    for key in moved:
        run_git(["config", "--file", str(shared), "--unset-all", key])


def _read(file: Path, key: str, *options: str) -> str:
    return run_git(["config", "--file", str(file), *options, "--get", key], check=False).text


def _write(file: Path, key: str, value: str) -> None:
    run_git(["config", "--file", str(file), "--replace-all", key, value])
