"""Fills a checkout that nobody works in, so that a merge is tried out before anybody sees it."""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path

from gitticks.errors import NotFoundError
from gitticks.git.checkouts import Checkout
from gitticks.git.process import run_git
from gitticks.git.repository import Repository
from gitticks.git.untrusted_config import fence_programs
from gitticks.git.worktrees import add_worktree, remove_worktree

_LOCK_SUFFIX = ".lock"


@contextlib.contextmanager
def checkout_aside(repository: Repository, commit: str) -> Iterator[Checkout]:
    """Gives a detached worktree at `commit`, and removes it afterwards with all that was made in it."""
    sweep_asides(repository)
    folder = repository.own_dir / "merge"
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / secrets.token_hex(6)
    with _alive(path):
        try:
            yield add_worktree(repository, path, commit=commit).checkout
        finally:
            _remove(repository, path)


def fill_with(checkout: Checkout, tree: str) -> None:
    """Makes index and files of a checkout nobody works in those of `tree`; HEAD stays where it is."""
    run_git(
        ["read-tree", "--reset", "-u", "--end-of-options", tree],
        repository_dir=checkout.git_dir,
        work_tree=checkout.path,
        directory=checkout.path,
        extra_environment=fence_programs(checkout.git_dir).variables,
        trusted=True,
    )


def sweep_asides(repository: Repository) -> None:
    """Removes the checkouts that killed processes left behind; a living one holds the lock beside its own."""
    folder = repository.own_dir / "merge"
    for lock in sorted(folder.glob(f"*{_LOCK_SUFFIX}")) if folder.is_dir() else ():
        with lock.open("ab") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            _remove(repository, lock.with_suffix(""))
            lock.unlink(missing_ok=True)


@contextlib.contextmanager
def _alive(path: Path) -> Iterator[None]:
    """Shows that the checkout at `path` has an owner, for as long as this process lives."""
    lock = path.with_name(path.name + _LOCK_SUFFIX)
    unseen = path.with_name(path.name + ".new")
    with unseen.open("xb") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        unseen.rename(lock)  # only now, so that nobody meets the file before it is locked
        try:
            yield
        finally:
            lock.unlink(missing_ok=True)


def _remove(repository: Repository, path: Path) -> None:
    with contextlib.suppress(NotFoundError):
        remove_worktree(repository, path)
    if os.path.lexists(path):
        shutil.rmtree(path, ignore_errors=True)
