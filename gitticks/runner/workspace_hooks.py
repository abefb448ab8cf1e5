"""Lets the person's own hooks run in a workspace, and adds the trailer that names the task to each commit there."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import gitticks
from gitticks.git.checkouts import Checkout
from gitticks.git.repository import Repository
from gitticks.git.worktree_settings import set_worktree_settings
from gitticks.model.ids import TaskId

_SCRIPT = "workspace"
_NAMES = (
    "applypatch-msg",
    "commit-msg",
    "post-applypatch",
    "post-checkout",
    "post-commit",
    "post-merge",
    "post-rewrite",
    "pre-applypatch",
    "pre-commit",
    "pre-merge-commit",
    "pre-push",
    "pre-rebase",
    "prepare-commit-msg",
)
"""The hooks of a person's daily work. Others, some of which cost every git command time, are passed on if they exist."""


def install_hooks(repository: Repository, checkout: Checkout, task_id: TaskId) -> None:
    """Points the workspace's own configuration at our hooks, and says there which task it works on."""
    folder = repository.own_dir / "workspace-hooks"
    folder.mkdir(parents=True, exist_ok=True)
    _copy_script(folder)
    for name in {*_NAMES, *_others(repository.common_dir / "hooks")}:
        link = folder / name
        if not link.is_symlink():
            link.unlink(missing_ok=True)
            link.symlink_to(_SCRIPT)
    settings = {"core.hooksPath": str(folder), "gitticks.task": str(task_id)}
    if repository.main_worktree is not None:
        settings["gitticks.checkout"] = str(repository.main_worktree)
    set_worktree_settings(repository, checkout, settings)


def _copy_script(folder: Path) -> None:
    """Puts the script in place in one rename; a commit may be running it at this moment."""
    source, place = _source(), folder / _SCRIPT
    if place.is_file() and place.read_bytes() == source.read_bytes():
        return
    temporary = folder / f".{_SCRIPT}.{os.getpid()}"
    shutil.copyfile(source, temporary)
    temporary.chmod(0o755)
    temporary.replace(place)


def _source() -> Path:
    """Returns the script: inside the installed package, or beside it in a checkout of the sources."""
    package = Path(gitticks.__file__).resolve().parent
    shipped = package / "_hooks" / _SCRIPT
    return shipped if shipped.exists() else package.parent / "hooks" / _SCRIPT


def _others(folder: Path) -> list[str]:
    if not folder.is_dir():
        return []
    return [file.name for file in folder.iterdir() if "." not in file.name and os.access(file, os.X_OK)]
