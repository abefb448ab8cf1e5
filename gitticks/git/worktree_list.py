"""The worktrees of a repository as git lists them, once nothing in their entries would make it fail or wait."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote

from gitticks.errors import GitticksError
from gitticks.git.checkouts import worktree_entries
from gitticks.git.process import run_git
from gitticks.git.repository import Repository

_ENTRY_FILES = ("HEAD", "gitdir", "commondir", "locked", "config.worktree")


@dataclass(frozen=True, slots=True)
class Worktree:
    """One line of `git worktree list`.

    Attributes:
        path: where it stands, or stood.
        head: the commit that is checked out; None in a bare repository or on an unborn branch.
        branch: the branch that is checked out, without `refs/heads/`; None if HEAD is detached.
        is_bare: the repository itself, without a checkout.
        lock_reason: why it is locked, possibly empty; None if it is not.
        prunable_reason: why git would drop its entry; None if it would not.
    """

    path: Path
    head: str | None
    branch: str | None
    is_bare: bool
    lock_reason: str | None
    prunable_reason: str | None


def list_worktrees(repository: Repository) -> tuple[Worktree, ...]:
    """Returns every worktree, the main one first.

    Raises:
        GitticksError: an entry is damaged; the message names its file.
    """
    _refuse_odd_entries(repository)
    listed = run_git(["worktree", "list", "--porcelain", "-z"], repository_dir=repository.common_dir).stdout
    main, *linked = (_parse_entry(entry) for entry in os.fsdecode(listed).split("\0\0") if entry)
    if repository.main_worktree is not None:  # git names a submodule's by its git directory
        main = replace(main, path=repository.main_worktree)
    return (main, *linked)


def _refuse_odd_entries(repository: Repository) -> None:
    """Refuses an entry with something else than a file in a file's place: git would fail at it, or wait for a pipe."""
    for entry in worktree_entries(repository.common_dir):
        for file in (entry / name for name in _ENTRY_FILES):
            if _is_odd(file):
                aside = quote(f"{repository.common_dir / entry.name}.damaged")
                raise GitticksError(
                    f"`{file}` is no plain file, so git cannot tell its worktree",
                    hint=f"`mv {quote(str(entry))} {aside}` takes it away; what is checked out there stays as it is",
                )


def _is_odd(file: Path) -> bool:
    """True for something else than a file; not for nothing, which git overlooks."""
    try:
        return not stat.S_ISREG(file.lstat().st_mode)
    except OSError:
        return False


def _parse_entry(entry: str) -> Worktree:
    words = dict(line.partition(" ")[::2] for line in entry.split("\0") if line)
    branch = words.get("branch")
    return Worktree(
        path=Path(words["worktree"]),
        head=words["HEAD"] if words.get("HEAD", "0").strip("0") else None,
        branch=None if branch is None else branch.removeprefix("refs/heads/"),
        is_bare="bare" in words,
        lock_reason=words.get("locked"),
        prunable_reason=words.get("prunable"),
    )
