"""Asks git for its configuration as seen from a repository, and lets one worktree have settings of its own."""

from __future__ import annotations

from pathlib import Path

from gitticks.git.lock_files import clear_shared_locks
from gitticks.git.process import run_git
from gitticks.git.repository import Repository

CONFIG_FILE = "config.worktree"
"""In the git directory of a worktree: what holds for it alone."""
_ONLY_FOR_THE_MAIN_WORKTREE = ("core.worktree", "core.bare")
"""Once worktrees have settings of their own, these two in the common file would hold for all of them."""


def read_config(repository: Repository, pattern: str) -> dict[str, str]:
    """Returns the settings whose full names match a regular expression of git's, the last value of each.

    Sections and keys are in lower case; a key without a value has an empty one.
    """
    asked = ["config", "-z", "--get-regexp", pattern]
    found = run_git(asked, repository_dir=repository.git_dir, check=False).text
    pairs = (entry.partition("\n") for entry in found.split("\0") if entry)
    return {key: value for key, _, value in pairs}


def enable_worktree_config(repository: Repository) -> None:
    """Turns `extensions.worktreeConfig` on; a submodule's `core.worktree` moves to the main worktree's own file first.

    Killed at any point, it goes on from there when it is called again.
    """
    common_dir = repository.common_dir
    misplaced = {key: value for key in _ONLY_FOR_THE_MAIN_WORKTREE if (value := _common(common_dir, key))}
    if misplaced.get("core.bare") == "false":
        del misplaced["core.bare"]
    for key, value in misplaced.items():
        _change(common_dir / CONFIG_FILE, key, value)
    if _common(common_dir, "extensions.worktreeConfig") != "true":
        _change(common_dir / "config", "extensions.worktreeConfig", "true")
    for key in misplaced:
        _change(common_dir / "config", "--unset-all", key)


def read_common_setting(common_dir: Path, key: str) -> str | None:
    """Returns a setting of the repository itself; None if it has none."""
    return _common(common_dir, key) or None


def write_common_setting(common_dir: Path, key: str, value: str) -> None:
    """Sets a setting of the repository itself."""
    _change(common_dir / "config", key, value)


def read_worktree_setting(git_dir: Path, key: str) -> str | None:
    """Returns a setting that the worktree of `git_dir` has for itself; None if it has none."""
    file = git_dir / CONFIG_FILE
    return (
        (run_git(["config", f"--file={file}", "--get", key], check=False).text or None)
        if file.exists()
        else None
    )


def write_worktree_setting(git_dir: Path, key: str, value: str | None) -> None:
    """Sets or, with None, removes a setting of one worktree; a file that holds nothing any more goes with it."""
    file = git_dir / CONFIG_FILE
    if value is not None:
        _change(file, key, value)
    elif read_worktree_setting(git_dir, key) is not None:
        _change(file, "--unset-all", key)
        if file.stat().st_size == 0:
            file.unlink()


def _change(file: Path, *words: str) -> None:
    """Changes a configuration file, also one that a killed git left locked."""
    clear_shared_locks(file.parent, file.name)
    run_git(["config", f"--file={file}", *words])


def _common(common_dir: Path, key: str) -> str:
    return run_git(["config", f"--file={common_dir / 'config'}", "--get", key], check=False).text
