"""Removed workspaces waiting to be deleted, which takes time if they have many files.

A rename takes a workspace out of the way at one stroke; what is in the folder here has been judged and is nobody's.
So whoever finds something there deletes it: the run beside its merges, and after a kill the next run, merge or
`gt worktree gc`.
"""

from __future__ import annotations

import contextlib
import secrets
from collections.abc import Callable
from pathlib import Path

from gitticks.errors import GitticksError
from gitticks.git.locks import hold_lock
from gitticks.git.repository import Repository
from gitticks.git.worktrees import remove_tree
from gitticks.model.settings import Settings

FOLDER = ".removed"
"""In the folder of the workspaces, so that a rename is enough."""
_LOCK_SECONDS = 60.0


def set_aside(repository: Repository, settings: Settings, path: Path) -> bool:
    """Moves a workspace to those that wait to be deleted; False if it is not in the folder for workspaces."""
    folder = _folder(repository, settings)
    if folder is None or path.is_symlink() or path.resolve().parent != folder.parent.resolve():
        return False
    try:
        folder.mkdir(exist_ok=True)
        path.rename(folder / f"{path.name}.{secrets.token_hex(4)}")
    except OSError:  # it is a mount, say
        with contextlib.suppress(OSError):
            folder.rmdir()
        return False
    return True


def list_removed(repository: Repository, settings: Settings) -> tuple[Path, ...]:
    """Returns the removed workspaces that are not deleted yet."""
    folder = _folder(repository, settings)
    try:
        return () if folder is None or folder.is_symlink() else tuple(sorted(folder.iterdir()))
    except (FileNotFoundError, NotADirectoryError):
        return ()


def delete_removed(
    repository: Repository, settings: Settings, is_enough: Callable[[], bool] = lambda: False
) -> None:
    """Deletes the removed workspaces until it `is_enough`; what cannot be deleted stays for `gt worktree gc`."""
    if not list_removed(repository, settings):
        return
    with (
        contextlib.suppress(GitticksError, OSError),
        hold_lock(repository.own_dir / "removed.lock", wait_seconds=_LOCK_SECONDS),
    ):
        for path in list_removed(repository, settings):
            if is_enough():
                return
            with contextlib.suppress(OSError):
                delete(path)


def delete(path: Path) -> None:
    """Deletes one removed workspace, which somebody else may be deleting."""
    with contextlib.suppress(FileNotFoundError):
        remove_tree(path)
    with contextlib.suppress(OSError):
        path.parent.rmdir()  # once no other waits


def _folder(repository: Repository, settings: Settings) -> Path | None:
    project = repository.project_dir
    return None if project is None else project / settings.workspace.dir / FOLDER
