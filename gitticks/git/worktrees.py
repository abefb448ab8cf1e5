"""Adds, locks, repairs and removes linked worktrees, through git and one at a time."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from shlex import quote

from gitticks.errors import GitticksError, NotFoundError
from gitticks.git.checkouts import (
    Checkout,
    checked_out_elsewhere,
    checkout_at,
    current_branch,
    is_in_place,
    linked_checkouts,
    list_worktrees,
)
from gitticks.git.locks import HeldLock, clear_shared_locks, hold_lock
from gitticks.git.objects.failures import blocked_by_branch
from gitticks.git.process import GitError, GitResult, run_git
from gitticks.git.refs import BRANCHES, read_ref
from gitticks.git.repository import Repository
from gitticks.git.untrusted_config import fence_programs
from gitticks.processes import identity_of, is_alive, parse_identity
from gitticks.safe_read import read_plain_file, read_plain_text

HALF_MADE = "initializing"
"""The reason that git itself locks a worktree with while it is adding it; it stays when git is killed there."""
LONGEST_CHECKOUT_SECONDS = 600.0
"""How long a call waits for another that is filling a worktree."""
_POLL_SECONDS = 0.02
_HALF_MADE_HEAD = re.compile(r"bad object worktrees/([^/\n]+)/HEAD")
_HALF_MADE_SECONDS = 10.0
_OWNERS = 0o700
_SUBMODULE_MODE = "160000"


def add_worktree(
    repository: Repository,
    path: Path,
    *,
    branch: str | None = None,
    commit: str | None = None,
    settings: Mapping[str, str] | None = None,
) -> Checkout:
    """Adds a worktree at `path`: on an existing `branch`, on a new `branch` at `commit`, or detached at `commit`.

    What a killed call left behind at the same path, or locked of the same branch, is cleared first; so is an entry that
    a move or copy of the repository left on the branch. `settings` are git's, for filling it.
    """
    for name in (branch, commit):
        if name is not None and name.startswith("-"):  # `--end-of-options` does not reach the value of `-b`
            raise GitticksError(f"`{name}` is not the name of a branch or commit")
    with worktrees_lock(repository) as held:
        _await_orphan(held)
        _clear_remains(repository, path)
        if path.exists() and (not path.is_dir() or any(path.iterdir())):
            raise GitticksError(
                f"`{path}` is in the way of a new worktree",
                hint=f"`mv {quote(str(path))} {quote(f'{path}.old')}` moves it aside",
            )
        if branch is not None:
            clear_shared_locks(repository.common_dir, BRANCHES + branch)
            for other in list_worktrees(repository):
                if current_branch(other) != branch or lock_reason(other) is not None:
                    continue
                if is_in_place(other):
                    raise checked_out_elsewhere(repository, branch, other.path)
                # Only the entry: in a copied repository it names a worktree of the original.
                shutil.rmtree(other.git_dir, ignore_errors=True)
        fence = fence_programs(repository.git_dir, settings)
        place = _placement(repository, path, branch, commit)
        try:
            with _noting_orphan(held) as note, _clearing_unfinished(repository, path):
                run_git(
                    ["worktree", "add", "--quiet", "--no-guess-remote", *place],
                    repository_dir=repository.common_dir,
                    extra_environment=fence.variables,
                    trusted=True,
                    started=note,
                )
        except GitError as error:
            raise blocked_by_branch(error.message) or error from None
        return checkout_at(repository, path)


def remove_worktree(repository: Repository, path: Path, marked: str | None = None) -> None:
    """Removes the worktree at `path`, whatever it holds, and git's entry for it; its branch stays.

    Only a worktree whose git directory has a file named `marked` is removed, if that is given.

    Raises:
        GitticksError: another worktree was made there, without that file.
    """
    with worktrees_lock(repository):
        checkout = checkout_at(repository, path)
        if marked is not None and not (checkout.git_dir / marked).exists():
            raise GitticksError(f"another workspace was made at `{path}` meanwhile")
        _drop(repository, checkout)


def remove_tree(path: Path) -> None:
    """Removes a folder with all in it, also folders in it that their owner may not write, as caches have."""
    try:
        shutil.rmtree(path)
    except PermissionError:
        path.chmod(_OWNERS)
        for folder, names, _ in os.walk(path):
            for below in (Path(folder, name) for name in names):
                if not below.is_symlink():
                    below.chmod(_OWNERS)
        shutil.rmtree(path)


def is_half_made(repository: Repository, checkout: Checkout) -> bool:
    """True if git was killed while it added the worktree; one that is still at it is waited for."""
    if lock_reason(checkout) != HALF_MADE:
        return False
    with worktrees_lock(repository) as held:
        _await_orphan(held)
        return lock_reason(checkout) == HALF_MADE


class HalfMadeError(GitticksError):
    """A worktree whose HEAD names no commit, over which git's own commands fail."""


def past_half_made(repository: Repository, ask: Callable[[], GitResult]) -> GitResult:
    """Runs a fetch, and again if it fails over a worktree that is being added: its HEAD names no commit at first.

    Raises:
        HalfMadeError: nobody adds it any more.
    """
    end = time.monotonic() + _HALF_MADE_SECONDS
    while True:
        asked = ask()
        if asked.code == 0 or (named := _HALF_MADE_HEAD.search(asked.stderr)) is None:
            return asked
        if time.monotonic() > end:
            raise next(
                (half_made(one) for one in linked_checkouts(repository) if one.git_dir.name == named[1]),
                HalfMadeError(asked.stderr.strip()),
            )
        time.sleep(_POLL_SECONDS)


