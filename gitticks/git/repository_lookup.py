"""Finds the repository that a command or a hook is for, where git's environment variables name one too."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from shlex import quote

from gitticks.errors import GitticksError, NotFoundError
from gitticks.git.checkouts import checkout_at
from gitticks.git.repository import Repository, discover
from gitticks.safe_read import read_plain_text

GIT_DIR, GIT_WORK_TREE = "GIT_DIR", "GIT_WORK_TREE"
_PARTS = ("HEAD", "commondir"), ("HEAD", "objects", "refs")
"""What a linked worktree's git directory has, and any other."""


def find_repository(start: str, environment: Mapping[str, str]) -> Repository:
    """Returns the repository around the folder `start`; where there is none, the one that `GIT_DIR` names."""
    place = _named_place(start, environment)
    if place is None:
        try:
            return discover(start)
        except NotFoundError as error:
            if (moved := _moved_with_worktree(Path(start).resolve())) is not None:
                return moved
            if environment.get(GIT_DIR):  # `git init` would make what it names, and not one here
                error.hint = f"`unset {GIT_DIR}`, which names no repository: `{environment[GIT_DIR]}`"
            raise
    named = discover(place)
    try:
        here = discover(start)
    except NotFoundError:
        _require_checkout(named, environment)
        return named
    if here.common_place == named.common_place:
        return here
    raise GitticksError(
        f"you are in the repository `{here.common_place}`, but `{GIT_DIR}` names `{named.common_place}`",
        hint=f"`unset {GIT_DIR} {GIT_WORK_TREE}` for the one that you are in, or `cd {quote(place)}` for the other",
    )


def _moved_with_worktree(start: Path) -> Repository | None:
    """Returns the repository around a linked worktree in it that it was moved with, once the links are fixed."""
    top = next((one for one in (start, *start.parents) if (one / ".git").is_file()), None)
    if top is None:
        return None
    try:
        checkout_at(discover(top.parent), top)
    except (NotFoundError, OSError):  # there is none, or it cannot be written to
        return None
    return discover(start)


def find_place_of_hook(start: str, environment: Mapping[str, str]) -> str | None:
    """Returns where a hook belongs that git called for another worktree than the one around `start`, else None.

    Git runs hooks in the folder that `--work-tree` names, or that a push was started in; both may lie anywhere.
    """
    place = _named_place(start, environment)
    if place is None:
        return None
    try:
        is_here = discover(start).git_place == discover(place).git_place
    except NotFoundError:
        is_here = False
    return None if is_here else place


def _named_place(start: str, environment: Mapping[str, str]) -> str | None:
    """Returns a folder in the repository that `GIT_DIR` names: its worktree's, where it tells; None if it is none."""
    named = environment.get(GIT_DIR)
    if not named:
        return None
    git_dir = Path(start, named).resolve()
    if git_dir.is_file():
        return str(git_dir.parent)
    if not any(all((git_dir / part).exists() for part in parts) for parts in _PARTS):
        return None
    return _worktree_of(git_dir) or str(git_dir)


def _worktree_of(git_dir: Path) -> str | None:
    """Returns the worktree whose `.git` leads to a git directory; None if that is not to be seen there."""
    try:
        entry = git_dir / read_plain_text(f"{git_dir}/gitdir").strip()
    except OSError:
        entry = git_dir
    is_there = entry.name == ".git" and entry.exists()
    return str(entry.parent) if is_there and discover(entry.parent).git_dir == git_dir else None


def _require_checkout(named: Repository, environment: Mapping[str, str]) -> None:
    """Refuses a repository that has a checkout only for this call: the next one would not find the board."""
    work_tree = environment.get(GIT_WORK_TREE)
    if named.main_place is not None or not work_tree:
        return
    git = f"git --git-dir={quote(named.common_place)} config"
    raise GitticksError(
        f"only `{GIT_WORK_TREE}` says that `{named.common_place}` has a checkout, which is not remembered for the next call",
        hint=f"`{git} core.bare false` and `{git} core.worktree {quote(str(Path(work_tree).absolute()))}` record it",
    )
