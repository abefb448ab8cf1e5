"""Separate checkouts in the clone's own folder, where merges are tested."""

from __future__ import annotations

import contextlib
import fcntl
import os
import secrets
import shutil
import stat
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Self

from gitticks.errors import GitticksError, NotFoundError
from gitticks.flocks import is_lock_held
from gitticks.git.checkouts import Checkout
from gitticks.git.merges.following import steps_of_trees
from gitticks.git.repository import Repository
from gitticks.git.worktrees import add_worktree, remove_tree, remove_worktree
from gitticks.safe_read import read_plain_file

_LOCK_SUFFIX = ".lock"
_ENTRY_SUFFIX = ".entry"
_EXACT = ("-c", "core.trustCTime=true", "-c", "core.checkStat=default")
"""What was changed is found by all that the system knows of a file: whoever sets a time back cannot set this one."""
_SUBMODULE = b"160000 "


@contextlib.contextmanager
def checkout_aside(repository: Repository, commit: str) -> Iterator[Checkout]:
    """Gives a detached worktree at `commit`, and removes it afterwards with all that was made in it."""
    sweep_asides(repository)
    folder = _folder(repository)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / secrets.token_hex(6)
    with _alive(path):
        try:
            yield add_worktree(repository, path, commit=commit)
        finally:
            _remove(repository, path)


class PooledAside:
    """One checkout aside for one commit after the other; it goes when the block ends, or is swept after a kill.

    Each time it is what a fresh one would be: no file is left over or changed, not even one that git ignores, and git's
    notes of it are as they were before anything ran there. Whenever that is in doubt a fresh one takes its place.
    """

    def __init__(self, repository: Repository) -> None:
        self._repository = repository
        self._held = contextlib.ExitStack()
        self._checkout: Checkout | None = None
        self._commit: str | None = None
        self._link = b""
        self._modes: frozenset[int] = frozenset()

    def __enter__(self) -> Self:
        """Makes nothing yet."""
        return self

    def __exit__(self, *_: object) -> None:
        """Removes the checkout."""
        self._commit = None
        self._held.close()

    @contextlib.contextmanager
    def at(self, commit: str) -> Iterator[Checkout]:
        """Gives the checkout at `commit`, to one at a time."""
        checkout = self._reset(commit)
        is_exact = checkout is not None
        if checkout is None:
            self._held.close()
            checkout = self._held.enter_context(checkout_aside(self._repository, commit))
            modes = _modes(checkout.path)
            self._modes = frozenset(modes)
            is_exact = self._is_exact(checkout, modes)
        if is_exact:
            self._note(checkout, commit)
        yield checkout

    def _reset(self, commit: str) -> Checkout | None:
        """Returns the last checkout, made one of `commit`; None if a fresh one is needed."""
        checkout, last, self._commit = self._checkout, self._commit, None
        if checkout is None or last is None:
            return None
        try:
            # First, since git would follow a link to somebody else's files.
            link = checkout.path / ".git"
            if checkout.path.is_symlink() or link.is_symlink() or read_plain_file(link) != self._link:
                return None
            # Attributes decide how files are written that did not change themselves.
            if any(
                step.path.endswith(".gitattributes")
                for step in steps_of_trees(checkout.common_dir, last, commit)
            ):
                return None
            shutil.rmtree(checkout.git_dir)
            shutil.copytree(_entry(checkout.path), checkout.git_dir, symlinks=True)
            # Before the reset, which minds attributes that lie about.
            checkout.git([*_EXACT, "clean", "-ffdx", "--quiet"], fenced=True)
            checkout.git([*_EXACT, "reset", "--hard", "--quiet", commit], fenced=True, trusted=True)
            modes = _modes(checkout.path)
            return checkout if self._is_exact(checkout, modes) and modes.keys() <= self._modes else None
        except (GitticksError, OSError):
            return None

    def _is_exact(self, checkout: Checkout, modes: Counter[int]) -> bool:
        """True if as many files are there as the commit has.

        Git's own cleaning passes over sockets and over what is in submodules.
        """
        listed = checkout.git(["ls-files", "--stage", "-z"]).stdout.split(b"\0")[:-1]
        files = sum(count for mode, count in modes.items() if not stat.S_ISDIR(mode))
        has_submodule = any(entry.startswith(_SUBMODULE) for entry in listed)
        return not has_submodule and files == len(listed) + 1  # the link to its git directory

    def _note(self, checkout: Checkout, commit: str) -> None:
        """Keeps what a reset needs to know, before anything runs there."""
        entry = _entry(checkout.path)
        with contextlib.suppress(OSError):
            shutil.rmtree(entry, ignore_errors=True)
            shutil.copytree(checkout.git_dir, entry, symlinks=True)
            self._link = read_plain_file(checkout.path / ".git")
            self._checkout, self._commit = checkout, commit


def sweep_asides(repository: Repository) -> None:
    """Removes the checkouts that killed processes left behind; a living one holds the lock beside its own."""
    for path in left_asides(repository):
        lock = path.with_name(path.name + _LOCK_SUFFIX)
        with contextlib.suppress(FileNotFoundError), lock.open("r+b") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                continue
            _remove(repository, path)
            lock.unlink(missing_ok=True)


def left_asides(repository: Repository) -> tuple[Path, ...]:
    """Returns the checkouts that killed processes left behind."""
    locks = sorted(_folder(repository).glob(f"*{_LOCK_SUFFIX}"))
    return tuple(lock.with_suffix("") for lock in locks if not is_lock_held(lock))


def _modes(top: Path) -> Counter[int]:
    found = Counter([top.lstat().st_mode])
    left = [str(top)]
    while left:
        with os.scandir(left.pop()) as entries:
            for entry in entries:
                mode = entry.stat(follow_symlinks=False).st_mode
                found[mode] += 1
                if stat.S_ISDIR(mode):
                    left.append(entry.path)
    return found


def _folder(repository: Repository) -> Path:
    return repository.own_file("merge")


def _entry(path: Path) -> Path:
    """Returns where the copy of a checkout's git directory is, out of reach of what runs in a sandbox."""
    return path.with_name(path.name + _ENTRY_SUFFIX)


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
    if path.is_symlink():
        path.unlink()  # where it leads is no concern of git's
    with contextlib.suppress(NotFoundError):
        remove_worktree(repository, path)
    for one in (path, _entry(path)):
        if os.path.lexists(one):
            with contextlib.suppress(OSError):
                remove_tree(one)