def is_without_commit(checkout: Checkout) -> bool:
    """True for a worktree whose HEAD names no commit, as git has it while it adds one, and after it was killed there."""
    try:
        return set(read_plain_text(checkout.git_dir / "HEAD").strip()) == {"0"}
    except OSError:
        return False


def half_made(checkout: Checkout) -> HalfMadeError:
    """Returns the error for a worktree whose HEAD names no commit."""
    return HalfMadeError(
        f"the worktree `{checkout.path}` is at no commit, as a killed `git worktree add` leaves it, and git fetches "
        "nothing in this repository until it is gone",
        hint=f"save what is yours in it, then `git worktree remove -f -f {quote(str(checkout.path))}`",
    )


def prune_worktrees(repository: Repository) -> None:
    """Drops the entries of unlocked worktrees whose directories are gone."""
    with worktrees_lock(repository):
        run_git(["worktree", "prune"], repository_dir=repository.common_dir)


def worktrees_lock(repository: Repository) -> AbstractContextManager[HeldLock]:
    """Returns the lock under which worktrees come and go in this repository."""
    return hold_lock(repository.own_file("worktrees.lock"), wait_seconds=LONGEST_CHECKOUT_SECONDS)


@contextlib.contextmanager
def _noting_orphan(held: HeldLock) -> Iterator[Callable[[int], None]]:
    """Gives what notes in the lock file which git is at work, so that the next holder knows it if we are killed."""

    def note(process: int) -> None:
        identity = identity_of(process)
        held.write_note("" if identity is None else f"{identity.to_json()}\n")

    yield note
    held.write_note("")


def _await_orphan(held: HeldLock) -> None:
    """Waits for the git that a killed holder left at work: it would fill the very folder that we clear."""
    orphan = parse_identity(held.read_note().strip())
    end = time.monotonic() + LONGEST_CHECKOUT_SECONDS
    while orphan is not None and is_alive(orphan) and time.monotonic() < end:
        time.sleep(_POLL_SECONDS)


def _placement(repository: Repository, path: Path, branch: str | None, commit: str | None) -> list[str]:
    """Returns the words of `git worktree add` that say where, and on what."""
    if branch is None:
        if commit is None:
            raise ValueError("a worktree needs a branch or a commit")
        return ["--detach", str(path), commit]
    tip = read_ref(repository.common_dir, BRANCHES + branch)
    if commit is None and tip is None:
        raise NotFoundError(f"there is no branch `{branch}`", hint="`git branch` shows them")
    if commit is None or tip == commit:  # also where a killed call made the branch and no more
        return [str(path), branch]
    return ["--no-track", "-b", branch, str(path), commit]


def _clear_remains(repository: Repository, path: Path) -> None:
    """Drops what a killed call left at `path`: an entry whose directory is gone, or that git never finished."""
    try:
        checkout = checkout_at(repository, path)
    except NotFoundError:
        return
    reason = lock_reason(checkout)
    if reason == HALF_MADE or (reason is None and not path.exists()):
        _drop(repository, checkout)


@contextlib.contextmanager
def _clearing_unfinished(repository: Repository, path: Path) -> Iterator[None]:
    """Removes what git made at `path` before it failed, which it does itself as long as it is not killed."""
    try:
        yield
    except GitError:
        with contextlib.suppress(OSError):
            entry = Path(read_plain_text(path / ".git").removeprefix("gitdir:").strip())
            if entry.parent == repository.common_dir / "worktrees":
                shutil.rmtree(path)
                shutil.rmtree(entry, ignore_errors=True)
        raise


def _drop(repository: Repository, checkout: Checkout) -> None:
    """Removes directory and entry, also where the link between them is broken."""
    if checkout.path.is_symlink():  # what it leads to is not ours
        checkout.path.unlink()
    arguments = ["worktree", "remove", "--force", "--force", str(checkout.path)]
    if run_git(arguments, repository_dir=repository.common_dir, check=False).code == 0:
        return
    if checkout.path.is_dir():
        remove_tree(checkout.path)
    try:
        run_git(arguments, repository_dir=repository.common_dir)
    except GitError:
        if os.path.lexists(checkout.path):
            raise
        shutil.rmtree(checkout.git_dir, ignore_errors=True)  # what is left of an entry too damaged for git


def lock_reason(checkout: Checkout) -> str | None:
    """Returns why a worktree is locked; None if it is not."""
    try:
        return os.fsdecode(read_plain_file(checkout.git_dir / "locked")).strip()
    except FileNotFoundError:
        return None


def submodules_of(checkout: Checkout) -> tuple[str, ...]:
    """Returns the paths of submodules, which git leaves empty in a fresh linked worktree."""
    if not (checkout.path / ".gitmodules").is_file():
        return ()
    listed = run_git(["ls-files", "--stage", "-z"], repository_dir=checkout.git_dir, work_tree=checkout.path)
    entries = (entry.partition("\t") for entry in os.fsdecode(listed.stdout).split("\0") if entry)
    return tuple(path for words, _, path in entries if words.startswith(_SUBMODULE_MODE))
